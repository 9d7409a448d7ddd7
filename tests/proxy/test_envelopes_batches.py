"""What can be told of arrays, of raw members, and of what is too long to be told of."""

from __future__ import annotations

import pytest

from nevermind.envelopes import (
    BROKEN,
    LARGEST_BATCH,
    UNDERSTANDABLE,
    Batch,
    Notification,
    Request,
    Response,
    raw_members,
    value_at,
)
from nevermind.scanning import SCAN_LIMIT
from proxy.looking import mcp


class TestBatches:
    """An array of objects."""

    def test_each_element_has_an_envelope(self) -> None:
        """And bounds, white space left out."""
        body = b' [ {"id":1,"method":"x"} ,{"id":1,"result":{}},\n{"method":"y"},{}]'
        found = mcp(body)
        assert isinstance(found, Batch)
        assert found.elements == (Request(1, "x"), Response(1), Notification("y"), UNDERSTANDABLE)
        assert [body[a:b] for a, b in found.spans] == [
            b'{"id":1,"method":"x"}',
            b'{"id":1,"result":{}}',
            b'{"method":"y"}',
            b"{}",
        ]

    def test_equal_elements(self) -> None:
        """Each has its own place."""
        found = mcp(b'[{"id":1,"x":{}},{},{"id":1,"x":{}}]')
        assert isinstance(found, Batch)
        assert found.spans == ((1, 16), (17, 19), (20, 35))

    def test_what_only_the_scan_can_read(self) -> None:
        """Does not spoil the others."""
        body = b'[{"id":1,"result":NaN},{"id":2,"result":2}, {"id" 3}]'
        found = mcp(body)
        assert isinstance(found, Batch)
        assert found.elements == (Response(1, scanned=True), Response(2), BROKEN)
        assert [body[a:b] for a, b in found.spans][1] == b'{"id":2,"result":2}'


class TestMembers:
    """The raw bytes of members."""

    def test_those_that_are_asked_for(self) -> None:
        """And nothing of the others."""
        assert raw_members(b'{"a":1,"b":[2] ,"c":"x"}', ("b", "c", "d")) == (
            {"b": b"[2]", "c": b'"x"'},
            False,
        )
        assert raw_members(b'{"a":1,"b":NaN}', ("b", "d")) == ({"b": b"NaN"}, True)

    def test_the_last_of_repeated_keys(self) -> None:
        """By the C decoder and by the scan."""
        assert raw_members(b'{"a":1,"a":[2] }', ("a",)) == ({"a": b"[2]"}, False)
        assert raw_members(b'{"a":1,"a":NaN }', ("a",)) == ({"a": b"NaN"}, True)

    def test_what_is_no_object(self) -> None:
        """Has none."""
        for body in (b"[]", b"7", b"", b'{"a":1', b'"' + b"x" * SCAN_LIMIT + b'"'):
            assert raw_members(body, ("a",)) is None

    def test_a_path(self) -> None:
        """As long as there are objects on the way."""
        body = b'{"a":{"b":{"c":[1]}},"x":{"b" 1},"y":7}'
        assert value_at(body, ()) is body
        assert value_at(body, ("a",)) == b'{"b":{"c":[1]}}'
        assert value_at(body, ("a", "b", "c")) == b"[1]"
        for path in (("a", "b", "d"), ("x", "b"), ("y", "b"), ("z", "b")):
            assert value_at(body, path) is None


class TestLongMessages:
    """What is longer than the scan may read, and what has more parts than may be counted."""

    def test_an_object(self) -> None:
        """A C decoder reads it, unless it refuses it."""
        long = b'{"id":7,"result":{"x":%b,"y":"%b"}}'
        assert mcp(long % (b"1", b"y" * SCAN_LIMIT)) == Response(7)
        assert mcp(long % (b"NaN", b"y" * SCAN_LIMIT)) is BROKEN
        assert mcp(long % (b"NaN", b"y" * 1000)) == Response(7, scanned=True)

    def test_very_many_members(self) -> None:
        """They cost no more than the bytes that they are."""
        many = b",".join(b'"%d":0' % n for n in range(200_000))
        assert mcp(b'{"id":7.0,%b,"method":"x"}' % many) == Request(7, "x")

    def test_an_array(self) -> None:
        """It may have asked for something."""
        long = b'[{"id":7,"result":%b},{"y":"%b"}]'
        assert isinstance(mcp(long % (b"1", b"y" * SCAN_LIMIT)), Batch)
        assert mcp(long % (b"NaN", b"y" * SCAN_LIMIT)) is UNDERSTANDABLE

    @pytest.mark.parametrize("last", [b"{}", b'{"x":NaN}'], ids=("valid", "scanned"))
    def test_very_many_elements(self, last: bytes) -> None:
        """So many are never judged."""
        most = mcp(b"[" + b"{}," * (LARGEST_BATCH - 1) + last + b"]")
        assert isinstance(most, Batch)
        assert len(most.elements) == LARGEST_BATCH
        assert mcp(b"[" + b"{}," * LARGEST_BATCH + last + b"]") is UNDERSTANDABLE
