"""Hosts that come over Unix, TCP and TLS sockets."""

from __future__ import annotations

import os
import socket
import ssl
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import pytest
import trustme

from e2e.harness.proxy_command import nevermind
from e2e.websocket.proxies import ANSWERING, PATIENCE, Listening, ask, gone

CALL = b'{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}\r\n'
ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": [1]}\n'


@contextmanager
def host(family: int, address: object) -> Iterator[tuple[socket.socket, BinaryIO]]:
    """A host on a plain socket."""
    with socket.socket(family) as connected:
        connected.settimeout(PATIENCE)
        connected.connect(address)  # type: ignore[arg-type]
        with connected.makefile("rwb", buffering=0) as stream:
            yield connected, cast("BinaryIO", stream)


class TestUnix:
    def test_a_session(self, tmp_path: Path) -> None:
        path = str(tmp_path / "socket")
        with Listening(at=f"unix:{path}") as proxy:
            assert proxy.address == f"unix:{path}"
            with host(socket.AF_UNIX, path) as (connected, stream):
                stream.write(CALL)
                assert stream.readline() == ANSWER
                stream.write(b'{"jsonrpc":"2.0","id":1,"method":"who"}\n{"id":1,"method":"echo"}\n')
                connected.shutdown(socket.SHUT_WR)
                assert b'"pid"' in stream.readline()
                assert stream.readline() == b'{"jsonrpc": "2.0", "id": 1, "result": null}\n'
                assert stream.readline() == b""
            proxy.said("summary")

    def test_it_is_its_owners_alone_from_the_first_moment_and_goes_with_us(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "socket"
        with Listening(at=f"unix:{path}") as proxy:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert proxy.stop() == 0
            assert not path.exists()

    def test_one_that_a_dead_proxy_left_is_replaced(self, tmp_path: Path) -> None:
        path = str(tmp_path / "socket")
        with Listening(at=f"unix:{path}") as proxy:
            proxy.process.kill()
            proxy.ends()
        with Listening(at=f"unix:{path}"), host(socket.AF_UNIX, path) as (_, stream):
            stream.write(CALL)
            assert stream.readline() == ANSWER

    def test_one_that_is_in_use_is_not_nor_is_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "socket"
        with Listening(at=f"unix:{path}"):
            assert "Address already in use" in refusal(f"unix:{path}")
        path.unlink()
        path.write_text("precious")
        assert "which is no socket" in refusal(f"unix:{path}")
        assert path.read_text() == "precious"

    def test_one_that_somebody_else_has_made_since_is_left(self, tmp_path: Path) -> None:
        path = tmp_path / "socket"
        with Listening(at=f"unix:{path}") as proxy:
            path.unlink()
            path.write_text("precious")
            assert proxy.stop() == 0
            assert path.read_text() == "precious"

    def test_more_than_may_be_there_are_closed(self, tmp_path: Path) -> None:
        path = str(tmp_path / "socket")
        with Listening("--max-connections", "1", at=f"unix:{path}") as proxy:
            with host(socket.AF_UNIX, path) as (_, stream):
                stream.write(CALL)
                assert stream.readline() == ANSWER
                with host(socket.AF_UNIX, path) as (_, other):
                    assert other.readline() == b""
            proxy.said("summary")


def refusal(address: str, *options: str, environment: dict[str, str] | None = None) -> str:
    """What is said by a proxy that cannot listen there; nothing is started."""
    words = [*nevermind().words, "--listen", address, *options, "--", *ANSWERING]
    around = os.environ | (environment or {})
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env=around)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


class TestTcp:
    def test_a_session(self) -> None:
        with (
            Listening(at="tcp://127.0.0.1:0") as proxy,
            host(socket.AF_INET, ("127.0.0.1", proxy.port)) as (_, stream),
        ):
            stream.write(CALL)
            assert stream.readline() == ANSWER

    @pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
    def test_a_browser_cannot_pass_a_body_for_messages(self, method: str) -> None:
        with Listening(at="tcp://127.0.0.1:0") as proxy:
            with host(socket.AF_INET, ("127.0.0.1", proxy.port)) as (_, stream):
                stream.write(f"{method} / HTTP/1.1\r\nHost: x\r\n\r\n".encode() + CALL)
                assert stream.readline() == b""
            broken = proxy.said("broken")[0]
            assert (broken["peer"], broken["code"]) == ("client", 1002)
            assert broken["why"] == "that was an HTTP request"

    def test_a_host_that_resets_ends_its_server(self) -> None:
        with Listening(at="tcp://127.0.0.1:0") as proxy:
            with host(socket.AF_INET, ("127.0.0.1", proxy.port)) as (connected, stream):
                stream.write(CALL.replace(b"echo", b"who"))
                pid = int(stream.readline().split(b'"pid": ')[1].split(b",")[0])
                linger = (1).to_bytes(4, "little") + bytes(4)
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            assert gone(pid)


