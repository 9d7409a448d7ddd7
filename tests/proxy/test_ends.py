"""The two ends of a long message: what its first and last bytes show of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.ends import END, TOKEN, Head, Tail
from nevermind.ids import Key
from proxy.messages import answer, call, error

ID = ("id",)
MIDDLE = b"x" * END


class TestHead:
    """The first bytes."""

    @pytest.mark.parametrize(
        ("head", "kind", "method"),
        [
            (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', "request", "x"),
            (b'{"method":"\\u0078","params":{', "request", "x"),
            (b'{"id":7,"result":{"a":"', "result", None),
            (b'{"result":', "object", None),
            (b'{"result":"', "result", None),
            (b'{"id":7,"error":{"code"', "error", None),
            (b'{"error":{},"result":[', "error", None),
            (b'{"params":{"a":"', "object", None),
            (b'{"method":"x', "object", None),
            (b'{"method":7,"params":{', "object", None),
            (b'{"method":null,"result":{', "object", None),
            (b"{", "object", None),
            (b'\xef\xbb\xbf {"id":7,"result":{', "result", None),
            (b'[{"id":7', "array", None),
            (b"listening", "", None),
            (b"", "", None),
        ],
    )
    def test_what_kind_of_message_it_is(self, head: bytes, kind: str, method: str | None) -> None:
        """As far as it can be told by now."""
        found = Head(head)
        assert (found.kind, found.method) == (kind, method)

    def test_what_is_still_arriving(self) -> None:
        """The last member may be."""
        assert Head(b'{"id":7,"params":{"a"').cut == "params"
        assert Head(b'{"id":7').cut == "id"
        assert Head(b'{"id":7}').cut is None
        assert Head(b"[").cut is None

    def test_its_id(self) -> None:
        """If it is whole, and can be tracked."""
        assert Head(b'{"id":7.0,"result":{').key(ID) == 7
        assert Head(b'{"id":7').key(ID) is None
        assert Head(b'{"id":null,"result":{').key(ID) is None
        assert Head(b'{"result":{"id":7,').key(ID) is None
        assert Head(b'{"id":null,"result":{').has("id")
        assert not Head(b'{"id":7').has("id")

    def test_its_token(self) -> None:
        """In an object that may be cut off."""
        head = Head(b'{"id":7,"method":"x","params":{"_meta":{"progressToken":"t"},"a":"')
        assert head.key(TOKEN) == "t"
        assert head.find(TOKEN) == (56, 59)
        assert Head(b'{"params":{"_meta":{"progressToken":"t","a').key(TOKEN) == "t"
        for early in (
            b'{"params":{"_meta":{"progressToken":"t"',
            b'{"params":{"_meta":7,"a":"',
            b"{",
        ):
            assert Head(early).key(TOKEN) is None

    def test_of_a_repeated_key_the_last_counts(self) -> None:
        """And it is known that it repeats."""
        head = Head(b'{"id":7,"id":8,"result":{')
        assert head.key(ID) == 8
        assert head.repeats
        assert not Head(b'{"id":7,"result":{"id":1,"id":2,').repeats

    def test_words(self) -> None:
        """Wherever they stand."""
        assert Head(b'{"result":{"task":').shows(b'"task"')
        assert not Head(b'{"result":{"tasks":').shows(b'"task"')

    def test_a_small_message_with_the_same_id_and_token(self) -> None:
        """To be judged in the long one's place."""
        head = Head(b'{"method":"x","id" : 7.0,"params":{"_meta":{"progressToken":"t"},"a":"')
        assert head.excerpt((ID, TOKEN)) == (b'{"id":7.0,"params":{"_meta":{"progressToken":"t"}}}')
        assert head.excerpt((("x",),)) == b"{}"
        assert Head(b"[").excerpt((ID,)) == b"{}"


