"""``--answer-cancelled 5``: a cancelled request may still be answered for a while, then we do."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import IdReuse, LateResponse, Policy
from proxy.messages import answer, call, cancel, error, progress, task
from proxy.ours import cancelled
from proxy.playbook import End, Waits, both_ways, client, play, server

LATE = What.LATE_RESPONSE
AFTER_5 = Policy(answer_cancelled=5)


@both_ways
class TestLater:
    """With some seconds the worker gets its chance."""

    def test_nothing_comes(self, asker: End, worker: End) -> None:
        """From the cancel on, not from the request."""
        play(
            asker.passes(call(1)),
            Waits(100),
            asker.passes(cancel(1)),
            Waits(4.9),
            Waits(0.1),
            asker << cancelled(1, 5),
            worker.loses(LATE, answer(1)),
            policy=AFTER_5,
        )

    def test_a_late_answer_that_is_dropped(self, asker: End, worker: End) -> None:
        """It was not let through: ours still goes out, before or after it."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1)),
            Waits(5),
            asker << cancelled(1, 5),
            worker.loses(LATE, answer(1)),
            policy=AFTER_5,
        )

    @pytest.mark.parametrize("late", [LateResponse.FIRST, LateResponse.FORWARD])
    def test_an_answer_that_is_let_through_first(
        self, asker: End, worker: End, late: LateResponse
    ) -> None:
        """It is the one answer."""
        play(
            asker.passes(call(1), cancel(1)),
            Waits(4),
            worker.passes(answer(1)),
            Waits(10),
            policy=Policy(answer_cancelled=5, late_response=late),
        )

    @pytest.mark.parametrize("late", list(LateResponse))
    def test_an_answer_that_comes_after_ours(
        self, asker: End, worker: End, late: LateResponse
    ) -> None:
        """It is dropped, whatever is said of late answers."""
        play(
            asker.passes(call(1), cancel(1)),
            Waits(5),
            asker << cancelled(1, 5),
            worker.loses(LATE, error(1), answer(1), id=1),
            policy=Policy(answer_cancelled=5, late_response=late),
        )

    def test_only_errors_are_let_through(self, asker: End, worker: End) -> None:
        """A result is dropped and leaves the caller waiting; an error ends the wait."""
        play(
            asker.passes(call(1), call(2), cancel(1), cancel(2)),
            worker.passes(error(2)),
            worker.loses(LATE, answer(1), answer(2)),
            Waits(5),
            asker << cancelled(1, 5),
            worker.loses(LATE, error(1), error(2)),
            policy=Policy(answer_cancelled=5, late_response=LateResponse.FORWARD_ERRORS),
        )

    def test_an_answer_that_waits_in_the_queue_was_let_through(
        self, asker: End, worker: End
    ) -> None:
        """Ours would be a second one."""
        play(
            asker.passes(call(1), cancel(1)),
            asker.stalls(),
            worker >> answer(1),
            Waits(9),
            asker.reads(),
            asker << answer(1),
            policy=Policy(answer_cancelled=5, late_response=LateResponse.FIRST),
        )

    def test_an_answer_with_a_repeated_key(self, asker: End, worker: End) -> None:
        """It passes, for which id it names is in doubt: then it is the one answer."""
        twice = b'{"id":1,"result":1,"id":1}'
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(twice),
            Waits(9),
            policy=AFTER_5,
        )

    def test_used_again(self, asker: End, worker: End) -> None:
        """The old use gets no answer of ours any more: its issuer waits for the new one's."""
        play(
            asker.passes(call(1), cancel(1)),
            asker >> call(1),
            worker << call(b"<n>"),
            Waits(9),
            worker.loses(LATE, answer(1)),
            worker >> answer(b"<n>"),
            asker << answer(1),
            policy=AFTER_5,
        )

    def test_used_again_and_cancelled_again(self, asker: End, worker: End) -> None:
        """One answer of ours, for the new use."""
        play(
            asker.passes(call(1), cancel(1)),
            Waits(3),
            asker >> call(1),
            worker << call(b"<n>"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            Waits(4),
            Waits(1),
            asker << cancelled(1, 5),
            worker.loses(LATE, answer(b"<n>"), answer(1)),
            policy=AFTER_5,
        )

    def test_used_again_and_forwarded(self, asker: End, worker: End) -> None:
        """``--id-reuse forward``: the first answer goes to the new use."""
        play(
            asker.passes(call(1), cancel(1), call(1)),
            Waits(9),
            worker.passes(answer(1)),
            policy=Policy(answer_cancelled=5, id_reuse=IdReuse.FORWARD),
        )

    def test_a_cancel_that_is_forgotten(self, asker: End, worker: End) -> None:
        """An answer would be let through from now on: ours might be a second one."""
        opaque = b'{"id":1,"method":"x","result":1}'
        play(
            asker.passes(call(1), cancel(1), opaque),
            Waits(9),
            worker.passes(answer(1)),
            policy=AFTER_5,
        )

    def test_a_cancel_that_is_evicted(self, asker: End, worker: End) -> None:
        """Likewise, where few are remembered."""
        play(
            asker.passes(*(call(n) for n in range(5))),
            asker.passes(*(cancel(n) for n in range(5))),
            worker.passes(answer(0)),
            Waits(5),
            asker << cancelled(4, 5),
            policy=Policy(answer_cancelled=5, remember=1),
        )

    def test_the_twin_comes_later(self, asker: End, worker: End) -> None:
        """By the time that ours is due an answer could be either's: there is none of ours."""
        play(
            asker.passes(call(1), cancel(1), call("1")),
            Waits(9),
            worker.passes(answer(1), answer("1")),
            policy=AFTER_5,
        )

    def test_a_twin_that_may_have_been_answered(self, asker: End, worker: End) -> None:
        """What passed may have been the one answer, so ours would be a second."""
        play(
            asker.passes(call(1), cancel(1), call("1")),
            worker.passes(answer(1), answer("1")),
            Waits(9),
            worker.loses(LATE, answer(1)),
            policy=AFTER_5,
        )


class TestTasks:
    """Answers that create a task."""

    def test_before_ours_it_passes_and_is_the_one_answer(self) -> None:
        """Losing it would orphan running work."""
        play(
            client.passes(call(1, token="t"), cancel(1)),
            server.passes(task(1), progress("t")),
            Waits(9),
            server.loses(LATE, answer(1)),
            policy=AFTER_5,
        )

    def test_after_ours_it_is_dropped_and_named_in_the_log(self) -> None:
        """Nobody waits for it any more."""
        how = play(
            client.passes(call(1, token="t"), cancel(1)),
            Waits(5),
            client << cancelled(1, 5),
            server.loses(LATE, task(1)),
            server.loses(What.LATE_PROGRESS, progress("t")),
            policy=AFTER_5,
        )
        assert [n.task for n in how.notes if n.what is LATE] == ["t-1"]

    def test_one_whose_keys_repeat(self) -> None:
        """It passes: then it is the one answer, and its token lives on."""
        twice = b'{"id":1,"result":{"task":{"taskId":"a"},"task":{"taskId":"b"}}}'
        play(
            client.passes(call(1, token="t"), cancel(1)),
            Waits(5),
            client << cancelled(1, 5),
            server.passes(twice, progress("t")),
            client.passes(cancel(1)),
            policy=AFTER_5,
        )
