"""The shallow scan: where members stand, in whatever its sender calls JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.scanning import (
    BOM,
    Member,
    elements,
    first_byte,
    leading_members,
    members,
    skip_value,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
STYLES = st.sampled_from(
    [
        {"separators": (",", ":")},
        {"separators": (", ", ": ")},
        {"indent": 1},
        {"ensure_ascii": False, "separators": (",\t", " :\r")},
    ]
)


def spell(value: object, style: dict[str, Any]) -> bytes:
    """``value`` as JSON in one of many styles."""
    return json.dumps(value, **style).encode("utf-8", "surrogatepass")


def values(data: bytes, found: list[Member] | None) -> list[tuple[str | None, bytes]] | None:
    """What stands at the members' bounds."""
    return None if found is None else [(m.key, data[m.start : m.stop]) for m in found]


class TestFirstByte:
    """Where a message begins: a BOM and white space come before it."""

    @pytest.mark.parametrize("before", [b"", b" ", b"\t\r\n ", BOM, BOM + b" \n"])
    def test_it_is_found(self, before: bytes) -> None:
        """Behind whatever stands before."""
        assert first_byte(before + b"{}") == len(before)

    def test_from_the_middle(self) -> None:
        """The search may begin anywhere."""
        assert first_byte(b"{} {}", 2) == 3

    def test_nothing_but_space(self) -> None:
        """Then it is the end."""
        assert first_byte(b" \n") == 2
        assert first_byte(b"") == 0


class TestMembers:
    """The members of one object that is all there is."""

    def test_bounds_of_values(self) -> None:
        """White space around keys and values is not in them."""
        data = b' { "id" : 7 ,"params"\n:\t{"a":[1,{"b":2}]} , "s" : "x}\\"," } '
        assert values(data, members(data)) == [
            ("id", b"7"),
            ("params", b'{"a":[1,{"b":2}]}'),
            ("s", b'"x}\\","'),
        ]

    def test_keys_are_decoded(self) -> None:
        """An escaped key is the same key; one that cannot be decoded is none."""
        data = b'{"\\u0069d":1,"\xff":2}'
        assert values(data, members(data)) == [("id", b"1"), (None, b"2")]

    def test_repeated_keys_are_all_there(self) -> None:
        """The caller wants to know of each."""
        data = b'{"id":1,"id":2}'
        assert values(data, members(data)) == [("id", b"1"), ("id", b"2")]

    def test_what_strict_parsers_refuse(self) -> None:
        """Peers send it and accept it: the scan tells where it stands."""
        data = b'{"a":NaN,"b":-Infinity,"c":"\\ud800","d":"\xff\x00","e":1e99999,"f":nope}'
        assert values(data, members(data)) == [
            ("a", b"NaN"),
            ("b", b"-Infinity"),
            ("c", b'"\\ud800"'),
            ("d", b'"\xff\x00"'),
            ("e", b"1e99999"),
            ("f", b"nope"),
        ]

    def test_any_depth(self) -> None:
        """Nesting is counted, without recursion."""
        deep = b"[" * 200_000 + b"]" * 200_000
        data = b'{"deep":%b,"id":1}' % deep
        assert values(data, members(data)) == [("deep", deep), ("id", b"1")]

    def test_an_empty_object(self) -> None:
        """It has none."""
        assert members(BOM + b" { } ") == []

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"7",
            b"[]",
            b'"{}"',
            b"{",
            b'{"a"',
            b'{"a":',
            b'{"a":1',
            b'{"a":1,',
            b'{"a":1,}',
            b'{"a" 1}',
            b"{a:1}",
            b'{"a":1 "b":2}',
            b'{"a":1;"b":2}',
            b'{"a":}',
            b'{"a":"x}',
            b'{"a":[1}',
            b'{"a":["x}',
            b'{"a":{"b":1}',
            b'{"a":1}}',
            b'{"a":1} {"a":1}',
            b'{"a":1}x',
        ],
    )
    def test_what_is_no_object(self, data: bytes) -> None:
        """Cut off, or with something behind it, or something else."""
        assert members(data) is None

    def test_known_values_are_not_read(self) -> None:
        """Where one stands; elsewhere the key's value is read as ever."""
        data = b'{"a":[1,{"b":2}],"a":[1],"c":"x","d":5}'
        known: dict[str | None, bytes] = {"a": b'[1,{"b":2}]', "c": b'"y"', "e": b"{}"}
        assert members(data, known) == members(data)
        garbled = b'{"a":[1,{"b":2],"c":"x"}'
        assert members(garbled) is None
        found = members(garbled, {"a": b'[1,{"b":2]'})
        assert values(garbled, found) == [("a", b'[1,{"b":2]'), ("c", b'"x"')]

    @given(st.dictionaries(st.text(max_size=5), JSON, max_size=5), STYLES)
    def test_any_object(self, value: dict[str, Any], style: dict[str, Any]) -> None:
        """The values at the bounds are those that the standard library reads."""
        data = spell(value, style)
        found = members(data)
        assert found is not None
        assert {m.key: json.loads(data[m.start : m.stop]) for m in found} == value


