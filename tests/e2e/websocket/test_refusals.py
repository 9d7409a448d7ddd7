"""Who is not let in over a WebSocket, and what those are told who only ask how we are."""

from __future__ import annotations

import os
import re

import pytest
from websockets.exceptions import InvalidStatus

from e2e.websocket.proxies import Listening, ask, gone


class TestRefusals:
    def test_another_path(self) -> None:
        with Listening() as proxy:
            with pytest.raises(InvalidStatus) as refused:
                proxy.call(url=f"ws://127.0.0.1:{proxy.port}/other?key=s3cret")
            assert refused.value.response.status_code == 404
            said = proxy.said("refused")[0]
            assert (said["status"], said["path"], said["why"]) == (404, "/other", "nothing here")
            assert "origin" not in said
            assert b"s3cret" not in proxy.log

    def test_a_browser(self) -> None:
        with Listening() as proxy:
            with pytest.raises(InvalidStatus) as refused:
                proxy.call(origin="http://127.0.0.1", subprotocols=["mcp", "bearer.s3cret"])
            assert refused.value.response.status_code == 403
            said = proxy.said("refused")[0]
            assert (said["status"], said["path"]) == (403, "/mcp")
            assert said["origin"] == "http://127.0.0.1"
            assert re.fullmatch(r"127\.0\.0\.1:\d+", said["from"])
            assert b"s3cret" not in proxy.log

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
                assert proxy.said("refused")[0]["why"] == "no more than 2 at once"
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
                assert proxy.get("/up") == (503, "no more than 1 at once\n")

    def test_operators_have_a_port_of_their_own(self) -> None:
        with Listening("--admin-listen", "tcp://127.0.0.1:0") as proxy:
            port = proxy.admin_port
            assert proxy.events("listening")[0]["why"] == "health and metrics"
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
                assert proxy.get("/healthz", port) == (503, "about to stop\n")
            assert proxy.ends() == 0
