"""WebSockets, against a peer of another make: pings, and which peer counts as alive.

The clock is virtual: an hour passes at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
from websockets.frames import Opcode

from nevermind.shell.transports import websocket
from nevermind.shell.transports.transport import ConnectionLost
from nevermind.shell.transports.wire import READ_AHEAD
from proxy.shell.transports import rfc_peer
from proxy.shell.transports.opened_websocket import (
    NO_PINGS,
    PINGS,
    Ours,
    accept,
    both_roles,
    connect,
    opened,
    text,
)
from proxy.shell.transports.rfc_peer import RfcPeer


@both_roles
class TestPings:
    async def test_are_answered(self, role: str) -> None:
        async with opened(role) as (_, peer):
            await peer.ping(b"are you there")
            pong = await peer.hear()
            assert pong is not None
            assert (pong.opcode, bytes(pong.data)) == (Opcode.PONG, b"are you there")

    async def test_among_the_fragments_of_a_message_too(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            peer.protocol.send_text(b"one ", fin=False)
            await peer.ping(b"?")
            pong = await peer.hear()
            assert pong is not None
            assert pong.opcode is Opcode.PONG
            peer.protocol.send_continuation(b"message", fin=True)
            await peer.flush()
            assert await ours.receive() == text("one message")

    async def test_while_nobody_takes_the_messages(self, role: str) -> None:
        """The other side is blocked; this one is not."""
        async with opened(role) as (ours, peer):
            for n in range(10):
                await peer.text("x" * 100_000)
                await peer.ping(str(n).encode())
                pong = await peer.hear(Opcode.PONG)
                assert pong is not None
                assert bytes(pong.data) == str(n).encode()
            assert [len((await ours.receive() or text("")).body) for _ in range(10)] == [10**5] * 10

    async def test_while_what_we_send_is_not_read(self, role: str) -> None:
        """The library alone would stop reading here, and both sides wait for each other."""
        here, there = trio.testing.lockstep_stream_pair()
        async with trio.open_nursery() as nursery:
            ours, peer = await opened_over(role, nursery, here, there)
            nursery.start_soon(ours.send, text("x" * 900_000))
            await trio.testing.wait_all_tasks_blocked()
            with trio.fail_after(1):
                await peer.ping(b"?")
                for _ in range(20):
                    await peer.text("y" * 50_000)
                for _ in range(20):
                    assert await ours.receive() == text("y" * 50_000)
            assert await peer.message() == "x" * 900_000
            pong = await peer.hear()
            assert pong is not None
            assert pong.opcode is Opcode.PONG
            nursery.cancel_scope.cancel()


async def opened_over(
    role: str, nursery: trio.Nursery, here: trio.abc.Stream, there: trio.abc.Stream
) -> tuple[Ours, RfcPeer]:
    found: list[RfcPeer] = []

    async def open_peer(
        how: Callable[..., Awaitable[RfcPeer]],
    ) -> None:
        found.append(await how(there, "mcp"))

    async with trio.open_nursery() as opening:
        if role == "client":
            opening.start_soon(open_peer, rfc_peer.answer)
            ours = Ours(await connect(nursery, here, NO_PINGS), nursery)
        else:
            opening.start_soon(open_peer, rfc_peer.call)
            ours = Ours(await accept(nursery, here, NO_PINGS), nursery)
    return ours, found[0]


@both_roles
class TestAlive:
    async def test_an_idle_hour_is_no_reason_to_end(
        self, role: str, autojump_clock: trio.testing.MockClock
    ) -> None:
        async with opened(role, pings=PINGS) as (ours, peer):
            pings = 0
            with trio.move_on_after(3600):
                while True:
                    frame = await peer.hear(Opcode.PING)
                    pings += frame is not None
            await peer.text("still there")
            assert await ours.receive() == text("still there")
            assert pings >= 3600 // 20 - 1

    async def test_a_peer_that_gives_no_sign_of_life_is_gone(
        self, role: str, autojump_clock: trio.testing.MockClock
    ) -> None:
        async with opened(role, pings=PINGS, pongs=False) as (ours, _):
            began = trio.current_time()
            with pytest.raises(ConnectionLost, match="no sign of life for 20 s"):
                await ours.receive()
            assert trio.current_time() - began == pytest.approx(40)

    async def test_one_that_cannot_answer_but_speaks_is_there(
        self, role: str, autojump_clock: trio.testing.MockClock
    ) -> None:
        async with opened(role, pings=PINGS, pongs=False) as (ours, peer):
            for n in range(100):
                await trio.sleep(15)
                await peer.text(str(n))
                assert await ours.receive() == text(str(n))

    async def test_no_judgement_while_we_do_not_read(
        self, role: str, autojump_clock: trio.testing.MockClock
    ) -> None:
        """Its pongs stand behind messages that nobody takes."""
        async with opened(role, pings=PINGS) as (ours, peer):
            count = READ_AHEAD // 500_000 + 3
            for _ in range(count):
                await peer.text("x" * 500_000)
            await trio.sleep(600)
            for _ in range(count):
                assert await ours.receive() == text("x" * 500_000)

    async def test_a_slow_reader_is_there_as_long_as_it_takes_some(
        self, role: str, autojump_clock: trio.testing.MockClock
    ) -> None:
        here, there = trio.testing.lockstep_stream_pair()
        async with trio.open_nursery() as nursery:
            ours, _ = await opened_over(role, nursery, here, there)
            nursery.start_soon(websocket.WebSocketTransport.keep_alive, ours.transport)
            ours.transport._pings = PINGS
            nursery.start_soon(ours.send, text("x" * 900_000))
            heard = 0
            while heard < 900_000:
                await trio.sleep(15)
                heard += len(await there.receive_some(65_536))
            nursery.cancel_scope.cancel()
