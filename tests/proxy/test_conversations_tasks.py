"""Answers that create tasks: they pass, and their tokens live on."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import LateResponse, Policy
from proxy.messages import (
    answer,
    batch,
    call,
    cancel,
    error,
    progress,
    task,
)
from proxy.playbook import End, both_ways, held, play

LATE = What.LATE_RESPONSE


@both_ways
class TestTasks:
    """Losing the answer that creates a task would orphan running work."""

    @pytest.mark.parametrize("modern", [False, True], ids=("task.taskId", "resultType"))
    def test_it_passes_although_cancelled(self, asker: End, worker: End, modern: bool) -> None:
        """Its progress passes from then on; the tombstone stays for further answers."""
        play(
            asker.passes(call(1, token="t"), cancel(1)),
            worker.loses(What.LATE_PROGRESS, progress("t")),
            worker.passes(task(1, modern=modern), progress("t"), progress("t")),
            worker.loses(LATE, answer(1), error(1)),
            worker.passes(progress("t")),
        )

    def test_a_cancel_after_it_is_forwarded(self, asker: End, worker: End) -> None:
        """It marks nothing: the token stays unknown, answers stay what they are."""
        play(
            asker.passes(call(1, token="t"), cancel(1)),
            worker.passes(task(1)),
            asker.passes(cancel(1), cancel(1)),
            worker.passes(progress("t")),
            worker.loses(LATE, answer(1)),
        )

    def test_not_cancelled(self, asker: End, worker: End) -> None:
        """The request is answered; its token lives on, a cancel passes and marks nothing."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(task(1), progress("t")),
            asker.passes(cancel(1), cancel(1)),
            worker.passes(progress("t"), answer(1)),
        )

    @pytest.mark.parametrize("cancelled", [True, False])
    def test_another_request_carried_the_token_too(
        self, asker: End, worker: End, cancelled: bool
    ) -> None:
        """Unknown from then on: that one's end does not end the task's progress."""
        play(
            asker.passes(call(1, token="t"), call(2, token="t")),
            worker.passes(task(1)),
            asker.passes(cancel(2)) if cancelled else worker.passes(answer(2)),
            worker.passes(progress("t")),
        )

    def test_the_token_ends_with_its_next_owner(self, asker: End, worker: End) -> None:
        """Unknown is unknown until a request carries it again."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(task(1)),
            asker.passes(call(2, token="t"), cancel(2)),
            worker.loses(What.LATE_PROGRESS, progress("t")),
        )

    @pytest.mark.parametrize(
        "result",
        [
            {"task": {"taskId": 7}},
            {"task": "t-1"},
            {"taskId": "t-1"},
            {"resultType": "complete"},
            {"content": [{"task": {"taskId": "t"}}]},
            {"result": {"resultType": "task"}},
            ["task"],
            "task",
        ],
        ids=str,
    )
    def test_what_creates_no_task(self, asker: End, worker: End, result: object) -> None:
        """A string ``result.task.taskId`` or ``result.resultType == "task"``, nothing else."""
        play(asker.passes(call(1), cancel(1)), worker.loses(LATE, answer(1, result)))

    def test_in_a_batch(self, asker: End, worker: End) -> None:
        """The element that creates a task is kept, its neighbour is late."""
        play(
            asker.passes(batch(call(1), call(2)), cancel(1), cancel(2)),
            worker >> batch(answer(2), task(1)),
            asker.spliced(task(1)),
            held(LATE, 2),
        )

    def test_the_requests_about_tasks_are_ordinary(self, asker: End, worker: End) -> None:
        """``tasks/cancel`` and its kin name a task, not a request."""
        stop = b'{"jsonrpc":"2.0","id":2,"method":"tasks/cancel","params":{"taskId":"1"}}'
        play(
            asker.passes(call("1"), stop, cancel(2)),
            worker.loses(LATE, answer(2)),
            worker.passes(answer("1")),
        )

    def test_an_escaped_one(self, asker: End, worker: End) -> None:
        """Keys and values are compared after decoding."""
        escaped = b'{"jsonrpc":"2.0","id":1,"result":{"res\\u0075ltType":"\\u0074ask"}}'
        play(asker.passes(call(1), cancel(1)), worker.passes(escaped))


@both_ways
def test_under_first_a_task_is_the_first_answer(asker: End, worker: End) -> None:
    """``--late-response first``: the answer that creates a task passes, and no other after it."""
    play(
        asker.passes(call(1), cancel(1)),
        worker.passes(task(1)),
        worker.loses(LATE, answer(1)),
        policy=Policy(late_response=LateResponse.FIRST),
    )
