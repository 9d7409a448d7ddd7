"""What can be told of a message: by its members, and only by those that the dialect names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.dialects import MCP
from nevermind.envelopes import (
    BROKEN,
    LARGEST_BATCH,
    UNDERSTANDABLE,
    Batch,
    Cancel,
    Envelope,
    Notification,
    Opaque,
    Progress,
    Request,
    Response,
    creates_task,
    look,
    raw_members,
    task_id,
    value_at,
)
from nevermind.scanning import BOM, SCAN_LIMIT
from proxy.messages import OWED, PLAIN

DEEP = b"[" * 5000 + b"]" * 5000


def mcp(body: bytes) -> Envelope:
    """The envelope of ``body`` in MCP."""
    return look(body, MCP)


class TestRequests:
    """A ``method`` with an ``id`` member, neither ``result`` nor ``error``."""

    @pytest.mark.parametrize(
        ("body", "envelope"),
        [
            (b'{"id":7,"method":"x"}', Request(7, "x")),
            (b'{"method":"x","params":[1],"id":"7"}', Request("7", "x")),
            (b'{"id":0,"method":""}', Request(0, "")),
            (b'{"id":null,"method":"x"}', Request(None, "x")),
            (b'{"id":1.5,"method":"x"}', Request(None, "x")),
            (b'{"id":{},"method":"x"}', Request(None, "x")),
            (b'{"id":7,"method":"x","result":null,"error":null}', Request(7, "x")),
            (b'{"id":7,"method":"x","params":{"id":8}}', Request(7, "x")),
            (b'{"\\u0069d":7,"m\\u0065thod":"\\u0078"}', Request(7, "x")),
            (b'{"id":1,"id":2,"method":"x","method":"y"}', Request(2, "y")),
        ],
    )
    def test_by_its_members(self, body: bytes, envelope: Envelope) -> None:
        """A missing ``jsonrpc`` is fine, and of a repeated key the last counts."""
        assert mcp(body) == envelope

    @pytest.mark.parametrize("method", [MCP.cancel_method, MCP.progress_method])
    def test_a_cancel_with_an_id_is_the_request_that_it_is(self, method: str) -> None:
        """Also progress: it is to be answered."""
        params = {"requestId": 1, "progressToken": 2}
        body = json.dumps({"id": 7, "method": method, "params": params}).encode()
        assert mcp(body) == Request(7, method)

    def test_tokens(self) -> None:
        """What can be tracked of them; a dialect may know several."""
        body = b'{"id":7,"method":"x","params":{"_meta":{"progressToken":%b}}}'
        assert mcp(body % b'"t"') == Request(7, "x", ("t",))
        assert mcp(body % b"7.0") == Request(7, "x", (7,))
        assert mcp(body % b"null") == mcp(body % b"{}") == mcp(body % b"1.5") == Request(7, "x")
        two = b'{"id":7,"method":"x","params":{"workDoneToken":"w","partialResultToken":1}}'
        assert look(two, OWED) == Request(7, "x", ("w", 1))
        assert mcp(two) == look(two, PLAIN) == Request(7, "x")

    @pytest.mark.parametrize("params", [b"[]", b'"x"', b"null", b'{"_meta":[]}', b'{"_meta":{}}'])
    def test_params_without_a_token(self, params: bytes) -> None:
        """Whatever they are."""
        assert mcp(b'{"id":7,"method":"x","params":%b}' % params) == Request(7, "x")


class TestNotifications:
    """A ``method`` without an ``id``."""

    def test_by_its_members(self) -> None:
        """Any method but the dialect's two."""
        assert mcp(b'{"method":"x","params":{"requestId":1}}') == Notification("x")
        assert look(b'{"method":"notifications/cancelled"}', PLAIN) == Notification(
            "notifications/cancelled"
        )

    def test_of_a_subscription(self) -> None:
        """MCP 2026-07-28 tags what belongs to one."""
        key = b'"io.modelcontextprotocol/subscriptionId":"s"'
        body = b'{"method":"x","params":{"_meta":{%b}}}' % key
        assert mcp(body) == Notification("x", "s")
        assert look(body, OWED) == Notification("x")

    @pytest.mark.parametrize(
        ("params", "id"),
        [
            (b'{"requestId":7}', 7),
            (b'{"requestId":"7","reason":"\xff"}', "7"),
            (b'{"x":1,"requestId":7.00}', 7),
            (b'{"requestId":1,"requestId":2}', 2),
            (b'{"requestId":null}', None),
            (b'{"requestId":true}', None),
            (b'{"requestId":[7]}', None),
            (b'{"id":7}', None),
            (b"[7]", None),
            (b"7", None),
        ],
    )
    def test_a_cancel(self, params: bytes, id: int | str | None) -> None:
        """With the id of what is to be cancelled, None if it names none."""
        assert mcp(b'{"method":"notifications\\/cancelled","params":%b}' % params) == Cancel(id)

    def test_a_cancel_without_params(self) -> None:
        """Is one all the same."""
        assert mcp(b'{"method":"notifications/cancelled"}') == Cancel(None)

    def test_progress(self) -> None:
        """With its token."""
        body = b'{"method":"notifications/progress","params":{"progressToken":%b,"progress":1}}'
        assert mcp(body % b'"t"') == Progress("t")
        assert mcp(body % b"null") == Progress(None)


