"""A host on stdin and stdout, and a server that runs already: over WebSockets and sockets."""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
from pathlib import Path

import pytest
import trustme
from websockets.sync.server import ServerConnection

from e2e.websocket.proxies import PATIENCE, Proxy, connecting
from e2e.websocket.upstream import echo, line_server, upstream

CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"é":1}}'


def tell(proxy: Proxy, *lines: str | bytes) -> None:
    """The host writes lines."""
    stdin = proxy.process.stdin
    assert stdin is not None
    for line in lines:
        stdin.write((line.encode() if isinstance(line, str) else line) + b"\n")
    stdin.flush()


def line(proxy: Proxy) -> bytes:
    """The next line that the host reads."""
    assert proxy.process.stdout is not None
    return proxy.process.stdout.readline()


def leave(proxy: Proxy) -> int:
    """The host closes its side; the exit code."""
    assert proxy.process.stdin is not None
    proxy.process.stdin.close()
    return proxy.ends()


class TestWebSocket:
    def test_a_call_and_its_answer(self) -> None:
        with upstream() as server, connecting("--connect", server.url) as proxy:
            tell(proxy, CALL)
            assert json.loads(line(proxy)) == {"jsonrpc": "2.0", "id": 1, "result": {"é": 1}}
            assert leave(proxy) == 0
            assert server.ended.acquire(timeout=PATIENCE)
            assert server.peers[0].close_code == 1000

    def test_each_kind_of_line_travels_as_it_must(self) -> None:
        got: list[str | bytes] = []

        def listen(peer: ServerConnection) -> None:
            got.extend(peer.recv(timeout=PATIENCE) for _ in range(3))
            peer.send('{"id":1,\r\n"result":{}}')
            peer.send(b"\xff")
            peer.send("")

        with upstream(listen) as server, connecting("--connect", server.url) as proxy:
            tell(proxy, CALL + "\r", "", "  ", b"\xff\xfe", '["é"]')
            assert [line(proxy) for _ in range(3)] == [
                b'{"id":1,  "result":{}}\n',
                b"\xff\n",
                b"\n",
            ]
            assert proxy.ends() == 0
        assert got == [CALL, b"\xff\xfe", '["é"]']

    def test_path_and_query_are_kept(self) -> None:
        target = "/a/b%20c?d=e&f=%2F"
        with upstream() as server, connecting("--connect", server.url + target) as proxy:
            tell(proxy, CALL)
            line(proxy)
            request = server.peers[0].request
            assert request is not None
            assert request.path == target
            assert request.headers["Host"] == f"localhost:{server.port}"
            assert "Origin" not in request.headers
            leave(proxy)
            assert b"d=e" not in proxy.log

    def test_headers_and_tokens_go_there_and_nowhere_else(self) -> None:
        words = ("--header", "X-One:1, 2", "--header", "X-Two:a${PART}c", "--bearer-env", "TOKEN")
        environment = {"PART": "s3cret", "TOKEN": "t0ken"}
        with (
            upstream() as server,
            connecting("--connect", server.url, *words, environment=environment) as proxy,
        ):
            tell(proxy, CALL)
            line(proxy)
            request = server.peers[0].request
            assert request is not None
            assert request.headers["X-One"] == "1, 2"
            assert request.headers["X-Two"] == "as3cretc"
            assert request.headers["Authorization"] == "Bearer t0ken"
            leave(proxy)
            assert b"s3cret" not in proxy.log
            assert b"t0ken" not in proxy.log

    @pytest.mark.parametrize(
        ("words", "known", "chosen"),
        [
            ((), ["mcp"], "mcp"),
            ((), None, None),
            (("--subprotocol", "v2", "--subprotocol", "v1"), ["v1"], "v1"),
        ],
    )
    def test_subprotocols_are_offered_and_the_server_chooses(
        self, words: tuple[str, ...], known: list[str] | None, chosen: str | None
    ) -> None:
        with (
            upstream(subprotocols=known) as server,
            connecting("--connect", server.url, *words) as proxy,
        ):
            tell(proxy, CALL)
            assert line(proxy)
            assert server.peers[0].subprotocol == chosen

    def test_a_dialect_of_another_name_offers_none(self) -> None:
        with (
            upstream(subprotocols=["mcp"]) as server,
            connecting("--connect", server.url, "--dialect", "acp") as proxy,
        ):
            assert proxy.ends() == 69
            assert proxy.events("unreachable")[0]["why"].endswith("refused with status 400")


