"""Messages with a ``Content-Length`` header among lines."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.framing import headers
from nevermind.framing.headers import NO_HEADER, Header, begins, read_header, with_length
from proxy.header_frames import frame
from proxy.line_reader import Reader, read

HEADER = b"Content-Length: 8\r\n\r\n"
FRAMED = HEADER + b'{"id":1}'


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
        framed = b'Content-Length: 12\r\n\r\n{"id":\n1} \r\n'
        assert read(framed + b"{}\n") == [(framed, b'{"id":\n1} \r\n'), (b"{}\n", b"{}")]

    @pytest.mark.parametrize("body", [b'{"id":1}x', b'{"id":12', b'{"id":1}{', b"["])
    def test_a_length_that_does_not_fit(self, body: bytes) -> None:
        """Proves nothing: those bytes pass as they are."""
        framed = frame(body)
        assert read(framed + b"{}\n") == [(framed, b""), (b"{}\n", b"{}")]

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
