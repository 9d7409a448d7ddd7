"""The entry of ``nevermind`` and of ``python -m nevermind_cli``."""


def main() -> int:
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
