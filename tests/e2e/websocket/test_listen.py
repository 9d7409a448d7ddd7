"""Hosts that come over a WebSocket: sessions, ends, refusals, many at once."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from e2e.websocket.proxies import ANSWERING, PATIENCE, Listening, ask, gone, is_alive


class TestSessions:
    def test_a_free_port_is_found_and_said(self) -> None:
        with Listening() as proxy, proxy.call() as host:
            assert proxy.port > 0
            assert proxy.address == f"ws://127.0.0.1:{proxy.port}/mcp"
            assert ask(host, "echo", word="é") == {"word": "é"}

    def test_each_connection_has_a_server_of_its_own_in_a_session_of_its_own(self) -> None:
        with Listening(server=(*ANSWERING, "a b", "--")) as proxy:
            with proxy.call() as one, proxy.call() as other:
                who, else_ = ask(one, "who"), ask(other, "who")
                assert who["pid"] != else_["pid"]
                assert who["pid"] == who["session"] == who["group"]
                assert who["arguments"] == ["a b", "--"]
                assert who["folder"] == os.getcwd()
            assert gone(who["pid"])
            assert gone(else_["pid"])

    def test_a_late_answer_does_not_reach_the_host(self) -> None:
        with Listening() as proxy, proxy.call() as host:
            host.send('{"jsonrpc":"2.0","id":7,"method":"wait"}')
            cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
            host.send(cancel)
            host.send(cancel)
            # the server thinks that it is asked again, and answers under the cancelled id
            assert ask(host, "echo", id=8) == {}
            drops = proxy.said("drop")
            assert drops[0]["what"] == "redundant-cancel"
            assert drops[0]["connection"] == 1

    def test_line_ends_in_a_message_become_spaces(self) -> None:
        with Listening() as proxy, proxy.call() as host:
            host.send(b'{\r\n"jsonrpc":"2.0",\n"id":1,"method":"echo","params":[1,\n2]}')
            assert json.loads(host.recv(timeout=PATIENCE))["result"] == [1, 2]

    @pytest.mark.parametrize(
        ("offered", "chosen"), [(["x", "mcp"], "mcp"), (["x"], None), (None, None)]
    )
    def test_mcp_is_chosen_if_it_is_offered(
        self, offered: list[str] | None, chosen: str | None
    ) -> None:
        with Listening() as proxy, proxy.call(subprotocols=offered) as host:
            assert host.subprotocol == chosen

    def test_another_subprotocol_can_be_asked_for(self) -> None:
        options = ("--subprotocol", "v2", "--subprotocol", "v1")
        offered = ["v1", "v2"]
        with Listening(*options) as proxy, proxy.call(subprotocols=offered) as host:
            assert host.subprotocol == "v2"

    def test_megabytes_both_ways_at_once(self) -> None:
        with Listening() as proxy, proxy.call() as host:
            text = "x" * 1_000_000
            for n in range(8):
                host.send(
                    json.dumps({"id": n, "jsonrpc": "2.0", "method": "echo", "params": [text, n]})
                )
            for n in range(8):
                assert json.loads(host.recv(timeout=PATIENCE))["result"] == [text, n]

    def test_pings_are_answered_while_the_server_takes_nothing(self) -> None:
        with Listening("--grace", "0.1") as proxy, proxy.call() as host:
            host.send('{"jsonrpc":"2.0","id":1,"method":"stall"}')
            for n in range(3):
                body = "x" * 1_000_000
                host.send(f'{{"jsonrpc":"2.0","id":{n + 2},"method":"echo","params":["{body}"]}}')
                assert host.ping().wait(PATIENCE)

    def test_a_message_in_fragments_is_one(self) -> None:
        with Listening() as proxy, proxy.call() as host:
            host.send(iter(['{"jsonrpc":"2.0","id":1,', '"method":"echo",', '"params":[1]}']))
            assert json.loads(host.recv(timeout=PATIENCE))["result"] == [1]


class TestEnds:
    @pytest.mark.parametrize(
        ("code", "told"), [(0, (1000, "")), (3, (1011, "the server exited with 3"))]
    )
    def test_a_servers_end_is_the_hosts(self, code: int, told: tuple[int, str]) -> None:
        with Listening() as proxy, proxy.call() as host:
            host.send(json.dumps({"id": 1, "method": "exit", "params": {"code": code}}))
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert (host.close_code, host.close_reason) == told

    def test_all_that_it_said_comes_first(self) -> None:
        with Listening() as proxy, proxy.call() as host:
            host.send(json.dumps({"id": 1, "method": "flood", "params": {"count": 5000}}))
            host.send(json.dumps({"id": 2, "method": "exit", "params": {"code": 0}}))
            got = [json.loads(message) for message in host]
            assert [message.get("params") for message in got[:-1]] == list(range(5000))
            assert got[-1]["id"] == 1

    def test_a_host_that_leaves_ends_its_server(self) -> None:
        with Listening() as proxy:
            with proxy.call() as host:
                pid = ask(host, "who")["pid"]
            assert gone(pid)
            assert proxy.said("summary")[0]["connection"] == 1

    def test_a_server_that_stays_is_ended_with_its_group(self) -> None:
        server = (*ANSWERING, "--stay", "--ignore-term")
        with Listening("--grace", "0.2", server=server) as proxy:
            with proxy.call() as host:
                pid, helper = ask(host, "who")["pid"], ask(host, "helper")
            assert gone(pid)
            assert gone(helper)

    def test_a_helper_that_outlives_an_orderly_end_is_left_alone(self) -> None:
        with Listening() as proxy:
            with proxy.call() as host:
                pid, helper = ask(host, "who")["pid"], ask(host, "helper")
            assert gone(pid)
            proxy.said("summary")
            assert is_alive(helper)
            os.kill(helper, signal.SIGKILL)

    def test_a_host_that_vanishes_ends_its_server(self) -> None:
        with Listening() as proxy:
            with proxy.call() as host:
                pid = ask(host, "who")["pid"]
                host.socket.shutdown(socket.SHUT_RDWR)
            assert gone(pid)
            assert proxy.said("lost")[0]["why"].startswith("client: ")

    def test_when_we_are_killed_the_servers_are(self) -> None:
        with Listening(server=(*ANSWERING, "--stay")) as proxy, ExitStack() as stack:
            hosts = [stack.enter_context(proxy.call()) for _ in range(3)]
            pids = [ask(host, "who")["pid"] for host in hosts]
            proxy.process.kill()
            assert all(map(gone, pids))

    def test_a_message_that_is_too_big_is_refused_with_its_size(self) -> None:
        with Listening("--max-message", "1000000") as proxy, proxy.call() as host:
            assert ask(host, "echo", text="x" * 900_000)
            host.send("x" * 1_000_001)
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            why = "a message of 1000001 bytes is over the limit of 1000000"
            assert (host.close_code, host.close_reason) == (1009, why)
            assert proxy.said("lost")[0]["why"] == f"client: {why} (1009)"


class TestStopping:
    def test_without_sessions_it_ends_at_once_with_0(self) -> None:
        with Listening() as proxy:
            assert proxy.stop() == 0

    def test_sessions_may_end_by_themselves(self) -> None:
        with Listening("--grace", "60") as proxy:
            with proxy.call() as host:
                pid = ask(host, "who")["pid"]
                proxy.process.terminate()
                proxy.said("stopping")
                assert refuses_newcomers(proxy.port)
                assert ask(host, "echo", still="here") == {"still": "here"}
            assert proxy.ends() == 0
            assert gone(pid)

    def test_those_that_do_not_are_closed_after_the_grace(self) -> None:
        with Listening("--grace", "0.3") as proxy, proxy.call() as host:
            pid = ask(host, "who")["pid"]
            proxy.process.terminate()
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert host.close_code == 1001
            assert proxy.ends() == 0
            assert gone(pid)

    @pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
    def test_told_twice_it_does_not_wait(self, name: str) -> None:
        with Listening("--grace", "600") as proxy, proxy.call() as host:
            ask(host, "echo")
            proxy.process.send_signal(signal.Signals[name])
            proxy.said("stopping")
            proxy.process.send_signal(signal.Signals[name])
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert host.close_code == 1001
            assert proxy.ends() == 0


def refuses_newcomers(port: int) -> bool:
    """Wait until nobody listens there any more."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            continue  # it came in the very moment in which the door was closed
    return False


