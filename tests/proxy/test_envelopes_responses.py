"""What can be told of a response: an answer or an error, and whether it creates a task."""

from __future__ import annotations

import pytest

from nevermind.envelopes import Envelope, Request, Response, creates_task, look, task_id
from proxy.looking import mcp
from proxy.messages import DEEP, OWED


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