class TestEnds:
    @pytest.mark.parametrize(
        ("code", "exit_code"), [(1000, 0), (1001, 0), (1008, 1), (1011, 1), (4000, 1)]
    )
    def test_a_servers_close_is_ours(self, code: int, exit_code: int) -> None:
        def close(peer: ServerConnection) -> None:
            peer.recv(timeout=PATIENCE)
            peer.send("[]")
            peer.close(code, "enough")

        with upstream(close) as server, connecting("--connect", server.url) as proxy:
            tell(proxy, CALL)
            assert line(proxy) == b"[]\n"
            assert line(proxy) == b""
            assert proxy.ends() == exit_code
            said = [(event["code"], event["why"]) for event in proxy.events("broken")]
            assert said == [(code, "enough")] * exit_code

    def test_a_server_that_vanishes(self) -> None:
        def vanish(peer: ServerConnection) -> None:
            peer.recv(timeout=PATIENCE)
            peer.socket.shutdown(socket.SHUT_RDWR)

        with upstream(vanish) as server, connecting("--connect", server.url) as proxy:
            tell(proxy, CALL)
            assert proxy.ends() == 1

    def test_an_answer_that_is_owed_still_comes_after_the_host_has_closed(self) -> None:
        def slow(peer: ServerConnection) -> None:
            peer.recv(timeout=PATIENCE)
            peer.ping().wait(PATIENCE)
            peer.send('{"jsonrpc":"2.0","id":1,"result":{}}')
            echo(peer)

        with upstream(slow) as server, connecting("--connect", server.url) as proxy:
            tell(proxy, CALL)
            assert leave(proxy) == 0
            assert line(proxy) == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'

    @pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
    def test_a_signal_says_goodbye(self, name: str, code: int) -> None:
        with upstream() as server, connecting("--connect", server.url) as proxy:
            tell(proxy, CALL)
            line(proxy)
            proxy.process.send_signal(signal.Signals[name])
            assert proxy.ends() == code
            assert server.ended.acquire(timeout=PATIENCE)
            assert server.peers[0].close_code == 1001

    def test_a_host_that_reads_no_more(self) -> None:
        with upstream() as server, connecting("--connect", server.url) as proxy:
            tell(proxy, CALL)
            line(proxy)
            assert proxy.process.stdout is not None
            proxy.process.stdout.close()
            assert proxy.ends() == 0
            assert server.ended.acquire(timeout=PATIENCE)


class TestUnreachable:
    def test_nobody_listens(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"ws://127.0.0.1:{unused.getsockname()[1]}/?s3cret"
            with connecting("--connect", url) as proxy:
                assert proxy.ends() == 69
                where = url.removesuffix("?s3cret")
                assert proxy.events("unreachable")[0]["why"] == f"{where}: Connection refused"
                assert b"s3cret" not in proxy.log

    def test_a_name_that_nobody_has(self) -> None:
        with connecting("--connect", "tcp://nowhere.invalid:1") as proxy:
            assert proxy.ends() == 69
            why = proxy.events("unreachable")[0]["why"]
            assert re.fullmatch(r"tcp://nowhere\.invalid:1: [^(\[]+", why)

    def test_a_refusal(self) -> None:
        with upstream(refuses=401) as server, connecting("--connect", server.url) as proxy:
            assert proxy.ends() == 69
            assert proxy.events("unreachable")[0]["why"].endswith("refused with status 401")

    @pytest.mark.parametrize(
        ("scheme", "finding"),
        [("ws", "that is no WebSocket handshake"), ("wss", "it speaks no TLS")],
    )
    def test_what_speaks_another_protocol(self, scheme: str, finding: str) -> None:
        with line_server(socket.AF_INET, ("127.0.0.1", 0)) as listening:
            url = f"{scheme}://127.0.0.1:{listening.getsockname()[1]}/"
            with connecting("--connect", url) as proxy:
                peer, _ = listening.accept()
                with peer:
                    peer.sendall(b"220 mail.example ESMTP\r\n\r\n")
                    assert proxy.ends() == 69
                assert proxy.events("unreachable")[0]["why"] == f"{url}: {finding}"


class TestSockets:
    def test_unix(self, tmp_path: Path) -> None:
        path = str(tmp_path / "socket")
        with (
            line_server(socket.AF_UNIX, path) as listening,
            connecting("--connect", f"unix:{path}") as proxy,
        ):
            self.talk(proxy, listening)

    def test_tcp(self) -> None:
        with (
            line_server(socket.AF_INET, ("127.0.0.1", 0)) as listening,
            connecting("--connect", f"tcp://127.0.0.1:{listening.getsockname()[1]}") as proxy,
        ):
            self.talk(proxy, listening)

    def talk(self, proxy: Proxy, listening: socket.socket) -> None:
        peer, _ = listening.accept()
        with peer, peer.makefile("rwb") as stream:
            tell(proxy, CALL + "\r", "", b"\xff")
            assert [stream.readline() for _ in range(3)] == [
                CALL.encode() + b"\r\n",
                b"\n",
                b"\xff\n",
            ]
            stream.write(b'{"jsonrpc":"2.0","id":1,"result":{}}\r\n')
            stream.flush()
            assert line(proxy) == b'{"jsonrpc":"2.0","id":1,"result":{}}\r\n'
            assert proxy.process.stdin is not None
            proxy.process.stdin.close()
            assert stream.readline() == b""
            stream.write(b"last words\n")
            stream.flush()
            assert line(proxy) == b"last words\n"
        assert proxy.ends() == 0

    def test_a_server_that_stays_is_left_after_the_grace(self, tmp_path: Path) -> None:
        path = str(tmp_path / "socket")
        with (
            line_server(socket.AF_UNIX, path) as listening,
            connecting("--connect", f"unix:{path}", "--grace", "0.2") as proxy,
        ):
            peer, _ = listening.accept()
            with peer:
                assert leave(proxy) == 0


class TestTls:
    def test_a_server_whose_certificate_is_known(self, tmp_path: Path) -> None:
        authority = trustme.CA()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("localhost").configure_cert(context)
        known = tmp_path / "ca.pem"
        authority.cert_pem.write_to_path(str(known))
        with upstream(context=context) as server:
            with connecting("--connect", server.url, "--tls-ca", str(known)) as proxy:
                tell(proxy, CALL)
                assert json.loads(line(proxy))["id"] == 1
                assert leave(proxy) == 0
            with connecting("--connect", server.url) as proxy:
                assert proxy.ends() == 69
                assert "certificate: " in proxy.events("unreachable")[0]["why"]