class TestLeadingMembers:
    """What the beginning of a long object shows."""

    def test_the_last_may_be_cut_off(self) -> None:
        """Its end is not known then."""
        data = b'{"id":7,"method":"x","params":{"a":"'
        assert leading_members(data) == [
            Member("id", 6, 7),
            Member("method", 17, 20),
            Member("params", 30, -1),
        ]

    @pytest.mark.parametrize("last", [b"7", b'"7"', b"[7]", b"tru", b'"7', b"[7", b'{"a'])
    def test_a_value_at_the_very_end_may_go_on(self, last: bytes) -> None:
        """Where the data ends with it, nothing says that the value does."""
        assert leading_members(b'{"id":%b' % last) == [Member("id", 6, -1)]

    @pytest.mark.parametrize("head", [b"", b"{", b'{"id', b'{"id"', b'{"id":', b'{"id": ', b"[1,"])
    def test_nothing_to_see_yet(self, head: bytes) -> None:
        """No member without a value."""
        assert leading_members(head) == []

    def test_a_whole_object(self) -> None:
        """Has all its members."""
        assert leading_members(BOM + b'{"id":7,"x":[]}') == [
            Member("id", 9, 10),
            Member("x", 15, 17),
        ]

    @given(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=4), STYLES, st.data())
    def test_whole_members_of_any_beginning(
        self, value: dict[str, Any], style: dict[str, Any], data: st.DataObject
    ) -> None:
        """They are those of the whole."""
        whole = spell(value, style)
        head = whole[: data.draw(st.integers(0, len(whole) - 1))]
        complete = members(whole)
        assert complete is not None
        found = leading_members(head)
        closed = [m for m in found if m.stop >= 0]
        assert closed == complete[: len(closed)]
        assert len(found) - len(closed) <= 1
        assert [m.start for m in found] == [m.start for m in complete[: len(found)]]


class TestElements:
    """The elements of one array that is all there is."""

    def test_bounds(self) -> None:
        """White space around elements is not in them."""
        data = b' [ {"a":1} ,7,"]" , [2] ] '
        found = elements(data, 10)
        assert found is not None
        assert [data[a:b] for a, b in found] == [b'{"a":1}', b"7", b'"]"', b"[2]"]

    def test_an_empty_array(self) -> None:
        """It has none."""
        assert elements(BOM + b"[ ]\r", 10) == []

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"{}",
            b"[",
            b"[1",
            b"[1,",
            b"[1,]",
            b"[,1]",
            b"[1 2]",
            b"[]x",
            b"[1]]",
            b'["1]',
            b"[{]",
        ],
    )
    def test_what_is_no_array(self, data: bytes) -> None:
        """Cut off, or with something behind it, or something else."""
        assert elements(data, 10) is None

    def test_one_too_many(self) -> None:
        """What comes after it is not read."""
        assert elements(b"[1,2,3]", 3) == [(1, 2), (3, 4), (5, 6)]
        assert elements(b"[1,2,3", 2) == [(1, 2), (3, 4), (5, 6)]

    @given(st.lists(JSON, max_size=5), STYLES)
    def test_any_array(self, value: list[Any], style: dict[str, Any]) -> None:
        """The values at the bounds are those that the standard library reads."""
        data = spell(value, style)
        found = elements(data, 10)
        assert found is not None
        assert [json.loads(data[a:b]) for a, b in found] == value


class TestSkipValue:
    """Where a value ends."""

    @pytest.mark.parametrize(
        "value",
        [b"1", b"-1.5e3", b"null", b"NaN", b'""', b'"\\\\"', b'"\\""', b"{}", b'[{"]":"}"}]'],
    )
    def test_it_ends_there(self, value: bytes) -> None:
        """Whatever follows."""
        for after in (b"", b" ", b",", b"}", b"]", b"\n"):
            assert skip_value(b":" + value + after, 1) == 1 + len(value)

    @pytest.mark.parametrize(
        "value", [b"", b" 1", b",", b":", b"]", b"}", b'"', b'"\\"', b"[", b'["]']
    )
    def test_it_does_not_end(self, value: bytes) -> None:
        """Cut off, or none at all."""
        assert skip_value(value, 0) is None


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ 1a\n', max_size=60).map(str.encode))
def test_any_bytes_at_all(data: bytes) -> None:
    """Never an exception, and bounds are inside."""
    for found in (members(data), leading_members(data)):
        for member in found or ():
            assert 0 <= member.start < (len(data) if member.stop < 0 else member.stop) <= len(data)
    for start, stop in elements(data, 10) or ():
        assert 0 <= start < stop <= len(data)
    end = skip_value(data, 0)
    assert end is None or 0 < end <= len(data)
