"""What can be told of a message: by its members, and only by those that the dialect names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.dialects import MCP
from nevermind.envelopes import (
    BROKEN,
    UNDERSTANDABLE,
    Batch,
    Cancel,
    Envelope,
    Notification,
    Opaque,
    Progress,
    Request,
    look,
)
from nevermind.scanning import BOM
from proxy.looking import mcp
from proxy.messages import DEEP, OWED, PLAIN


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
