"""Hosts that come to us, and a server that we go to: WebSockets on both sides."""

from __future__ import annotations

import json
import threading

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.server import ServerConnection

from e2e.websocket.proxies import PATIENCE, Listening, ask
from e2e.websocket.upstream import upstream


def listening(to: str, *options: str, at: str = "ws://127.0.0.1:0/") -> Listening:
    return Listening("--connect", to, *options, at=at, server=None)


class TestMessages:
    def test_every_byte_and_the_kind_are_kept(self) -> None:
        messages: list[str | bytes] = [
            '{\r\n  "id": 1,\n "method": "x"}',
            b'{"id":2}',
            b"\xff\x00\r\n",
            "",
            "é\u2028",
        ]

        def mirror(peer: ServerConnection) -> None:
            for _ in messages:
                peer.send(peer.recv(timeout=PATIENCE))
            peer.recv(timeout=PATIENCE)

        with upstream(mirror) as server, listening(server.url) as proxy, proxy.call() as host:
            for message in messages:
                host.send(message)
            assert [host.recv(timeout=PATIENCE) for _ in messages] == messages

    def test_eight_megabytes_both_ways_at_once(self) -> None:
        """Neither side reads before it has written all: the queues have to hold it."""
        body = "x" * 1_000_000
        done = threading.Barrier(2, timeout=PATIENCE)

        def shout(peer: ServerConnection) -> None:
            for n in range(8):
                peer.send(f'{{"method":"n","params":["{body}",{n}]}}')
            done.wait()
            for _ in range(8):
                peer.recv(timeout=PATIENCE)
            peer.send("done")

        with upstream(shout) as server, listening(server.url) as proxy, proxy.call() as host:
            for n in range(8):
                host.send(f'{{"method":"n","params":["{body}",{n}]}}')
            done.wait()
            heard = [json.loads(host.recv(timeout=PATIENCE))["params"][1] for _ in range(8)]
            assert heard == list(range(8))
            assert host.recv(timeout=PATIENCE) == "done"

    def test_each_connection_has_one_of_its_own(self) -> None:
        with (
            upstream() as server,
            listening(server.url) as proxy,
            proxy.call() as one,
            proxy.call() as two,
        ):
            assert ask(one, "echo", n=1) == {"n": 1}
            assert ask(two, "echo", n=2) == {"n": 2}
            assert len(server.peers) == 2


class TestHandshake:
    def test_what_was_offered_is_offered_on_and_the_choice_is_the_answer(self) -> None:
        offered = ["mcp", "mcp.version.2025-06-18", "mcp.auth.s3cret"]
        with (
            upstream(subprotocols=["mcp.version.2025-06-18"]) as server,
            listening(server.url) as proxy,
            proxy.call(subprotocols=offered) as host,
        ):
            assert ask(host, "echo") == {}
            request = server.peers[0].request
            assert request is not None
            assert request.headers["Sec-WebSocket-Protocol"] == ", ".join(offered)
            assert host.subprotocol == "mcp.version.2025-06-18"
            host.close()
            proxy.said("summary")
            assert b"s3cret" not in proxy.log

    def test_none_is_offered_for_a_host_that_offers_none(self) -> None:
        with upstream() as server, listening(server.url) as proxy, proxy.call() as host:
            assert ask(host, "echo") == {}
            request = server.peers[0].request
            assert request is not None
            assert "Sec-WebSocket-Protocol" not in request.headers
            assert host.subprotocol is None

    def test_a_hosts_own_headers_go_no_further(self) -> None:
        headers = {"Authorization": "Bearer t0ken", "Cookie": "s3cret"}
        environment = {"TOKEN": "t0ken", "OTHER": "0ther"}
        with upstream() as server:
            proxy = Listening(
                "--connect",
                server.url,
                "--token-env",
                "TOKEN",
                "--bearer-env",
                "OTHER",
                at="ws://127.0.0.1:0/",
                server=None,
                environment=environment,
            )
            with proxy, proxy.call(additional_headers=headers) as host:
                assert ask(host, "echo") == {}
                request = server.peers[0].request
                assert request is not None
                assert request.headers["Authorization"] == "Bearer 0ther"
                assert "Cookie" not in request.headers

    def test_a_server_that_refuses_is_a_bad_gateway(self) -> None:
        with upstream(refuses=401) as server, listening(server.url) as proxy:
            with pytest.raises(InvalidStatus) as refused, proxy.call():
                pass
            assert refused.value.response.status_code == 502
            assert proxy.said("refused")[0]["why"].endswith("refused with status 401")


CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 4999]


class TestCloses:
    @pytest.mark.parametrize("code", CODES)
    def test_a_servers_code_and_reason_reach_the_host(self, code: int) -> None:
        def close(peer: ServerConnection) -> None:
            peer.recv(timeout=PATIENCE)
            peer.close(code, "enough is enough")

        with upstream(close) as server, listening(server.url) as proxy, proxy.call() as host:
            host.send("[]")
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert (host.close_code, host.close_reason) == (code, "enough is enough")

    @pytest.mark.parametrize("code", CODES)
    def test_a_hosts_code_and_reason_reach_the_server(self, code: int) -> None:
        with upstream() as server, listening(server.url) as proxy:
            with proxy.call() as host:
                host.close(code, "bye")
            assert server.ended.acquire(timeout=PATIENCE)
            assert (server.peers[0].close_code, server.peers[0].close_reason) == (code, "bye")

    def test_a_close_without_a_code_stays_one(self) -> None:
        def close(peer: ServerConnection) -> None:
            peer.recv(timeout=PATIENCE)
            with peer.send_context():
                peer.protocol.send_close()

        with upstream(close) as server, listening(server.url) as proxy, proxy.call() as host:
            host.send("[]")
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert host.close_code == 1005  # what the library says where there was none

    def test_an_abnormal_end_has_a_code_that_can_be_sent(self) -> None:
        def vanish(peer: ServerConnection) -> None:
            peer.recv(timeout=PATIENCE)
            peer.socket.shutdown(2)

        with upstream(vanish) as server, listening(server.url) as proxy, proxy.call() as host:
            host.send("[]")
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert host.close_code == 1011
            assert host.close_reason == "server: the connection was lost"

    def test_a_host_that_vanishes_goes_away(self) -> None:
        with upstream() as server, listening(server.url) as proxy:
            with proxy.call() as host:
                assert ask(host, "echo") == {}
                host.socket.shutdown(2)
            assert server.ended.acquire(timeout=PATIENCE)
            assert server.peers[0].close_code == 1001

    def test_too_big_is_said_to_both(self) -> None:
        with (
            upstream() as server,
            listening(server.url, "--max-message", "100000") as proxy,
            proxy.call() as host,
        ):
            host.send("x" * 100_001)
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert host.close_code == 1009
            assert server.ended.acquire(timeout=PATIENCE)
            assert server.peers[0].close_code == 1009

    def test_going_away_is_said_to_both(self) -> None:
        with upstream() as server, listening(server.url, "--grace", "0") as proxy:
            with proxy.call() as host:
                assert ask(host, "echo") == {}
                assert proxy.stop() == 0
                with pytest.raises(ConnectionClosed):
                    host.recv(timeout=PATIENCE)
                assert host.close_code == 1001
            assert server.ended.acquire(timeout=PATIENCE)
            assert server.peers[0].close_code == 1001


class TestNoSecondLife:
    def test_nothing_is_connected_again_and_nothing_remembered(self) -> None:
        """A session ends with either of its connections; the next knows nothing of it."""

        def once(peer: ServerConnection) -> None:
            asked = peer.recv(timeout=PATIENCE)
            if len(server.peers) == 1:
                peer.recv(timeout=PATIENCE)
                peer.socket.shutdown(2)
                return
            peer.send(asked)
            peer.send('{"jsonrpc":"2.0","id":5,"result":{}}')

        call = '{"jsonrpc":"2.0","id":5,"method":"tools/call"}'
        cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}'
        with upstream(once) as server, listening(server.url) as proxy:
            with proxy.call() as host:
                host.send(call)
                host.send(cancel)
                with pytest.raises(ConnectionClosed):
                    host.recv(timeout=PATIENCE)
            assert len(server.peers) == 1
            with proxy.call() as host:
                host.send(call)
                assert host.recv(timeout=PATIENCE) == call
                assert json.loads(host.recv(timeout=PATIENCE))["id"] == 5