class TestRefusals:
    def test_another_path(self) -> None:
        with Listening() as proxy, pytest.raises(InvalidStatus) as refused:
            proxy.call(url=f"ws://127.0.0.1:{proxy.port}/other")
        assert refused.value.response.status_code == 404

    def test_a_browser(self) -> None:
        with Listening() as proxy, pytest.raises(InvalidStatus) as refused:
            proxy.call(origin="http://127.0.0.1")
        assert refused.value.response.status_code == 403

    def test_but_not_one_whose_origin_is_allowed(self) -> None:
        options = ("--origin", "https://a.example", "--origin", "https://b.example:8443")
        with Listening(*options) as proxy:
            for origin in ("https://a.example", "https://b.example:8443"):
                with proxy.call(origin=origin) as host:
                    assert ask(host, "echo") == {}
            with pytest.raises(InvalidStatus):
                proxy.call(origin="https://c.example")

    def test_without_the_token_nobody_comes_in(self) -> None:
        environment = {"TOKEN": "s3cret-t0ken"}
        with Listening("--token-env", "TOKEN", environment=environment) as proxy:
            for header in ({}, {"Authorization": "Bearer wrong"}):
                with pytest.raises(InvalidStatus) as refused:
                    proxy.call(additional_headers=header)
                assert refused.value.response.status_code == 401
            right = {"Authorization": "Bearer s3cret-t0ken"}
            with proxy.call(additional_headers=right) as host:
                assert ask(host, "echo") == {}
            proxy.stop()
            assert b"s3cret" not in proxy.log

    def test_the_token_may_be_in_a_file(self, tmp_path: os.PathLike[str]) -> None:
        path = os.path.join(tmp_path, "token")
        with open(path, "w") as file:
            file.write("s3cret\n")
        shown = {"Authorization": "Bearer s3cret"}
        with (
            Listening("--token-file", path) as proxy,
            proxy.call(additional_headers=shown) as host,
        ):
            assert ask(host, "echo") == {}

    def test_more_than_may_be_there_at_once(self) -> None:
        with Listening("--max-connections", "2") as proxy:
            with proxy.call() as one, proxy.call() as two:
                pids = [ask(host, "who")["pid"] for host in (one, two)]
                with pytest.raises(InvalidStatus) as refused:
                    proxy.call()
                assert refused.value.response.status_code == 503
                assert "Retry-After" in refused.value.response.headers
            assert all(map(gone, pids))
            proxy.said("summary", 2)
            with proxy.call() as host:
                assert ask(host, "echo") == {}

    def test_a_plain_request_is_told_what_is_spoken_here(self) -> None:
        with Listening() as proxy:
            status, body, fields = proxy.request("GET", "/mcp")
            assert (status, body) == (426, "only WebSockets here\n")
            assert fields["Upgrade"] == "websocket"
            assert proxy.request("POST", "/mcp")[0] == 405

    def test_an_oversized_head(self) -> None:
        with Listening() as proxy:
            assert proxy.get("/mcp", X="x" * 20_000)[0] in (400, 431)