class TestExposure:
    @pytest.mark.parametrize("scheme", ["ws", "tcp"])
    def test_other_machines_are_kept_out_unless_told(self, scheme: str) -> None:
        with socket.socket() as taken:
            taken.bind(("0.0.0.0", 0))
            taken.listen()
            said = refusal(f"{scheme}://0.0.0.0:{taken.getsockname()[1]}")
        assert "can be reached from other machines" in said  # binding was not even tried
        assert "--insecure-listen" in said
        assert ("--token-env" in said) is (scheme == "ws")

    def test_a_token_that_nobody_would_have_to_show_opens_no_socket(self) -> None:
        """Settings from the environment may be meant for WebSockets."""
        token = {"NEVERMIND_TOKEN_ENV": "TOKEN", "TOKEN": "s3cret"}
        said = refusal("tcp://0.0.0.0:0", environment=token)
        assert "can be reached from other machines" in said

    def test_told_so_it_warns(self) -> None:
        with Listening("--insecure-listen", at="ws://0.0.0.0:0/") as proxy:
            assert proxy.said("exposed")[0]["why"] == "other machines can connect"

    def test_with_a_token_it_may(self) -> None:
        environment = {"TOKEN": "s3cret"}
        with Listening(
            "--token-env", "TOKEN", at="ws://0.0.0.0:0/", environment=environment
        ) as proxy:
            proxy.said("exposed")


class TestTls:
    def test_a_session(self, tmp_path: Path) -> None:
        authority = trustme.CA()
        certificate = authority.issue_cert("localhost", "127.0.0.1")
        chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
        for blob in certificate.cert_chain_pems:
            blob.write_to_path(str(chain), append=True)
        certificate.private_key_pem.write_to_path(str(key))
        known = ssl.create_default_context()
        authority.configure_trust(known)
        options = ("--tls-cert", str(chain), "--tls-key", str(key))
        with Listening(*options, at="wss://127.0.0.1:0/mcp") as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port)) as plain:
                plain.sendall(b"GET /mcp HTTP/1.1\r\n\r\n")
                plain.settimeout(PATIENCE)
                assert b"HTTP" not in plain.recv(100)
            said = proxy.said("refused")[0]
            assert (said["status"], said["why"]) == (400, "no TLS handshake: plain HTTP")
            with proxy.call(ssl=known) as peer:
                assert ask(peer, "echo", big="x" * 2_000_000) == {"big": "x" * 2_000_000}

    def test_a_key_that_does_not_fit(self, tmp_path: Path) -> None:
        path = tmp_path / "nothing.pem"
        path.write_text("nothing")
        said = refusal("wss://127.0.0.1:0/", "--tls-cert", str(path))
        assert said.startswith("nevermind run: --tls-cert: ")
        said = refusal("wss://127.0.0.1:0/", "--tls-cert", str(tmp_path / "missing"))
        assert said.startswith("nevermind run: --tls-cert: ")
        assert said.endswith("No such file or directory\n")


def test_a_port_that_is_taken_is_said() -> None:
    with Listening() as proxy:
        said = refusal(f"ws://127.0.0.1:{proxy.port}/")
        assert f"ws://127.0.0.1:{proxy.port}/: Address already in use" in said


def test_a_name_that_stands_for_nothing_is_said() -> None:
    assert refusal("ws://name.invalid:0/").startswith(
        "nevermind run: --listen: ws://name.invalid:0/"
    )


def test_a_command_that_is_not_there_is_said_before_anybody_connects() -> None:
    words = [*nevermind().words, "--listen", "ws://127.0.0.1:0", "--", os.devnull + "/server"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.startswith("nevermind run: /dev/null/server")
