"""Header framing: bytes in whatever pieces, the same frames out, and no byte lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.framing.content_length import LONGEST_HEADER, STILL_S, ContentLength, with_length
from proxy.header_frames import frame

MESSAGE = b'{"jsonrpc":"2.0","id":1,"method":"textDocument/hover"}'


def read(*chunks: bytes, longest: int = 1 << 20) -> tuple[list[bytes], bytes, bytes]:
    """The messages in the chunks, the bytes that are in no message's frame, and the rest."""
    framing = ContentLength(longest)
    messages: list[bytes] = []
    stray = b""
    given_out = b""
    for now, chunk in enumerate(chunks):
        data = framing.feed(chunk, float(now))
        at = 0
        while at < len(data) and (found := framing.next(data, at)):
            start, stop, body_start, body_stop = found
            assert start == at < stop <= len(data)
            assert start <= body_start <= body_stop == stop
            if body_start < body_stop:
                messages.append(data[body_start:body_stop])
            else:
                stray += data[start:stop]
            given_out += data[start:stop]
            at = stop
        framing.keep(data[at:], float(now))
    rest = framing.take()
    assert given_out + rest == b"".join(chunks)
    return messages, stray, rest


class TestHeaders:
    @pytest.mark.parametrize(
        "header",
        [
            b"Content-Length: <n>\r\n\r\n",
            b"content-length:<n>\r\n\r\n",
            b"CONTENT-LENGTH:\t <n> \t\r\n\r\n",
            b"Content-Length : <n>\r\n\r\n",
            b"Content-Length: 00<n>\r\n\r\n",
            b"Content-Type: application/vscode-jsonrpc; utf-8\r\nContent-Length: <n>\r\n\r\n",
            b"Content-Length: <n>\r\nContent-Type: application/vscode-jsonrpc;charset=utf8\r\n\r\n",
            b"X-Trace: \xff{\r\nContent-Length: <n>\r\nx-empty:\r\n\r\n",
            b"Content-Length: <n>\r\nContent-Length: <n>\r\n\r\n",
            b"Content-Length: <n>\n\n",
            b"Content-Length: <n>\r\n\n",
            b"Content-Type: x\r\nContent-Length: <n>\n\r\n",
            b"Content-Length: <n>\r\nX: printed with bare lines\n\n",
        ],
    )
    def test_a_header_may_be_spelled_like_this(self, header: bytes) -> None:
        data = frame(MESSAGE, header=header)
        assert read(data) == ([MESSAGE], b"", b"")
        assert read(*(data[i : i + 1] for i in range(len(data)))) == ([MESSAGE], b"", b"")

    def test_lengths_are_bytes(self) -> None:
        first, second = '{"t":"ü語🦊"}'.encode(), b'{"t":1}'
        assert read(frame(first) + frame(second)) == ([first, second], b"", b"")

    def test_a_message_may_hold_anything(self) -> None:
        bodies = [
            b"\r\n",
            b"x",
            frame(b"{}"),
            b"\x00\xff",
            b'{\r\n\r\n"a": 1}',
            b"Content-Length: ",
        ]
        assert read(b"".join(map(frame, bodies))) == (bodies, b"", b"")

    def test_a_message_may_be_empty(self) -> None:
        assert read(frame(b"") + frame(MESSAGE)) == ([MESSAGE], frame(b""), b"")

    @pytest.mark.parametrize(
        "length",
        [b"", b"-5", b"+5", b"5.0", b"0x5", b"5, 5", b"5 5", b"five", b"9" * 16, b"\xd9\xa3"],
    )
    def test_a_length_is_a_plain_number(self, length: bytes) -> None:
        broken = b"Content-Length: " + length + b"\r\n\r\n"
        assert read(broken + frame(MESSAGE)) == ([MESSAGE], broken, b"")

    def test_two_lengths_that_differ_are_none(self) -> None:
        # whichever a receiver believes: no byte of the header may be parted from the others
        broken = b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n"
        assert read(broken + b"{} " + frame(MESSAGE)) == ([MESSAGE], broken + b"{} ", b"")

    def test_a_header_of_kilobytes_is_none(self) -> None:
        field = b"X: " + b"x" * 1000 + b"\r\n"
        short, long = field * 7, field * (LONGEST_HEADER // len(field) + 1)
        assert read(short + frame(MESSAGE)) == ([MESSAGE], b"", b"")
        messages, stray, rest = read(long + frame(MESSAGE))
        assert (messages, rest) == ([MESSAGE], b"")
        assert stray
        assert set(stray.split(b"\r\n")) == {field[:-2], b""}


class TestWhatIsNoFrame:
    @pytest.mark.parametrize(
        "noise",
        [
            b"Listening on stdin\n",
            b"INFO: started\n",
            b"[warn] no config: using defaults\r\n",
            b"\xff\xfe\x00\n",
            b"\n",
            b"\r\n\r\n",
            b"   \t",
            b'{"jsonrpc":"2.0","id":1,"result":null}\n',
            b'{"jsonrpc":"2.0","id":1,"result":null}',
            b"x",
            b"HTTP/1.1 200 OK\r\n",
            b"Server: ready\r\n\r\n",
            b"no line end at all",
            b"c",
            b"conte",
        ],
    )
    def test_noise_passes_and_the_next_header_is_found(self, noise: bytes) -> None:
        data = frame(MESSAGE) + noise + frame(MESSAGE) + frame(b"{}")
        expected = ([MESSAGE, MESSAGE, b"{}"], noise, b"")
        assert read(data) == expected
        assert read(*(data[i : i + 1] for i in range(len(data)))) == expected

    def test_a_printed_line_that_looks_like_a_field_is_not_of_the_header(self) -> None:
        # the header may be dropped, the line must not go with it
        assert read(b"INFO: ready\n" + frame(MESSAGE)) == ([MESSAGE], b"INFO: ready\n", b"")

    def test_a_field_of_its_own_line_ends_is_of_the_header(self) -> None:
        assert read(b"X-Info: ready\r\n" + frame(MESSAGE)) == ([MESSAGE], b"", b"")

    def test_a_header_that_nothing_closes_is_noise_once_that_is_known(self) -> None:
        broken = b"Content-Length: 10\r\nand then it crashed\n"
        assert read(broken + frame(MESSAGE)) == ([MESSAGE], broken, b"")

    def test_a_length_that_is_too_short_costs_no_other_message(self) -> None:
        # as by a peer that counts characters
        body = '{"t":"ü語🦊"}'.encode()
        short = frame(body).replace(b"%d" % len(body), b"%d" % len(body.decode()))
        messages, stray, rest = read(short + frame(MESSAGE))
        assert messages == [body[: len(body.decode())], MESSAGE]
        assert (stray, rest) == (body[len(body.decode()) :], b"")

    def test_a_length_that_is_too_long_costs_one_message(self) -> None:
        long = frame(MESSAGE).replace(b"%d" % len(MESSAGE), b"%d" % (len(MESSAGE) + 7))
        messages, stray, rest = read(long + frame(MESSAGE) + frame(b"{}"))
        assert messages == [MESSAGE + b"Content", b"{}"]
        assert (stray, rest) == (frame(MESSAGE)[7:], b"")

    def test_the_rest_of_a_line_is_given_out_but_for_what_may_begin_a_header(self) -> None:
        assert read(b"{} and so on conten") == ([], b"{} and so on ", b"conten")
        assert read(b"{}Content-Typ") == ([], b"{}", b"Content-Typ")
        assert read(b"{}Content-Ty ped") == ([], b"{}Content-Ty ped", b"")


class TestStillness:
    def framing(self, data: bytes) -> ContentLength:
        framing = ContentLength(1 << 20)
        assert framing.feed(data, 5.0) == data
        at = 0
        while at < len(data) and (found := framing.next(data, at)):
            at = found.stop
        framing.keep(data[at:], 5.0)
        return framing

    def test_with_nothing_held_there_is_nothing_to_wait_for(self) -> None:
        assert self.framing(frame(MESSAGE)).still_at is None

    @pytest.mark.parametrize(
        "rest", [b"INFO: started\n", b"X", b"Server ", b"X-A: 1\r\nX-B: 2\r\n\r"]
    )
    def test_what_only_resembles_a_header_is_not_waited_for_long(self, rest: bytes) -> None:
        assert self.framing(rest).still_at == 5.0 + STILL_S

    @pytest.mark.parametrize(
        "rest",
        [b"C", b"conTENT", b"Content-Length", b"Content-Length: 5\r\n\r", b"X-A: 1\r\nContent-L"],
    )
    def test_a_header_on_its_way_may_take_its_time(self, rest: bytes) -> None:
        assert self.framing(rest).still_at is None

    def test_a_message_on_its_way_may_take_its_time(self) -> None:
        framing = self.framing(frame(MESSAGE)[:-1])
        assert framing.still_at is None
        assert framing.awaited == len(frame(MESSAGE))

    def test_what_was_given_up_is_noise_to_the_end_of_its_line(self) -> None:
        framing = self.framing(b"Server")
        assert framing.give_up() == b"Server"
        data = b": ready\n" + frame(MESSAGE)
        found = framing.next(data, 0)
        assert found is not None
        assert data[: found.stop] == b": ready\n"
        framing = self.framing(b"X: 1\r\n")
        assert framing.give_up() == b"X: 1\r\n"
        assert framing.next(frame(MESSAGE), 0) is not None

    def test_behind_noise_a_few_letters_are_more_noise(self) -> None:
        assert self.framing(b"{}conte").still_at == 5.0 + STILL_S
        assert self.framing(b"{}content-").still_at is None


class TestOverlong:
    def test_it_is_given_out_once_its_beginning_is_there(self) -> None:
        framing = ContentLength(10_000)
        header = b"Content-Length: 20000\r\n\r\n"
        assert framing.feed(header, 0.0) == header
        assert framing.next(header, 0) is None
        framing.keep(header, 0.0)
        assert framing.awaited == len(header) + 4096
        assert framing.feed(b"{" * 4095, 0.0) == b""
        data = framing.feed(b"{", 0.0)
        found = framing.next(data, 0)
        assert found is not None
        assert found.stop - found.body_start == 20_000
        assert found.stop > len(data)

    def test_a_short_one_is_waited_for(self) -> None:
        framing = ContentLength(10)
        assert framing.next(frame(MESSAGE)[:-1], 0) is None
        found = framing.next(frame(MESSAGE) + b"x", 0)
        assert found is not None
        assert found.stop == len(frame(MESSAGE))


class TestLengths:
    @pytest.mark.parametrize(
        ("header", "changed"),
        [
            (b"Content-Length: 9\r\n\r\n", b"Content-Length: 10\r\n\r\n"),
            (b"content-length :\t0009 \nX: 9\n\n", b"content-length :\t10 \nX: 9\n\n"),
            (
                b"X-Content-Length: 9\r\nContent-Length: 9\r\nContent-Length:9\r\n\r\n",
                b"X-Content-Length: 9\r\nContent-Length: 10\r\nContent-Length:10\r\n\r\n",
            ),
        ],
    )
    def test_only_the_number_is_changed(self, header: bytes, changed: bytes) -> None:
        assert with_length(header, 10) == changed


PIECES = st.one_of(
    st.binary(max_size=20).map(frame),
    st.sampled_from([MESSAGE, b"[]", b"{}\n"]).map(frame),
    st.sampled_from(
        [
            b"Content-Length: 3\n\nabc",
            b"Content-Type: x\r\nContent-Length: 2\r\n\r\n{}",
            b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n",
            b"Content-Length: \r\n\r\n",
            b"Content-Length: 5\r\nno\r\n",
            b"INFO: x\n",
            b"conten",
            b"\r\n",
            b"{}",
            b" ",
            b"Content-Length: 99999\r\n\r\n{}",
        ]
    ),
    st.binary(max_size=20),
)


@given(st.lists(PIECES, max_size=8).map(b"".join), st.lists(st.integers(1, 30), max_size=30))
def test_any_pieces_give_the_same_frames(data: bytes, sizes: list[int]) -> None:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(data[at : at + size])
        at += size
    chunks = [chunk for chunk in [*chunks, data[at:]] if chunk]
    messages, stray, rest = read(data) if data else ([], b"", b"")
    in_pieces = read(*chunks)
    assert in_pieces[0] == messages
    assert in_pieces[1] + in_pieces[2] == stray + rest