class TestResponses:
    """A ``result`` or an ``error``, and no ``method``."""

    @pytest.mark.parametrize(
        ("body", "envelope"),
        [
            (b'{"id":7,"result":{}}', Response(7)),
            (b'{"id":7,"result":null}', Response(7)),
            (b'{"id":7,"method":null,"result":[]}', Response(7)),
            (b'{"id":7,"error":{"code":0}}', Response(7, is_error=True)),
            (b'{"id":7,"error":"no"}', Response(7, is_error=True)),
            (b'{"id":7,"error":null}', Response(7)),
            (b'{"id":7,"error":null,"result":1}', Response(7)),
            (b'{"id":7,"error":{},"result":null}', Response(7, is_error=True)),
            (b'{"id":null,"error":{}}', Response(None, is_error=True, anonymous=True)),
            (b'{"error":{}}', Response(None, is_error=True, anonymous=True)),
            (b'{"id":1.5,"result":1}', Response(None)),
            (b'{"id":1,"id":2,"result":1}', Response(2)),
        ],
    )
    def test_by_its_members(self, body: bytes, envelope: Envelope) -> None:
        """An error is one whatever its code; an id that is null is nobody's."""
        assert mcp(body) == envelope

    @pytest.mark.parametrize(
        "result",
        [
            b'{"task":{"taskId":"t"}}',
            b'{"task":{"taskId":""},"resultType":1}',
            b'{"resultType":"task"}',
            b'{"resultType":"\\u0074ask","task":null}',
        ],
    )
    def test_that_creates_a_task(self, result: bytes) -> None:
        """By ``task.taskId`` (2025-11-25) or ``resultType`` (2026-07-28)."""
        assert mcp(b'{"id":7,"result":%b}' % result) == Response(7, creates_task=True)
        assert look(b'{"id":7,"result":%b}' % result, OWED) == Response(7)

    @pytest.mark.parametrize(
        "result",
        [
            b"null",
            b"[]",
            b'"task"',
            b"{}",
            b'{"taskId":"t"}',
            b'{"task":"t"}',
            b'{"task":{"taskId":7}}',
            b'{"task":{"taskId":null}}',
            b'{"task":[{"taskId":"t"}]}',
            b'{"resultType":"complete"}',
            b'{"resultType":["task"]}',
            b'{"resultType":%b}' % DEEP,
            b'{"task":%b}' % DEEP,
            b'{"structuredContent":{"task":{"taskId":"t"}}}',
        ],
    )
    def test_that_creates_none(self, result: bytes) -> None:
        """However much it looks like it."""
        envelope = mcp(b'{"id":7,"result":%b}' % result)
        assert isinstance(envelope, Response)
        assert not envelope.creates_task

    @pytest.mark.parametrize(
        ("result", "task"),
        [
            (b'{"task":{"taskId":"t\\u0031"}}', "t1"),
            (b'{"resultType":"task","taskId":"t2"}', "t2"),
            (b'{"resultType":"task","taskId":2}', ""),
            (b'{"resultType":"task","taskId":"\xff"}', ""),
            (b'{"resultType":"task"}', ""),
            (b"{", ""),
        ],
    )
    def test_the_id_of_a_task(self, result: bytes, task: str) -> None:
        """Where either revision has it."""
        assert task_id(b'{"id":7,"result":%b}' % result) == task

    def test_a_result_that_cannot_be_read(self) -> None:
        """Says nothing of a task."""
        assert not creates_task(b'{"task":')
        assert not creates_task(None)
        assert not creates_task(b'{"task":{"taskId" "t"}}')

    @pytest.mark.parametrize(
        "oddity", [b"NaN", b'"\\ud800"', b'"\x01"', b"-Infinity", b"1e", DEEP, b"nil", b'"\\x"']
    )
    def test_what_only_the_scan_can_read(self, oddity: bytes) -> None:
        """Then nothing is known of the result, and it says so."""
        assert mcp(b'{"id":7,"result":{"x":%b}}' % oddity) == Response(7, scanned=True)
        task = b'{"task":{"taskId":"t"},"x":%b}' % oddity
        assert mcp(b'{"id":7,"result":%b}' % task) == Response(7, creates_task=True, scanned=True)
        assert mcp(b'{"id":7,"method":"x","params":%b}' % oddity) == Request(7, "x")

    def test_a_key_that_cannot_be_read_is_no_key(self) -> None:
        """The others are."""
        assert mcp(b'{"id":7,"result":NaN,"\xff":1}') == Response(7, scanned=True)


