"""The first words with whoever connects by HTTP."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from nevermind.shell.admin import Admin
from nevermind.shell.admission import Refusal, Request
from nevermind.shell.reception import LINGER, PATIENCE, receive_request, refuse, respond

ASKED = b"GET /x?y HTTP/1.1\r\nHost: h\r\n\r\n"

Streams = tuple[trio.abc.HalfCloseableStream, trio.abc.HalfCloseableStream]


def pair() -> Streams:
    return trio.testing.memory_stream_pair()


async def all_of(stream: trio.abc.ReceiveStream) -> bytes:
    return b"".join([bytes(data) async for data in stream])


class TestReceiving:
    async def test_a_request_and_what_comes_behind_it(self) -> None:
        here, there = pair()
        await there.send_all(ASKED + b"more")
        found = await receive_request(here)
        assert found is not None
        assert not isinstance(found, Refusal)
        request, rest = found
        assert (request.method, request.path, rest) == ("GET", "/x", b"more")

    async def test_somebody_who_says_nothing_and_leaves(self) -> None:
        here, there = pair()
        await there.send_eof()
        assert await receive_request(here) is None

    async def test_somebody_who_vanishes(self) -> None:
        here, there = trio.testing.lockstep_stream_pair()
        await there.aclose()
        assert await receive_request(here) is None

    @pytest.mark.parametrize("trickle", [True, False])
    async def test_somebody_who_is_too_slow(
        self, trickle: bool, autojump_clock: trio.testing.MockClock
    ) -> None:
        here, there = pair()
        async with trio.open_nursery() as nursery:

            async def say() -> None:
                while trickle:
                    await there.send_all(b"G")
                    await trio.sleep(1)

            nursery.start_soon(say)
            began = trio.current_time()
            found = await receive_request(here)
            assert trio.current_time() - began == pytest.approx(PATIENCE)
            nursery.cancel_scope.cancel()
        assert isinstance(found, Refusal)
        assert found.status == 408

    async def test_what_is_no_request(self) -> None:
        here, there = pair()
        await there.send_all(b"\x16\x03\x01\r\n\r\n")
        found = await receive_request(here)
        assert isinstance(found, Refusal)
        assert found.status == 400


class TestResponding:
    async def test_it_is_whole_and_the_end(self, autojump_clock: trio.testing.MockClock) -> None:
        here, there = pair()
        await there.send_eof()
        await respond(here, 200, b"ok\n")
        head, _, body = (await all_of(there)).partition(b"\r\n\r\n")
        assert head.split(b"\r\n") == [
            b"HTTP/1.1 200 OK",
            b"Content-Type: text/plain; charset=utf-8",
            b"Content-Length: 3",
            b"Connection: close",
        ]
        assert body == b"ok\n"

    async def test_a_refusal_has_its_fields(self, autojump_clock: trio.testing.MockClock) -> None:
        here, there = pair()
        await there.send_eof()
        fields = (("Upgrade", "websocket"), ("Connection", "Upgrade"))
        await refuse(here, Refusal(426, "only WebSockets here", fields))
        answer = await all_of(there)
        assert answer.startswith(b"HTTP/1.1 426 Upgrade Required\r\n")
        assert answer.count(b"Connection:") == 1
        assert answer.endswith(b"\r\n\r\nonly WebSockets here\n")

    async def test_somebody_who_goes_on_talking_is_left_after_a_while(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        here, there = pair()
        began = trio.current_time()
        async with trio.open_nursery() as nursery:

            async def talk() -> None:
                while True:
                    await there.send_all(b"x")
                    await trio.sleep(0.1)

            nursery.start_soon(talk)
            await respond(here, 200, b"")
            nursery.cancel_scope.cancel()
        assert trio.current_time() - began == pytest.approx(LINGER, abs=0.2)

    async def test_somebody_who_is_gone(self) -> None:
        here, there = trio.testing.lockstep_stream_pair()
        await there.aclose()
        await respond(here, 200, b"")


class Page:
    def write(self) -> bytes:
        return b"nevermind_sessions 1.0\n"


async def asked_of(admin: Admin, data: bytes) -> bytes:
    """What the port for operators answers."""
    here, there = pair()
    await there.send_all(data)
    await there.send_eof()
    await admin.answer(here)  # type: ignore[arg-type]
    return await all_of(there)


class TestAdmin:
    @pytest.mark.parametrize(
        ("line", "status"),
        [
            ("GET /healthz", 200),
            ("HEAD /healthz", 200),
            ("OPTIONS /healthz", 200),
            ("POST /healthz", 405),
            ("GET /metrics", 200),
            ("POST /metrics", 405),
            ("GET /", 404),
            ("GET /healthz/x", 404),
        ],
    )
    async def test_what_can_be_asked(
        self, line: str, status: int, autojump_clock: trio.testing.MockClock
    ) -> None:
        admin = Admin("/healthz", lambda: "", Page(), "text/plain")
        answer = await asked_of(admin, f"{line} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())

    async def test_health_says_when_newcomers_should_go_elsewhere(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        admin = Admin("/up", lambda: "about to stop", None, "")
        answer = await asked_of(admin, b"GET /up HTTP/1.1\r\nHost: h\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert answer.endswith(b"\r\n\r\nabout to stop\n")

    async def test_without_the_library_the_page_says_how_to_get_it(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        admin = Admin("/up", lambda: "", None, "")
        answer = await asked_of(admin, b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 501 ")
        assert b"pip install" in answer
        assert "pip install" in admin.serves

    @pytest.mark.parametrize("data", [b"", b"\xff\r\n\r\n"])
    async def test_what_is_no_request(
        self, data: bytes, autojump_clock: trio.testing.MockClock
    ) -> None:
        admin = Admin("/up", lambda: "", None, "")
        here, there = pair()
        if data:
            await there.send_all(data)
        await there.send_eof()
        await admin.answer(here)  # type: ignore[arg-type]
        answer = await all_of(there)
        assert answer == b"" if not data else answer.startswith(b"HTTP/1.1 400 ")


def test_a_requests_path_has_no_query() -> None:
    assert Request("GET", "/a?b?c", "1.1", ()).path == "/a"