class TestHealth:
    def test_it_needs_no_token_and_no_session(self) -> None:
        with Listening("--token-env", "T", environment={"T": "s3cret"}) as proxy:
            assert proxy.get("/healthz") == (200, "ok\n")
            assert proxy.request("HEAD", "/healthz")[:2] == (200, "")
            assert proxy.request("OPTIONS", "/healthz")[0] == 200
            assert proxy.request("POST", "/healthz")[0] == 405
            assert not proxy.events("open")

    def test_a_full_proxy_sends_newcomers_elsewhere(self) -> None:
        with Listening("--max-connections", "1", "--health-path", "/up") as proxy:
            assert proxy.get("/up")[0] == 200
            with proxy.call() as host:
                ask(host, "echo")
                assert proxy.get("/up") == (503, "takes no new connections\n")

    def test_operators_have_a_port_of_their_own(self) -> None:
        with Listening("--admin-listen", "tcp://127.0.0.1:0") as proxy:
            port = proxy.admin_port
            with proxy.call() as host:
                host.send('{"jsonrpc":"2.0","id":7,"method":"wait"}')
                ask(host, "echo")
                status, page = proxy.get("/metrics", port)
                assert status == 200
                assert "nevermind_sessions 1.0" in page
                assert "nevermind_requests_in_flight 1.0" in page
                assert "nevermind_messages_forwarded_total 3.0" in page
                assert proxy.get("/metrics") == (404, "nothing here\n")
                assert proxy.get("/healthz", port) == (200, "ok\n")
                assert proxy.get("/other", port)[0] == 404
                proxy.process.terminate()
                proxy.said("stopping")
                assert proxy.get("/healthz", port)[0] == 503
            assert proxy.ends() == 0


class TestMany:
    def test_what_fails_in_one_touches_no_other(self) -> None:
        with Listening() as proxy, proxy.call() as steady:
            assert ask(steady, "echo", n=0) == {"n": 0}
            for n in range(20):
                with socket.create_connection(("127.0.0.1", proxy.port)) as odd:
                    odd.sendall([b"\x16\x03\x01", b"GET / HTTP/1.1\r\n", b"\xff" * 100, b""][n % 4])
                with proxy.call() as broken:
                    broken.socket.sendall(b"\xff\xff\xff\xff")
                assert ask(steady, "echo", n=n) == {"n": n}

    def test_a_hundred_at_once(self) -> None:
        with Listening("--max-connections", "100") as proxy:

            def talk(n: int) -> int:
                with proxy.call() as host:
                    assert [ask(host, "echo", i, n=n) for i in range(5)] == [{"n": n}] * 5
                    return int(ask(host, "who")["pid"])

            with ThreadPoolExecutor(20) as pool:
                pids = list(pool.map(talk, range(100)))
            assert len(set(pids)) == 100
            proxy.said("summary", 100)
            assert all(map(gone, pids))

    def test_those_who_say_nothing_keep_nobody_out(self) -> None:
        with Listening() as proxy:
            silent = [socket.create_connection(("127.0.0.1", proxy.port)) for _ in range(50)]
            began = time.monotonic()
            with proxy.call() as host:
                assert ask(host, "echo") == {}
            assert time.monotonic() - began < PATIENCE
            for each in silent:
                each.close()
