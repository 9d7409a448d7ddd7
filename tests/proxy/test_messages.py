"""One JSON-RPC message is one WebSocket message is one line is one header-framed message."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.messages import Message, as_framed, as_line, from_body, from_line


class TestALineBecomesAMessage:
    def test_its_end_stays_behind(self) -> None:
        assert from_line(b'{"id":1}') == Message(b'{"id":1}', text=True)

    def test_so_does_the_cr_of_a_peer_that_ends_lines_with_cr_lf(self) -> None:
        assert from_line(b'{"id":1}\r') == Message(b'{"id":1}', text=True)

    def test_but_no_other_byte(self) -> None:
        assert from_line(b' \t{"id":1} \r\r') == Message(b' \t{"id":1} \r', text=True)

    @pytest.mark.parametrize("blank", [b"", b"\r", b" ", b"\t \r"])
    def test_a_blank_line_is_none(self, blank: bytes) -> None:
        assert from_line(blank) is None

    def test_text_beyond_ascii_is_text(self) -> None:
        assert from_line("é 😀".encode()) == Message("é 😀".encode(), text=True)

    @pytest.mark.parametrize(
        "body",
        [
            pytest.param(b'{"a":"\xff"}', id="no UTF-8 at all"),
            pytest.param(b'{"a":"\xed\xa0\x80"}', id="half a pair, encoded by itself"),
            pytest.param(b'{"a":"\xc3', id="cut in the middle of a character"),
        ],
    )
    def test_what_is_not_utf_8_is_binary(self, body: bytes) -> None:
        assert from_line(body) == from_body(body) == Message(body, text=False)


class TestAMessageBecomesALine:
    def test_it_gets_an_end(self) -> None:
        assert as_line(b'{"id":1}') == b'{"id":1}\n'

    def test_line_ends_between_tokens_become_spaces_one_for_one(self) -> None:
        assert as_line(b'{\r\n  "id": 1\n}') == b'{    "id": 1 }\n'

    def test_escaped_ones_inside_strings_stay(self) -> None:
        assert as_line(rb'{"a":"x\r\ny"}') == rb'{"a":"x\r\ny"}' + b"\n"

    def test_other_line_separators_of_unicode_stay(self) -> None:
        body = '{"a":"\u2028\u2029\u0085"}'.encode()
        assert as_line(body) == body + b"\n"

    @given(st.recursive(st.none() | st.text() | st.integers(), st.lists), st.integers(0, 4))
    def test_it_says_the_same(self, value: object, indent: int) -> None:
        body = json.dumps({"result": value}, indent=indent).replace("\n", "\r\n").encode()
        line = as_line(body)
        assert line.index(b"\n") == len(line) - 1
        assert len(line) == len(body) + 1
        assert json.loads(line) == {"result": value}


@given(st.binary())
def test_there_and_back_nothing_changes_but_the_end(body: bytes) -> None:
    line = body.replace(b"\n", b" ").replace(b"\r", b" ")
    message = from_line(line)
    if message is None:
        assert not line.strip()
    else:
        assert as_line(message.body) == line + b"\n"


def test_a_message_gets_a_header_with_its_length_in_bytes() -> None:
    assert as_framed('{"a":"é"}\n'.encode()) == 'Content-Length: 11\r\n\r\n{"a":"é"}\n'.encode()
