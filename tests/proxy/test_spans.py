"""Any message, any replaced value: all other bytes stay as they came."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind import spans
from nevermind.scanning import BOM, SCAN_LIMIT

ID = ("id",)
TOKEN = ("params", "_meta", "progressToken")
LARGE = b"x" * 20_000
HUGE = b"x" * (SCAN_LIMIT + 1)

KEYS = st.sampled_from(["id", "params", "_meta", "progressToken", "a", 'q"\\', "i\u0064", "\u00e9"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
MESSAGES = st.dictionaries(KEYS, VALUES, max_size=5)
STYLES: list[dict[str, Any]] = [
    {"separators": (",", ":")},
    {"indent": 2},
    {"ensure_ascii": False, "separators": (" ,\t", "\r: ")},
]


def at(body: bytes, path: tuple[str, ...]) -> list[bytes]:
    """The bytes at ``path``."""
    return [body[start:stop] for start, stop in spans.find(body, path)]


class TestFind:
    """Where a value stands."""

    def test_at_the_top(self) -> None:
        """Its own bytes, no white space."""
        assert at(b'{"jsonrpc":"2.0","id" : "a b" ,"method":"x"}', ID) == [b'"a b"']

    def test_deeper(self) -> None:
        """Along the whole path, and only along it."""
        body = (
            b'{"id":1,"progressToken":2,"params":{"progressToken":3,'
            b'"_meta":{"x":{"progressToken":4}, "progressToken" :5}}}'
        )
        assert at(body, TOKEN) == [b"5"]

    def test_nowhere(self) -> None:
        """The way ends early, or is no way."""
        for body in (
            b"{}",
            b'{"params":{}}',
            b'{"params":[{"_meta":1}]}',
            b'{"params":7}',
            b"7",
            b"",
        ):
            assert at(body, TOKEN) == []

    def test_a_repeated_key_is_found_at_each_place(self) -> None:
        """On any level."""
        body = (
            b'{"params":{"_meta":{"progressToken":1,"progressToken":2}},'
            b'"params":{"_meta":{"progressToken":3}}}'
        )
        assert at(body, TOKEN) == [b"1", b"2", b"3"]

    def test_an_escaped_key_is_the_key(self) -> None:
        """As its receiver will read it."""
        assert at(b'{"\\u0069d":1}', ID) == [b"1"]

    def test_behind_a_bom(self) -> None:
        """It is skipped."""
        assert at(BOM + b' {"id":1}', ID) == [b"1"]

    def test_in_what_strict_parsers_refuse(self) -> None:
        """Such messages are sent, and understood."""
        assert at(b'{"result":NaN,"id":1,"e":"\xff\\ud800"}', ID) == [b"1"]


class TestReplace:
    """Other bytes in the place of a value."""

    def test_nothing_else_changes(self) -> None:
        """Not a space."""
        body = b' {"id" : 7,\t"params":{"_meta":{"progressToken":7} } ,"x":1e5}\r'
        out = spans.replace(body, [(ID, b'"fresh"'), (TOKEN, b"123456")])
        assert out == (
            b' {"id" : "fresh",\t"params":{"_meta":{"progressToken":123456} } ,"x":1e5}\r'
        )

    def test_every_occurrence_of_a_repeated_key(self) -> None:
        """Whichever its receiver takes."""
        assert spans.replace(b'{"id":7,"id":8}', [(ID, b"99")]) == b'{"id":99,"id":99}'

    def test_a_path_that_leads_nowhere(self) -> None:
        """Is skipped."""
        assert spans.replace(b'{"id":7}', [(TOKEN, b"1")]) == b'{"id":7}'

    def test_put_takes_spans_in_any_order(self) -> None:
        """The later ones do not move."""
        assert (
            spans.put(b"abcdef", [((4, 5), b"55"), ((0, 2), b""), ((2, 3), b"333")]) == b"333d55f"
        )

    @given(MESSAGES, st.sampled_from(STYLES), st.sampled_from([ID, TOKEN, ("a", "a"), ("\u00e9",)]))
    def test_any_message(
        self, message: dict[str, Any], style: dict[str, Any], path: tuple[str, ...]
    ) -> None:
        """The standard library reads the same message with another value, if there was one."""
        body = json.dumps(message, **style).encode("utf-8", "surrogatepass")
        out = spans.replace(body, [(path, b'"fresh"')])
        holder: Any = message
        for name in path[:-1]:
            holder = holder.get(name) if isinstance(holder, dict) else None
        if not isinstance(holder, dict) or path[-1] not in holder:
            assert out == body
            return
        [(start, stop)] = spans.find(body, path)
        assert json.loads(body[start:stop]) == holder[path[-1]]
        assert out == body[:start] + b'"fresh"' + body[stop:]
        holder[path[-1]] = "fresh"
        assert json.loads(out) == message


class TestLargeMessages:
    """From 16 KiB on the ends of large values are found by a C decoder."""

    @pytest.mark.parametrize(
        "big",
        [b'"%b"' % LARGE, b'{"id":8,"x":"%b"}' % LARGE, b'[{"id":8},"%b"]' % LARGE, b"1" * 20_000],
        ids=("string", "object", "array", "number"),
    )
    def test_a_value_before_and_behind_a_large_one(self, big: bytes) -> None:
        """Both are found, and nothing inside the large one."""
        assert at(b'{"id":1,"big":%b,"id":2}' % big, ID) == [b"1", b"2"]
        assert at(b'{"id":1,"big":%b,"id":2}' % big, ("big",)) == [big]

    def test_inside_a_large_one(self) -> None:
        """Level by level."""
        body = b'{"a":1,"params":{"x":"%b","_meta":{"progressToken":5}}}' % LARGE
        assert at(body, TOKEN) == [b"5"]
        assert spans.replace(body, [(TOKEN, b"66")]) == body.replace(b":5}", b":66}")

    def test_a_large_value_that_is_also_a_key(self) -> None:
        """A key looks like a string; it is none here."""
        body = b'{"%b":1,"x":"%b","id":2}' % (LARGE, LARGE)
        assert at(body, ID) == [b"2"]

    def test_many_small_values(self) -> None:
        """The largest may stand anywhere, as a key too."""
        many = b",".join(b'"k%d":1' % n for n in range(3000))
        assert at(b'{"id":"id",%b}' % many, ID) == [b'"id"']

    def test_repeated_large_values(self) -> None:
        """The decoder knows only the last; the others are read."""
        body = b'{"x":["%b",{"id":7}],"x":["%b"],"id":1}' % (LARGE, LARGE[1:])
        assert at(body, ID) == [b"1"]
        assert [len(value) for value in at(body, ("x",))] == [20_013, 20_003]

    def test_beyond_what_is_scanned(self) -> None:
        """Over 1 MiB of valid JSON is no trouble, whatever it is made of."""
        body = b'{"a":"%b","b":["%b"],"id":1,"c":{"d":"%b"}}' % (HUGE, HUGE, HUGE)
        assert at(body, ID) == [b"1"]
        assert at(body, ("c", "d")) == [b'"%b"' % HUGE]

    def test_what_only_the_scan_could_read(self) -> None:
        """It is read up to 1 MiB; what is longer can't be made out in bounded time."""
        assert at(b'{"x":NaN,"y":"%b","id":1}' % LARGE, ID) == [b"1"]
        assert at(b'{"x":NaN,"y":"%b","id":1}' % HUGE, ID) == []

    def test_more_than_may_be_scanned_beside_large_values(self) -> None:
        """Small members by the hundred thousand, or large ones under one key."""
        many = b",".join(b'"k%d":1' % n for n in range(100_000))
        assert at(b'{"id":1,%b}' % many, ID) == []
        assert at(b'{"x":"%b","x":"","id":1}' % HUGE, ID) == []


