"""``--answer-cancelled`` where an answer is owed: LSP and its kin, a slow server feels prompt."""

from __future__ import annotations

from nevermind.notes import What
from nevermind.policy import Policy
from proxy.messages import OWED, answer, call, cancel, progress
from proxy.ours import cancelled
from proxy.playbook import IN_ORDER, Waits, client, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
AT_ONCE = Policy(answer_cancelled=0)
AFTER_5 = Policy(answer_cancelled=5)


class TestWhereAnAnswerIsOwed:
    """LSP and its kin: a slow server feels prompt."""

    def test_at_once(self) -> None:
        """The real answer is dropped when it comes; a new use has a fresh id."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            client << cancelled(1),
            client >> call(1, dialect=OWED),
            server << call(b"<n>", dialect=OWED),
            server.loses(LATE, answer(1, "old")),
            server >> answer(b"<n>"),
            client << answer(1),
            policy=AT_ONCE,
            dialect=OWED,
            ways=IN_ORDER,
        )

    def test_partial_results_stay_usable(self) -> None:
        """Progress passes as it does without us."""
        play(
            client.passes(call(1, token="t", dialect=OWED), cancel(1, dialect=OWED)),
            client << cancelled(1),
            server.passes(progress("t", dialect=OWED)),
            policy=AT_ONCE,
            dialect=OWED,
        )

    def test_the_answer_comes_first(self) -> None:
        """It is the one that was owed; further ones are dropped."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            server.passes(answer(1)),
            Waits(9),
            server.loses(LATE, answer(1)),
            policy=AFTER_5,
            dialect=OWED,
        )

    def test_the_answer_comes_after_ours(self) -> None:
        """One answer per request."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            Waits(5),
            client << cancelled(1, 5),
            server.loses(LATE, answer(1), answer(1)),
            client.loses(REDUNDANT, cancel(1, dialect=OWED)),
            policy=AFTER_5,
            dialect=OWED,
        )

    def test_an_answer_in_the_queue_is_owed(self) -> None:
        """It is never retracted: it is the one answer."""
        play(
            client.passes(call(1, dialect=OWED)),
            client.stalls(),
            server >> answer(1),
            client.loses(REDUNDANT, cancel(1, dialect=OWED)),
            client.reads(),
            client << answer(1),
            policy=AT_ONCE,
            dialect=OWED,
        )

    def test_used_again_while_the_answer_is_owed(self) -> None:
        """Two uses: ours for neither."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED), call(1, dialect=OWED)),
            Waits(9),
            server.passes(answer(1), answer(1)),
            policy=AFTER_5,
            dialect=OWED,
        )
