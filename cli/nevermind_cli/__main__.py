"""The entry of ``nevermind`` and of ``python -m nevermind_cli``."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Do what argv asks for; the exit code."""
    foreign = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    import_ours_first(sys.path, [] if foreign == [""] else foreign)
    words = sys.argv[1:]
    if words[:1] == ["run"]:
        let_interrupts_end_us()
        from nevermind_cli.run import run

        return run(words[1:])
    from nevermind_cli.commands import invoke

    return invoke(words)


def let_interrupts_end_us() -> None:
    """Ctrl-C while we start up ends us at once, without a traceback on the host's stderr.

    Once the server runs, its signals have a place of their own.
    """
    import signal  # only now: PYTHONPATH may have one

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def import_ours_first(path: list[str], foreign: list[str]) -> None:
    """Move the ``foreign`` entries (PYTHONPATH's) of the module search ``path`` to its end.

    The variable is meant for the server, which inherits it: a ``trio`` or a
    ``signal`` in the host's project is not for us.  Nor is one in the current
    folder, which ``python -m`` puts first.  Where that is how we were found
    ourselves, everything stays.
    """
    entries = {os.path.abspath(entry) for entry in foreign}
    if not sys.flags.safe_path:
        entries.add(path[0])
    if os.path.dirname(os.path.dirname(os.path.abspath(__file__))) not in entries:
        path.sort(key=lambda entry: entry in entries)


if __name__ == "__main__":
    raise SystemExit(main())