class TestRepeatsKey:
    """Before a drop: whether a key that was read stands twice."""

    @pytest.mark.parametrize(
        "body",
        [
            b'{"id":1,"id":1}',
            b'{"id":1,"\\u0069d":2}',
            b'{"params":{},"params":{}}',
            b'{"params":{"_meta":1,"_meta":2}}',
            b'{"params":{"_meta":{"progressToken":1,"x":2,"progressToken":1}}}',
        ],
    )
    def test_it_does(self, body: bytes) -> None:
        """On any level of a path."""
        assert spans.repeats_key(body, [ID, TOKEN])

    @pytest.mark.parametrize(
        "body",
        [
            b"{}",
            b'{"id":1}',
            b'{"id":{"id":1,"id":2}}',
            b'{"params":[]}',
            b'{"params":{"_meta":{"progressToken":1}},"x":1,"x":2}',
            b'{"params":{"x":{},"x":{}}}',
        ],
    )
    def test_it_does_not(self, body: bytes) -> None:
        """Keys beside the paths may repeat: they are somebody else's."""
        assert not spans.repeats_key(body, [ID, TOKEN])

    @pytest.mark.parametrize(
        "body",
        [
            b'{"id":1,"x":{"id":1}',
            b'{"id":1,"\\u0069d"',
            b'{"x":NaN,"y":"%b","z":["id"],"id":1}' % HUGE,
            b'{"params":[1 2],"z" 3,"x":["params"]}',
        ],
        ids=("cut", "escaped", "huge", "garbled"),
    )
    def test_what_cannot_be_made_out_counts_as_repeated(self, body: bytes) -> None:
        """It is not certain, once the key stands twice anywhere."""
        assert spans.repeats_key(body, [ID, TOKEN])

    def test_what_cannot_be_made_out_and_stands_once(self) -> None:
        """It can't be a key twice."""
        assert not spans.repeats_key(b'{"id":1', [ID])
        assert not spans.repeats_key(b'{"x":NaN,"y":"%b","id":1}' % HUGE, [ID, TOKEN])

    @pytest.mark.parametrize(
        ("name", "body"),
        [
            ("a/b", b'{"a/b":1,"a\\/b":2}'),
            ("\u00e9", '{"\u00e9":1,"\u00e9":2}'.encode()),
            ('a"b', b'{"a\\"b":1,"a\\"b":2}'),
        ],
    )
    def test_names_that_can_be_spelled_in_several_ways(self, name: str, body: bytes) -> None:
        """Without an escape of four digits."""
        assert spans.repeats_key(body, [(name,)])
        assert not spans.repeats_key(body, [ID])


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ 1id', max_size=60).map(str.encode))
def test_any_bytes_at_all(body: bytes) -> None:
    """Never an exception; what is found can be replaced."""
    assert spans.repeats_key(body, [TOKEN]) in (True, False)
    found = spans.find(body, ID)
    out = spans.replace(body, [(ID, b"")])
    assert len(out) == len(body) - sum(stop - start for start, stop in found)
