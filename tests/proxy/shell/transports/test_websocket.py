"""WebSockets, against a peer of another make: the RFC's cases, sizes, broken frames."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from nevermind.messages import Message
from nevermind.shell.transports.transport import ConnectionLost, Goodbye
from proxy.shell.transports.opened_websocket import LIMIT, both_roles, opened, text


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
