"""Hosts that come over a WebSocket: their sessions, and how those end."""

from __future__ import annotations

import json
import os
import signal
import socket
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed

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
            assert proxy.said("broken")[0]["peer"] == "client"

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
            broken = proxy.said("broken")[0]
            assert (broken["peer"], broken["code"], broken["why"]) == ("client", 1009, why)
