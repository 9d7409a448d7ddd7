"""Lines: any chunking yields the same frames, and stillness is an input like time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.frames import Frame
from nevermind.framing.lines import STILL_LIMIT, STILL_S, Lines, heads
from nevermind.scanning import BOM
from proxy.line_reader import MANY, Reader, read

HEADER = b"Content-Length: 8\r\n\r\n"


class TestLines:
    """A line ends at 0x0A and nowhere else."""

    def test_the_message_is_what_stands_before_it(self) -> None:
        """CR and white space belong to it; a blank line is a frame."""
        assert read(b'{"id":1}\n \r\n\n\x85x\xe2\x80\xa8\r\x0b\n') == [
            (b'{"id":1}\n', b'{"id":1}'),
            (b" \r\n", b" \r"),
            (b"\n", b""),
            (b"\x85x\xe2\x80\xa8\r\x0b\n", b"\x85x\xe2\x80\xa8\r\x0b"),
        ]

    def test_a_rest_is_held(self) -> None:
        """Until its line ends."""
        reader = Reader()
        assert reader.read(b'{"id"') == []
        assert reader.lines.size == 5
        assert reader.read(b":1}") == []
        assert reader.read(b'\n{"id":2}') == [(b'{"id":1}\n', b'{"id":1}')]
        assert reader.lines.take() == b'{"id":2}'
        assert reader.lines.size == 0

    def test_a_chunk_with_nothing_before_it_is_not_copied(self) -> None:
        """It is what comes out again."""
        chunk = b'{"id":1}\n{"id":2}\n{'
        assert Lines(MANY).feed(chunk, 0.0) is chunk

    def test_nothing_to_keep(self) -> None:
        """Is no news."""
        lines = Lines(MANY)
        lines.keep(b"", 5.0)
        assert (lines.size, lines.still_at) == (0, None)

    @given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b'{"id":1}', b"\n\n"]), max_size=12))
    def test_any_chunking(self, chunks: list[bytes]) -> None:
        """Yields the same frames."""
        whole = b"".join(chunks)
        bodies = [body for _, body in read(*chunks)]
        assert bodies == whole.split(b"\n")[:-1]


class TestLongLines:
    """A line that is longer than what may be held, or long enough to ask about it."""

    def test_overlong(self) -> None:
        """More than may be held."""
        lines = Lines(5)
        lines.feed(b"12345", 0.0)
        assert (lines.size, lines.overlong) == (5, False)
        lines.feed(b"6", 0.0)
        assert (lines.size, lines.overlong) == (6, True)

    def test_asked_once_a_line(self) -> None:
        """Whether it may go on already."""
        lines = Lines(MANY)
        lines.feed(b"123", 0.0)
        assert not lines.ask_once(3)
        lines.feed(b"4", 0.0)
        assert lines.ask_once(3)
        assert not lines.ask_once(3)
        lines.take()
        lines.feed(b"1234", 0.0)
        assert lines.ask_once(3)

    def test_not_asked_of_what_has_a_header(self) -> None:
        """Its length is known."""
        reader = Reader()
        reader.read(b"Content-Length: 100\r\n\r\n{")
        assert not reader.lines.ask_once(3)

    def test_its_head(self) -> None:
        """From as many chunks as it takes."""
        lines = Lines(MANY)
        assert lines.head(5) == b""
        for chunk in (b"ab", b"cd", b"ef"):
            lines.feed(chunk, 0.0)
        assert (lines.head(1), lines.head(3), lines.head(6), lines.head(9)) == (
            b"a",
            b"abc",
            b"abcdef",
            b"abcdef",
        )


class TestStillness:
    """When an unterminated rest is worth a look."""

    def test_some_time_after_the_last_byte(self) -> None:
        """Each puts it off."""
        lines = Lines(MANY)
        assert (lines.size, lines.still_at) == (0, None)
        lines.feed(b'{"id"', 5.0)
        assert lines.still_at == 5.0 + STILL_S
        lines.feed(b":1}", 6.0)
        assert lines.still_at == 6.0 + STILL_S

    def test_once_looked_at(self) -> None:
        """Not again before more comes."""
        lines = Lines(MANY)
        lines.feed(b'{"id"', 5.0)
        lines.hold_still(lines.take())
        assert (lines.size, lines.still_at) == (5, None)
        lines.feed(b":", 6.0)
        assert lines.still_at == 6.0 + STILL_S

    def test_a_long_rest_is_never_looked_at(self) -> None:
        """It would take too long."""
        lines = Lines(2 * STILL_LIMIT)
        lines.feed(b"x" * STILL_LIMIT, 5.0)
        assert (lines.size, lines.still_at) == (STILL_LIMIT, 5.0 + STILL_S)
        lines.feed(b"x", 5.0)
        assert (lines.size, lines.still_at) == (STILL_LIMIT + 1, None)

    def test_unless_it_has_a_header(self) -> None:
        """Then it stalls."""
        reader = Reader(Lines(2 * STILL_LIMIT))
        reader.read(b"Content-Length: %d\r\n\r\n{" % (STILL_LIMIT + 2), b"x" * STILL_LIMIT)
        assert reader.lines.still_at == STILL_S


class TestHeads:
    """The whole objects and arrays at the head of a still rest."""

    def test_one_by_one(self) -> None:
        """What comes before one belongs to it."""
        rest = b'{"id":1} {"id":2}[\n{}]'
        assert heads(rest) == [Frame(0, 8, 0, 8), Frame(8, 17, 9, 17), Frame(17, 22, 17, 22)]

    @pytest.mark.parametrize("rest", [b"", b" ", b"x", b"7", b'"{}"', b'{"id":1', b"[", b"n{}"])
    def test_none(self, rest: bytes) -> None:
        """Scalars have no end, and noise none at all."""
        assert heads(rest) == []

    def test_what_follows_them_stays(self) -> None:
        """Half an object, or something else."""
        assert heads(b'{"id":1}{"id"') == [Frame(0, 8, 0, 8)]
        assert heads(BOM + b"{} x") == [Frame(0, 5, 3, 5)]


@given(st.lists(st.binary(max_size=20) | st.sampled_from([HEADER, b"{", b"}", b"\n"]), max_size=8))
def test_any_bytes_at_all(chunks: list[bytes]) -> None:
    """Nothing is lost, nothing is made up, wherever the chunks end."""
    reader = Reader()
    frames = reader.read(*chunks)
    assert b"".join(frame for frame, _ in frames) + reader.lines.take() == b"".join(chunks)
