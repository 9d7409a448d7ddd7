"""Addresses and the files beside them on the command line: what is refused, with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from nevermind_cli.arguments import UsageError, read_arguments
from nevermind_cli.run import run

ANY = "ws://HOST:PORT/PATH, wss://HOST:PORT/PATH, tcp://HOST:PORT or unix:PATH"


def refusal(*words: str) -> str:
    with pytest.raises(UsageError) as error:
        read_arguments([*words, "--", "server"], {})
    assert "\n" not in str(error.value)
    return str(error.value)


class TestForms:
    """Each flag names the forms that it takes, and no others."""

    @pytest.mark.parametrize(
        ("flag", "address", "why"),
        [
            ("--listen", "localhost:80", f"'localhost:80' is not an address such as {ANY}"),
            ("--listen", "", f"'' is not an address such as {ANY}"),
            ("--connect", "http://h:1", f"'http://h:1' is not an address such as {ANY}"),
            ("--admin-listen", "ws://h:1", "'ws://h:1' is not an address such as tcp://HOST:PORT"),
            ("--admin-listen", "h:1", "'h:1' is not an address such as tcp://HOST:PORT"),
            ("--listen", "tcp://h", "'tcp://h': the port is missing (0: any free one)"),
            ("--connect", "tcp://h:0", "'tcp://h:0': 0 is not a port"),
            ("--connect", "unix:", "'unix:': unix: needs the path of a socket"),
        ],
    )
    def test_a_bad_one_is_shown(self, flag: str, address: str, why: str) -> None:
        assert refusal(f"{flag}={address}") == f"{flag}: {why}"


class TestSecrets:
    """What may be one is not repeated, wherever it was put by mistake."""

    @pytest.mark.parametrize(
        ("address", "shown"),
        [
            ("ws://me:hush@host:1/", "'ws://…': no user or password here"),
            ("ws://me:hu?sh@host:1/", "'ws://…': a query or fragment needs a path"),
            ("me:hush@host", "'…' is not an address"),
            ("host/?key=hush", "'host/?…' is not an address"),
            ("tcp://host:1/?key=hush", "'tcp://host:1/?…': tcp:// has no path"),
        ],
    )
    def test_in_an_address(self, address: str, shown: str) -> None:
        line = refusal("--connect", address)
        assert line.startswith(f"--connect: {shown}")
        assert "hu" not in line


class TestCertificates:
    """What is wrong with a file is told before anything is started."""

    def refused(self, capfd: pytest.CaptureFixture[str], *words: str) -> str:
        listen = ["--listen", "wss://localhost:0/", *words]
        assert run([*listen, "--", "server"]) == 2
        return capfd.readouterr().err

    def test_one_that_is_not_there(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert self.refused(capfd, "--tls-cert", "/no/such") == (
            "nevermind run: --tls-cert: '/no/such': No such file or directory\n"
        )

    def test_a_key_that_is_not_there(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        cert = tmp_path / "cert.pem"
        cert.touch()
        assert self.refused(capfd, "--tls-cert", str(cert), "--tls-key", "/no/such") == (
            "nevermind run: --tls-key: '/no/such': No such file or directory\n"
        )

    def test_one_that_is_none(self, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        cert = tmp_path / "cert.pem"
        cert.write_text("not a certificate")
        assert self.refused(capfd, "--tls-cert", str(cert)) == (
            f"nevermind run: --tls-cert: '{cert}': no certificate with its key, as PEM\n"
        )
