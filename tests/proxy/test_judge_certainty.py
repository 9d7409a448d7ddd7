"""The last doubt before a drop: what may be another's passes."""

from __future__ import annotations

import pytest

from nevermind.judge import Judge
from nevermind.policy import LateResponse, Policy
from nevermind.scanning import SCAN_LIMIT
from proxy.bench import cancelled
from proxy.messages import OWED, call, cancel
from proxy.wire import CLIENT, SERVER


class TestCertainty:
    """The last doubt before a drop."""

    @pytest.mark.parametrize(
        "late",
        [
            b'{"id":7,"result":{},"id":7}',
            b'{"id":7,"result":{},"result":{}}',
            b'{"id":7,"error":{},"error":{}}',
            b'{"method":null,"id":7,"result":{},"method":null}',
            b'{"id":8,"id":7,"result":{}}',
        ],
    )
    def test_a_repeated_key(self, late: bytes) -> None:
        """Another parser may read another message."""
        assert cancelled().server(late) is late

    def test_a_repeated_key_that_nobody_reads(self) -> None:
        """It makes no difference."""
        assert cancelled().server(b'{"x":1,"id":7,"result":{"task":1,"a":1,"a":2},"x":2}') is None

    def test_a_repeated_key_that_may_make_it_a_task(self) -> None:
        """For some reader it does."""
        twice = b'{"id":7,"result":{"resultType":"task","resultType":"complete"}}'
        assert cancelled().server(twice) is twice
        inside = b'{"id":7,"result":{"task":{"taskId":"t","taskId":1}}}'
        assert cancelled().server(inside) is inside

    def test_repeated_keys_in_cancels_and_progress(self) -> None:
        """The id, the token, and the way to them."""
        bench = cancelled()
        again = b'{"method":"notifications/cancelled","params":{"requestId":7,"requestId":7}}'
        assert bench.client(again) is again
        late = b'{"method":"notifications/progress","params":{},"params":{"progressToken":"t"}}'
        assert bench.server(late) is late

    @pytest.mark.parametrize("oddity", [b"NaN", b"1e", b'"\\ud800"', b'"\xff"', b'"\x01"'])
    def test_a_result_that_only_the_scan_can_read(self, oddity: bytes) -> None:
        """It is late, and dropped."""
        assert cancelled().server(b'{"id":7,"result":{"x":%b}}' % oddity) is None

    @pytest.mark.parametrize("oddity", [b"1e", b'"\x01"', b"nil"])
    def test_one_that_mentions_a_task(self, oddity: bytes) -> None:
        """Nobody could read it: it may create one."""
        body = b'{"id":7,"result":{"x":%b,"y":"task"}}' % oddity
        assert cancelled().server(body) is body

    @pytest.mark.parametrize("oddity", [b"NaN", b'"\\ud800"'])
    def test_one_that_mentions_a_task_and_can_be_read(self, oddity: bytes) -> None:
        """By the standard library or orjson: it creates none."""
        assert cancelled().server(b'{"id":7,"result":{"x":%b,"y":"task"}}' % oddity) is None
        body = b'{"id":7,"result":{"x":%b,"resultType":"\\u0074ask"}}' % oddity
        assert cancelled().server(body) is body

    def test_one_that_is_too_deep(self) -> None:
        """For every reader."""
        deep = b"[" * 100_000 + b"]" * 100_000
        assert cancelled().server(b'{"id":7,"result":%b}' % deep) is None
        body = b'{"id":7,"result":{"x":%b,"y":"task"}}' % deep
        assert cancelled().server(body) is body

    def test_one_that_orjson_reads(self) -> None:
        """An escaped surrogate pair in a key, say, or an error that mentions tasks."""
        body = b'{"id":7,"error":{"message":"no task","data":%b}}' % (b"[" * 500 + b"]" * 500)
        assert cancelled().server(body) is None

    def test_a_huge_one_that_only_the_scan_could_read(self) -> None:
        """It is not read to its end, so not certain."""
        body = b'{"id":7,"result":{"x":NaN,"id":"%b"}}' % (b"y" * SCAN_LIMIT)
        assert cancelled().server(body) is body


def test_where_there_are_no_tasks_nothing_is_in_doubt() -> None:
    """A dialect without them does not look for them."""
    judge = Judge(Policy(late_response=LateResponse.DROP), OWED, "5eed")
    judge.message(CLIENT, call(7, dialect=OWED), 0.0)
    judge.message(CLIENT, cancel(7, dialect=OWED), 0.0)
    assert judge.message(SERVER, b'{"id":7,"result":{"x":1e,"y":"task"}}', 0.0) is None