class TestTail:
    """The last bytes."""

    @pytest.mark.parametrize(
        ("end", "key", "method"),
        [
            (b'"},"id":7}', 7, None),
            (b'"},"jsonrpc":"2.0","id":"a"}\n', "a", None),
            (b'"},"id":7,"jsonrpc":"2.0"} \r\n', 7, None),
            (b'"} , "method" : "x" , "id" : 7 }', 7, "x"),
            (b'],"id":-7.0e0}', -7, None),
            (b'"},"id":null}', None, None),
            (b'"},"method":"x"}', None, "x"),
            (b'"}}', None, None),
            (b'"}', None, None),
            (b'"},"id":7', None, None),
            (b'"},"id":"a\\"b"}', 'a"b', None),
            (b'"},"id":"a\\"}', None, None),
            (b'"},"id":[7]}', None, None),
            (b'"},"id":7}x', None, None),
            (b"", None, None),
        ],
    )
    def test_the_members_that_close_it(
        self, end: bytes, key: Key | None, method: str | None
    ) -> None:
        """Plain ones, in any order."""
        tail = Tail(MIDDLE + end)
        assert (tail.key, tail.method) == (key, method)

    def test_where_the_id_stands(self) -> None:
        """To put another there."""
        tail = Tail(b'xx","id": 17 }\n')
        assert tail.id_span == (10, 12)
        assert Tail(b'xx"}').id_span is None

    @pytest.mark.parametrize("escaped", ["é", '"', "\\", "a\n", '","id":8}', "\ud800"])
    def test_a_string_with_escapes(self, escaped: str) -> None:
        """It is read like any other."""
        body = json.dumps({"result": "x", "id": escaped, "method": escaped}).encode()
        for size in range(len(body) + 1):
            tail = Tail(body[len(body) - size :])
            assert tail.key in (None, escaped)
        assert tail.key == tail.method == escaped
        meta = json.dumps({"params": {"_meta": {"progressToken": escaped}}, "id": escaped})
        assert Tail(meta.encode()).token == escaped

    def test_what_only_looks_like_it(self) -> None:
        """Text that ends like a message is text: its quotes are escaped."""
        text = json.dumps({"id": 7, "result": 'a","id":8}'}).encode()
        assert Tail(text).key is None
        inner = json.dumps({"result": {"a": {}, "id": 8}}).encode()
        assert Tail(inner).key is None

    def test_a_token(self) -> None:
        """Where ``_meta`` closes the params, and they close the message or nearly so."""
        meta = b'x","_meta":{"progressToken":"t"}}'
        assert Tail(meta + b"}\n").token == "t"
        assert Tail(meta + b',"id":7}').token == "t"
        assert Tail(meta + b',"id":7}').token_span == (28, 31)
        assert Tail(b'x","_meta" : { "progressToken" : 7 } } , "id":7 }').token == 7
        for other in (b"}}", b',"x":1}', b""):
            assert Tail(meta + other).token is None
        assert Tail(b'"_meta":{"progressToken":"t","x":1}},"id":7}').token is None

    def test_a_small_message_with_the_same_id_and_token(self) -> None:
        """To be judged in the long one's place."""
        meta = b'x","_meta":{"progressToken":"t"}}'
        assert Tail(meta + b',"id":7.0}').excerpt() == (
            b'{"id":7.0,"params":{"_meta":{"progressToken":"t"}}}'
        )
        assert Tail(b"x").excerpt() == b"{}"

    def test_whether_it_ends_like_an_object(self) -> None:
        """Else it was none."""
        assert Tail(b'x"}\r\n').closes
        assert not Tail(b'x"').closes
        assert not Tail(b"").closes

    def test_an_object_that_closes_it(self) -> None:
        """Then no id follows."""
        assert Tail(b'x"}}').closes_a_member
        assert Tail(b"x]}\r\n").closes_a_member
        assert not Tail(b'x"}').closes_a_member
        assert not Tail(b'x"},"id":7}').closes_a_member


ESCAPED = 'é"\\,"id":8'
IDS = st.sampled_from([7, "a", ESCAPED])
ENDS = st.one_of(
    st.builds(call, IDS, st.sampled_from([None, "t", 3])),
    st.builds(answer, IDS, st.text(max_size=10) | st.sampled_from([ESCAPED, f"{ESCAPED}}}"])),
    st.builds(error, IDS),
)


@given(ENDS, st.randoms(use_true_random=False), st.integers(0, 200))
def test_any_message_in_any_order(message: bytes, random: Any, size: int) -> None:
    """What its ends show is so."""
    whole: dict[str, Any] = json.loads(message)
    members = list(whole.items())
    random.shuffle(members)
    body = json.dumps(dict(members)).encode()
    head, tail = Head(body[:size]), Tail(body[-size:] if size else b"")
    assert head.key(ID) in (None, whole["id"])
    assert tail.key in (None, whole["id"])
    assert head.method in (None, whole.get("method"))
    assert tail.method in (None, whole.get("method"))
    token = whole.get("params", {}).get("_meta", {}).get("progressToken")
    assert head.key(TOKEN) in (None, token)
    assert tail.token in (None, token)
    kinds = {"request": "method", "result": "result", "error": "error"}
    assert head.kind not in kinds or kinds[head.kind] in whole


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",: 1id', max_size=60).map(str.encode))
def test_any_bytes_at_all(data: bytes) -> None:
    """Never an exception."""
    head, tail = Head(data), Tail(data)
    assert head.key(ID) is None or head.has("id")
    assert tail.key is None or tail.id_span is not None
    assert head.excerpt((ID, TOKEN)).startswith(b"{")
    assert tail.excerpt().endswith(b"}")
