"""What every transport does, whatever its medium."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from nevermind.shell.transports.transport import ConnectionLost, Goodbye
from proxy.shell.transports.rigs import RIGS, Rig

MEGABYTES = b"x" * 6_000_000
"""More than any pipe or pair of sockets holds, and than a WebSocket reads ahead."""

pytestmark = pytest.mark.parametrize("kind", RIGS)


@asynccontextmanager
async def rigged(kind: str, path: Path) -> AsyncIterator[Rig]:
    with trio.fail_after(30):
        async with RIGS[kind](path) as rig:  # type: ignore[attr-defined]
            yield rig


async def test_what_is_said_is_received_in_order(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig:
        for body in (b"one", b"two", b"three"):
            await rig.far.say(body)
        assert await rig.receive_all(11) == b"onetwothree"


async def test_what_is_sent_is_heard_in_order(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig:
        await rig.send(b"one", b"two", b"three")
        assert await rig.hear_all(11) == b"onetwothree"


async def test_the_end_comes_after_everything_and_is_orderly(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig:
        async with trio.open_nursery() as nursery:

            async def leave() -> None:
                await rig.far.say(b"last words")
                await rig.far.end()

            nursery.start_soon(leave)
            assert await rig.receive_all(10) == b"last words"
            assert await rig.receive() is None
        assert rig.transport.goodbye.orderly


async def test_megabytes_both_ways_at_once(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig, trio.open_nursery() as nursery:
        heard: list[bytes] = []

        async def hear() -> None:
            heard.append(await rig.hear_all(2 * len(MEGABYTES)))

        nursery.start_soon(rig.far.say, MEGABYTES)
        nursery.start_soon(rig.send, MEGABYTES, MEGABYTES)
        nursery.start_soon(hear)
        assert await rig.receive_all(len(MEGABYTES)) == MEGABYTES
    assert heard == [MEGABYTES * 2]


async def test_a_far_end_that_does_not_read_is_waited_for(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig, trio.open_nursery() as nursery:
        nursery.start_soon(rig.send, MEGABYTES)
        with trio.move_on_after(0.05):
            await trio.sleep_forever()
        assert rig.queue.pending
        assert await rig.hear_all(len(MEGABYTES)) == MEGABYTES


async def test_what_it_says_is_received_even_so(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig, trio.open_nursery() as nursery:
        nursery.start_soon(rig.send, MEGABYTES)
        await rig.far.say(b"meanwhile")
        assert await rig.receive_all(9) == b"meanwhile"
        assert rig.queue.pending
        nursery.cancel_scope.cancel()


async def test_to_stop_waiting_loses_nothing(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig:
        for body in (b"first", b"later"):
            with trio.move_on_after(0.02):
                await rig.receive()
                pytest.fail("nothing has been said yet")
            await rig.far.say(body)
            assert await rig.receive_all(5) == body


async def test_nothing_more_to_send(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig:
        await rig.send(b"all")
        async with trio.open_nursery() as nursery:

            async def end() -> None:
                await rig.transport.finish()
                await rig.transport.finish()
                assert await rig.hear_all(3) == b"all"
                if rig.transport.half_closes:
                    assert await rig.far.hear() == b""
                await rig.far.say(b"still there")

            nursery.start_soon(end)
            assert await rig.receive_all(11) == b"still there"


async def test_closing_is_seen_at_both_ends(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig, trio.open_nursery() as nursery:
        ended = trio.Event()

        async def receive() -> None:
            try:
                assert await rig.receive() is None
            except ConnectionLost:
                pass
            ended.set()

        async def hear() -> None:
            assert await rig.far.hear() == b""

        nursery.start_soon(receive)
        nursery.start_soon(hear)
        await rig.transport.close(Goodbye())
        await rig.transport.close(Goodbye())
        await ended.wait()


async def test_one_that_is_gone_is_found_to_be(kind: str, tmp_path: Path) -> None:
    async with rigged(kind, tmp_path) as rig:
        await rig.far.vanish()
        try:
            ended = await rig.receive()
        except ConnectionLost as lost:
            ended = None if lost.goodbye.lost else b"no"
        assert ended is None
        with pytest.raises(ConnectionLost):
            await send_for_ever(rig)


async def send_for_ever(rig: Rig) -> None:
    while True:
        await rig.send(MEGABYTES)
