"""WebSockets, against a peer of another make: how they end, and with which codes."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from nevermind.shell.transports.transport import ConnectionLost, Goodbye
from proxy.shell.transports.opened_websocket import both_roles, opened, text

CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 3999, 4000, 4999]


@both_roles
class TestEnds:
    @pytest.mark.parametrize("code", [*CODES, None])
    async def test_the_peers_code_and_reason_are_known(self, role: str, code: int | None) -> None:
        async with opened(role) as (ours, peer):
            await peer.text("last words")
            await peer.close(code, "" if code is None else "enough")
            assert await ours.receive() == text("last words")
            assert await ours.receive() is None
            goodbye = ours.transport.goodbye
            assert goodbye == Goodbye(code, "" if code is None else "enough")
            assert goodbye.orderly is (code in (None, 1000, 1001))
            assert await peer.closing() == (code, "" if code is None else "enough")

    @pytest.mark.parametrize("code", CODES)
    async def test_ours_are_told_to_the_peer(self, role: str, code: int) -> None:
        async with opened(role) as (ours, peer):
            ours.nursery.start_soon(ours.close, Goodbye(code, "enough"))
            assert await peer.closing() == (code, "enough")

    async def test_the_lack_of_a_code_is_no_code_on_the_wire(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            ours.nursery.start_soon(ours.close, Goodbye(None))
            assert await peer.closing() == (None, "")

    @pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1014, 1015, 1016, 2999, 5000])
    async def test_what_must_not_be_sent_is_an_error_of_ours(self, role: str, code: int) -> None:
        async with opened(role) as (ours, peer):
            ours.nursery.start_soon(ours.close, Goodbye(code, "lost"))
            assert await peer.closing() == (1011, "lost")

    async def test_a_long_reason_is_cut_between_two_characters(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            ours.nursery.start_soon(ours.close, Goodbye(1000, "é" * 100))
            assert await peer.closing() == (1000, "é" * 61)

    async def test_a_peer_that_does_not_answer_a_close_is_left(
        self, role: str, autojump_clock: trio.testing.MockClock
    ) -> None:
        async with opened(role, pongs=False) as (ours, _):
            began = trio.current_time()
            await ours.close(Goodbye())
            assert trio.current_time() - began < 2

    async def test_what_follows_a_close_is_nothing(self, role: str) -> None:
        """And our answer to the close is written, although we end before it is."""
        async with opened(role) as (ours, peer):
            mask = 0x80 if role == "server" else 0
            key = b"mask" if mask else b""
            too_big = b"\x81" + bytes([mask | 127]) + (10**9).to_bytes(8) + key
            await peer.raw(b"\x88" + bytes([mask]) + key + too_big)
            assert await ours.receive() is None
            assert ours.transport.goodbye == Goodbye(None)
            ours.nursery.start_soon(ours.close, Goodbye(1009))
            assert await peer.closing() == (None, "")
            assert await peer.hear() is None

    async def test_a_lost_connection_is_no_close(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            await trio.aclose_forcefully(peer._stream)
            with pytest.raises(ConnectionLost, match="the connection was lost") as lost:
                await ours.receive()
            assert lost.value.goodbye.lost
