"""WebSockets, against a peer of another make: the RFC's cases, sizes, pings, ends.

The clock is virtual: an hour passes at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from websockets.frames import Opcode

from nevermind.framing.lines import Lines
from nevermind.mailbox import Mailbox
from nevermind.messages import Message
from nevermind.shell.transports import websocket
from nevermind.shell.transports.transport import ConnectionLost, Goodbye
from nevermind.shell.transports.wire import READ_AHEAD, Wire
from proxy.shell.transports import rfc_peer
from proxy.shell.transports.rfc_peer import RfcPeer

LIMIT = 1_000_000
PINGS = websocket.Pings(20, 20)
NO_PINGS = websocket.Pings(0, 0)


class Ours:
    """Our end, with something to send."""

    def __init__(self, transport: websocket.WebSocketTransport, nursery: trio.Nursery) -> None:
        self.transport = transport
        self.nursery = nursery
        self.receive = transport.receive
        self.close = transport.close
        self._mailbox = Mailbox(LIMIT, LIMIT, Lines(LIMIT))

    async def send(self, *messages: Message) -> None:
        for message in messages:
            self._mailbox.put(message)
        while self._mailbox.pending:
            await self.transport.send(self._mailbox)


@asynccontextmanager
async def opened(
    role: str, *, pings: websocket.Pings = NO_PINGS, pongs: bool = True
) -> AsyncIterator[tuple[Ours, RfcPeer]]:
    """A WebSocket between us, in this role, and a peer of another make."""
    here, there = trio.testing.memory_stream_pair()
    peers: list[RfcPeer] = []
    ours: list[websocket.WebSocketTransport] = []
    async with trio.open_nursery() as nursery:

        async def call() -> None:
            peers.append(await rfc_peer.call(there, "mcp", pongs=pongs))

        async def answer() -> None:
            peers.append(await rfc_peer.answer(there, "mcp", pongs=pongs))

        async with trio.open_nursery() as opening:
            if role == "client":
                opening.start_soon(answer)
                ours.append(await connect(nursery, here, pings))
            else:
                opening.start_soon(call)
                ours.append(await accept(nursery, here, pings))
        yield Ours(ours[0], nursery), peers[0]
        nursery.cancel_scope.cancel()


async def connect(
    nursery: trio.Nursery, stream: trio.abc.Stream, pings: websocket.Pings
) -> websocket.WebSocketTransport:
    return await websocket.connect(
        nursery,
        Wire(stream, LIMIT),
        authority="there",
        target="/path?query",
        subprotocols=["mcp"],
        headers=[],
        limit=LIMIT,
        pings=pings,
    )


async def accept(
    nursery: trio.Nursery, stream: trio.abc.Stream, pings: websocket.Pings, rest: bytes = b""
) -> websocket.WebSocketTransport:
    head = b""
    while b"\r\n\r\n" not in head:
        head += bytes(await stream.receive_some(65536))
    wire = Wire(stream, LIMIT, head=head, rest=rest)
    return await websocket.accept(nursery, wire, subprotocol="mcp", limit=LIMIT, pings=pings)


both_roles = pytest.mark.parametrize("role", ["client", "server"])


def text(body: str) -> Message:
    return Message(body.encode(), text=True)


@both_roles
class TestMessages:
    async def test_text_stays_text_and_binary_binary(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            await peer.text("é")
            await peer.binary(b"\xff\x00")
            await peer.text("")
            got = [await ours.receive() for _ in range(3)]
            assert got == [text("é"), Message(b"\xff\x00", text=False), text("")]
            await ours.send(text("é"), Message(b"{}", text=False), text(""))
            assert [await peer.message() for _ in range(3)] == ["é", b"{}", ""]

    async def test_fragments_are_one_message(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            whole = "né".encode()
            await peer.fragments(whole[:2], b"", whole[2:])
            assert await ours.receive() == text("né")

    async def test_one_message_out_is_one_frame(self, role: str) -> None:
        """Some peers refuse continuation frames."""
        async with opened(role) as (ours, peer):
            await ours.send(text("x" * 900_000))
            frame = await peer.hear()
            assert frame is not None
            assert (frame.fin, len(frame.data)) == (True, 900_000)

    async def test_the_choice_of_a_subprotocol_is_known(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            assert ours.transport.subprotocol == "mcp" == peer.protocol.subprotocol

    async def test_thousands_come_and_go_in_order(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            bodies = [str(n) for n in range(3000)]
            async with trio.open_nursery() as nursery:

                async def say() -> None:
                    for body in bodies:
                        await peer.text(body)

                nursery.start_soon(say)
                assert [await ours.receive() for _ in bodies] == list(map(text, bodies))
            await ours.send(*map(text, bodies))
            assert [await peer.message() for _ in bodies] == bodies


@both_roles
class TestSizes:
    async def test_the_limit_is_in_bytes_and_allowed(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            body = "é" * (LIMIT // 2)
            await peer.text(body)
            assert await ours.receive() == text(body)

    @pytest.mark.parametrize("parts", [1, 3])
    async def test_more_is_refused_with_its_size(self, role: str, parts: int) -> None:
        async with opened(role) as (ours, peer):
            await peer.text("before")
            size = LIMIT + 2
            part = b"x" * (size // parts)
            if parts == 1:
                await peer.text("x" * size)
            else:
                await peer.fragments(*[part] * parts)
            assert await ours.receive() == text("before")
            with pytest.raises(ConnectionLost) as lost:
                await ours.receive()
            why = f"a message of {len(part) * parts} bytes is over the limit of {LIMIT}"
            assert lost.value.goodbye == Goodbye(1009, why, lost=True)
            ours.nursery.start_soon(ours.close, lost.value.goodbye)
            assert await peer.closing() == (1009, why)

    async def test_nothing_of_it_is_waited_for(self, role: str) -> None:
        """Its header says enough."""
        async with opened(role) as (ours, peer):
            mask = bytes([0x80 | 127]) if role == "server" else bytes([127])
            await peer.raw(b"\x81" + mask + (10**15).to_bytes(8) + b"mask")
            with pytest.raises(ConnectionLost, match=f"of {10**15} bytes"):
                await ours.receive()


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


MASKED = b"\x80\x00\x00\x00\x00"
BAD_FRAMES = {
    "reserved bits": (b"\xc1", b"\x00", 1002),
    "a reserved opcode": (b"\x83", b"\x00", 1002),
    "a reserved control opcode": (b"\x8b", b"\x00", 1002),
    "a ping in fragments": (b"\x09", b"\x00", 1002),
    "a ping that is too long": (b"\x89", b"\x7e\x00\x7e", 1002),
    "a continuation of nothing": (b"\x80", b"\x00", 1002),
    "a length of two bytes where one would do": (b"\x81", b"\x7e\x00\x05", 1002),
    "a length of eight bytes where two would do": (b"\x81", b"\x7f" + (200).to_bytes(8), 1002),
    "a close of one byte": (b"\x88", b"\x01x", 1002),
    "a close with 1005": (b"\x88", b"\x02\x03\xed", 1002),
    "a close with 1006": (b"\x88", b"\x02\x03\xee", 1002),
    "a close with 999": (b"\x88", b"\x02\x03\xe7", 1002),
    "a close with 5000": (b"\x88", b"\x02\x13\x88", 1002),
    "text that is not UTF-8": (b"\x81", b"\x02\xc3\x28", 1007),
    "text that ends within a character": (b"\x81", b"\x01\xc3", 1007),
    "half a surrogate pair": (b"\x81", b"\x03\xed\xa0\x80", 1007),
    "a close whose reason is not UTF-8": (b"\x88", b"\x03\x03\xe8\xff", 1007),
}


def frame(first: bytes, rest: bytes, *, masked: bool) -> bytes:
    """``rest`` is length and payload; masked with zeros it reads the same."""
    if not masked:
        return first + rest
    header = 3 if rest[0] == 126 else 9 if rest[0] == 127 else 1
    return (
        first + bytes([rest[0] | 0x80]) + rest[1:header] + b"\0\0\0\0" + rest[header:] + b"x" * 200
    )


@both_roles
class TestBrokenFrames:
    @pytest.mark.parametrize("kind", BAD_FRAMES)
    async def test_are_refused_with_a_code(self, role: str, kind: str) -> None:
        first, rest, code = BAD_FRAMES[kind]
        async with opened(role) as (ours, peer):
            await peer.text("before")
            await peer.raw(frame(first, rest, masked=role == "server"))
            assert await ours.receive() == text("before")
            with pytest.raises(ConnectionLost, match="broke the protocol") as lost:
                await ours.receive()
            assert lost.value.goodbye.code == code
            ours.nursery.start_soon(ours.close, lost.value.goodbye)
            assert (await peer.closing())[0] == code

    async def test_a_mask_where_none_must_be_or_none_where_one_must(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            await peer.raw(frame(b"\x81", b"\x02{}", masked=role == "client"))
            with pytest.raises(ConnectionLost, match="broke the protocol") as lost:
                await ours.receive()
            assert lost.value.goodbye.code == 1002

    async def test_a_new_message_within_another(self, role: str) -> None:
        async with opened(role) as (ours, peer):
            masked = role == "server"
            await peer.raw(frame(b"\x01", b"\x01a", masked=False) if not masked else b"")
            if masked:
                await peer.raw(b"\x01\x81\0\0\0\0a" + b"\x81\x81\0\0\0\0b")
            else:
                await peer.raw(frame(b"\x81", b"\x01b", masked=False))
            with pytest.raises(ConnectionLost, match="broke the protocol"):
                await ours.receive()