class TestOpaque:
    """What is none of these; its receiver may understand it, or not."""

    @pytest.mark.parametrize(
        "body",
        [
            b"{}",
            b'{"id":7}',
            b'{"id":7,"params":{}}',
            b'{"id":7,"method":7}',
            b'{"id":7,"method":["x"]}',
            b'{"id":7,"method":"\xff"}',
            b'{"id":7,"method":"x","result":1}',
            b'{"id":7,"method":"x","error":{}}',
            b'{"method":%b,"id":7}' % DEEP,
            b'[{"id":7,"method":"x"},1]',
            b"[[],{}]",
        ],
    )
    def test_it_may_be_understood(self, body: bytes) -> None:
        """An object, or an array with one in it: it may have asked for something."""
        assert mcp(body) is UNDERSTANDABLE

    @pytest.mark.parametrize(
        "body",
        [
            *(b"", b" ", b"7", b'"x"', b"null", b"[]", b"[1]", b"[[]]", b"{", b'{"id":7'),
            *(b'{"id":7}}', b"{} {}", b"[{}", b"[{}]]", b"listening on {}", b"[{},", b"\x00"),
        ],
    )
    def test_it_is_broken(self, body: bytes) -> None:
        """Nobody can read that."""
        assert mcp(body) is BROKEN


class TestSpace:
    """White space and a BOM around a message."""

    @pytest.mark.parametrize("before", [b"", b" ", b"\t\r\n", BOM, BOM + b" "])
    @pytest.mark.parametrize("after", [b"", b" ", b"\r", b"\n"])
    def test_it_does_not_matter(self, before: bytes, after: bytes) -> None:
        """For looking."""
        assert mcp(before + b'{"id":7,"method":"x"}' + after) == Request(7, "x")
        found = mcp(before + b'[{"id":7,"method":"x"}]' + after)
        assert isinstance(found, Batch)
        assert found.elements == (Request(7, "x"),)


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


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",: 1idmethod', max_size=60).map(str.encode))
def test_any_bytes_at_all(body: bytes) -> None:
    """Never an exception; the bounds of elements are in order."""
    found = mcp(body)
    if isinstance(found, Batch):
        bounds = [at for span in found.spans for at in span]
        assert bounds == sorted(set(bounds))
        assert all(body[a:b].startswith(b"{") for a, b in found.spans)
    elif isinstance(found, Opaque) and found.understandable:
        assert b"{" in body
