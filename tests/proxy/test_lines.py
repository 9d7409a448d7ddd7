"""Lines: any chunking yields the same frames, and stillness is an input like time."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.frames import Frame
from nevermind.framing import headers
from nevermind.framing.headers import NO_HEADER, Header, begins, read_header, with_length
from nevermind.framing.lines import STILL_LIMIT, STILL_S, Lines, heads
from nevermind.scanning import BOM

MANY = 1 << 20
HEADER = b"Content-Length: 8\r\n\r\n"
FRAMED = HEADER + b'{"id":1}'


@dataclass
class Reader:
    """What reads lines as one direction does: all frames that are whole, the rest held."""

    lines: Lines = field(default_factory=lambda: Lines(MANY))
    frames: list[tuple[bytes, bytes]] = field(default_factory=list)

    def read(self, *chunks: bytes) -> list[tuple[bytes, bytes]]:
        """The frames so far, each with the message in it."""
        for chunk in chunks:
            data = self.lines.feed(chunk, 0.0)
            at = 0
            while at < len(data):
                frame = self.lines.next(data, at)
                if frame is None:
                    break
                assert frame.start == at
                body = data[frame.body_start : frame.body_stop]
                self.frames.append((data[frame.start : frame.stop], body))
                at = frame.stop
            self.lines.keep(data[at:], 0.0)
        return self.frames


def read(*chunks: bytes) -> list[tuple[bytes, bytes]]:
    """The frames in these chunks, each with the message in it."""
    return Reader().read(*chunks)


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


class TestHeaderReading:
    """A ``Content-Length`` header, in a dialect of lines."""

    @pytest.mark.parametrize(
        "header",
        [
            b"Content-Length: 8\r\n\r\n",
            b"content-length:8\r\n\r\n",
            b"CONTENT-LENGTH:\t 8 \r\n\r\n",
            b"Content-Type: application/json\r\nContent-Length: 8\r\n\r\n",
            b"Content-Length: 8\r\nX-Other:\r\nContent-Type: x\r\n\r\n",
        ],
    )
    def test_it_is_one(self, header: bytes) -> None:
        """In any case, with other fields or without."""
        for opener in (b"{", b"["):
            assert begins(b"\n" + header, 1)
            assert read_header(b"\n" + header + opener, 1, 8) == Header(len(header) + 1, 8)

    @pytest.mark.parametrize(
        "data",
        [
            b"Content-Length: 8\n\n{",
            b"Content-Length: 8\r\n{}\n",
            b"Content-Length: 8\r\n\r\nx",
            b"Content-Length: 8\r\n\r\n\r\n{",
            b"Content-Length: x\r\n\r\n{",
            b"Content-Length: -8\r\n\r\n{",
            b"Content-Length: 8 8\r\n\r\n{",
            b"Content-Length: 9\r\n\r\n{",
            b"Content-Length: 9999999999999999\r\n\r\n{",
            b"Content-Length 8\r\n\r\n{",
            b"Content-Type: x\r\n\r\n{",
            b"Content-Length: 8\r\nwhatever\r\n\r\n{",
        ],
    )
    def test_it_is_none(self, data: bytes) -> None:
        """No length, too long, not closed, or nothing that could be a message behind it."""
        assert read_header(data, 0, 8) is NO_HEADER

    @pytest.mark.parametrize("cut", range(15, len(FRAMED) - 8 + 1))
    def test_more_is_needed_to_tell(self, cut: int) -> None:
        """Wherever it is cut."""
        assert read_header(FRAMED[:cut], 0, 8) is None

    def test_too_long_to_be_one(self) -> None:
        """Real ones take a line or two."""
        for filler in (b"x" * headers.LONGEST_HEADER, b"x\r\nX: " * headers.LONGEST_HEADER):
            assert read_header(b"Content-Type: " + filler, 0, 8) is NO_HEADER

    @pytest.mark.parametrize("line", [b"", b"Content", b"Content-Length", b'{"id":1}', b"X: 1\r\n"])
    def test_it_does_not_begin_so(self, line: bytes) -> None:
        """Most lines can be told by their first bytes."""
        assert not begins(line, 0)

    def test_another_length(self) -> None:
        """In its place, everything else as it was."""
        header = b"content-length:\t8 \r\nX-Other: content-length: 8\r\n\r\n"
        assert with_length(header, 1234) == (
            b"content-length:\t1234 \r\nX-Other: content-length: 8\r\n\r\n"
        )


class TestHeaderFrames:
    """Messages with a header, among lines."""

    def test_the_choice_holds_for_one_frame(self) -> None:
        """Lines go on behind it."""
        assert read(b"{}\n" + FRAMED + FRAMED + b'{"id":2}\n') == [
            (b"{}\n", b"{}"),
            (FRAMED, b'{"id":1}'),
            (FRAMED, b'{"id":1}'),
            (b'{"id":2}\n', b'{"id":2}'),
        ]

    def test_space_behind_the_message_is_part_of_it(self) -> None:
        """If the length says so; a newline in it too."""
        frame = b'Content-Length: 12\r\n\r\n{"id":\n1} \r\n'
        assert read(frame + b"{}\n") == [(frame, b'{"id":\n1} \r\n'), (b"{}\n", b"{}")]

    @pytest.mark.parametrize("body", [b'{"id":1}x', b'{"id":12', b'{"id":1}{', b"["])
    def test_a_length_that_does_not_fit(self, body: bytes) -> None:
        """Proves nothing: those bytes pass as they are."""
        frame = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        assert read(frame + b"{}\n") == [(frame, b""), (b"{}\n", b"{}")]

    def test_no_length_at_all(self) -> None:
        """Nothing is framed."""
        assert read(b"Content-Length: 0\r\n\r\n{}\n")[0] == (b"Content-Length: 0\r\n\r\n", b"")

    def test_what_looks_like_a_header_and_is_none(self) -> None:
        """Is a line."""
        assert read(b"Content-Length: 8\r\n\r\nhello\n") == [
            (b"Content-Length: 8\r\n", b"Content-Length: 8\r"),
            (b"\r\n", b"\r"),
            (b"hello\n", b"hello"),
        ]

    def test_how_much_is_awaited(self) -> None:
        """So that a large message is put together once."""
        reader = Reader()
        reader.read(HEADER[:10])
        assert reader.lines.awaited == 0, "it is not even a line yet"
        reader.read(HEADER[10:])
        assert reader.lines.awaited == len(HEADER) + 1
        reader.read(b"{")
        assert reader.lines.awaited == len(FRAMED)
        reader.read(b'"id":')
        assert reader.lines.awaited == len(FRAMED)
        assert reader.read(b"1}") == [(FRAMED, b'{"id":1}')]
        assert reader.lines.awaited == 0

    @given(
        st.lists(
            st.sampled_from([FRAMED, b"{}\n", b"\n", b"Content-Length: x\r\n", b"content-x\n"]),
            max_size=6,
        ),
        st.lists(st.integers(0, 120), max_size=6),
    )
    def test_any_chunking(self, pieces: list[bytes], cuts: list[int]) -> None:
        """Yields the same frames, of lines and headers alike."""
        whole = b"".join(pieces)
        places = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
        chunks = [whole[a:b] for a, b in pairwise(places)]
        once = Reader()
        cut = Reader()
        assert cut.read(*chunks) == once.read(whole)
        assert cut.lines.take() == once.lines.take()


@given(st.lists(st.binary(max_size=20) | st.sampled_from([HEADER, b"{", b"}", b"\n"]), max_size=8))
def test_any_bytes_at_all(chunks: list[bytes]) -> None:
    """Nothing is lost, nothing is made up, wherever the chunks end."""
    reader = Reader()
    frames = reader.read(*chunks)
    assert b"".join(frame for frame, _ in frames) + reader.lines.take() == b"".join(chunks)
