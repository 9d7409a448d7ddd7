"""Responses that came late: dropped, unless one is owed or a task would be lost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nevermind import answering
from nevermind.dialects import MCP
from nevermind.ids import spell
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, LateResponse, Policy
from nevermind.uses import Use
from proxy.court import BOTH, Court, cancelled
from proxy.messages import OWED, answer, call, cancel, error, progress, task

LATE = What.LATE_RESPONSE


@BOTH
class TestLate:
    """An answer to a cancelled request."""

    def test_it_is_dropped(self, asker: Peer) -> None:
        """However many come; the tombstone stays."""
        court = cancelled(asker, 7)
        for late in (answer(7), error(7, -32800), answer(7, None), answer("7")):
            verdict = court.hear(asker.other, late)
            assert verdict.held is LATE
            assert verdict.why == "the request was cancelled"
        assert court.state(7, asker) is State.TOMBSTONE

    def test_the_overrun_is_measured(self, asker: Peer) -> None:
        """How long after the cancel the work went on."""
        court = cancelled(asker, 7)
        court.now = 2.5
        court.hear(asker.other, answer(7))
        assert court.ledger.longest_overrun == 2.5

    def test_with_a_twin_in_flight(self, asker: Peer) -> None:
        """That one may be meant: it passes and marks nothing."""
        court = cancelled(asker, 7)
        court.hear(asker, call("7"))
        assert court.sent(asker.other, answer(7)) == answer(7)
        assert court.state("7", asker) is State.IN_FLIGHT
        assert court.ledger.overrun == 0

    def test_first(self, asker: Peer) -> None:
        """``--late-response first``: one answer passes, the others do not."""
        court = cancelled(asker, 7, policy=Policy(late_response=LateResponse.FIRST))
        assert court.sent(asker.other, error(7)) == error(7)
        verdict = court.hear(asker.other, answer(7))
        assert verdict.held is LATE
        assert verdict.why == "the request was cancelled, and has had its one answer"

    def test_forward_errors(self, asker: Peer) -> None:
        """``--late-response forward-errors``: one error passes, and no result."""
        court = cancelled(asker, 7, policy=Policy(late_response=LateResponse.FORWARD_ERRORS))
        assert court.sent(asker.other, answer(7)) is LATE
        assert court.sent(asker.other, error(7)) == error(7)
        assert court.sent(asker.other, error(7)) is LATE

    def test_forward(self, asker: Peer) -> None:
        """``--late-response forward``: all pass, as without us."""
        court = cancelled(asker, 7, policy=Policy(late_response=LateResponse.FORWARD))
        for late in (answer(7), error(7), answer(7)):
            assert court.sent(asker.other, late) == late

    def test_that_creates_a_task(self, asker: Peer) -> None:
        """It passes: losing it would orphan running work.  Further answers do not."""
        court = Court()
        court.hear(asker, call(7, token="t"))
        court.hear(asker, cancel(7))
        assert court.sent(asker.other, task(7)) == task(7)
        assert court.sent(asker.other, progress("t")) == progress("t")
        assert court.sent(asker.other, answer(7)) is LATE

    def test_that_creates_a_task_which_is_cancelled_in_its_place(self, asker: Peer) -> None:
        """``--reap-tasks``, where the task has a name."""
        court = cancelled(asker, 7, policy=Policy(reap_tasks=True))
        verdict = court.hear(asker.other, task(7))
        assert (verdict.held, verdict.reap, verdict.task) == (LATE, True, "t-1")
        nameless = answer(7, {"resultType": "task"})
        assert court.sent(asker.other, nameless) == nameless

    def test_of_a_use_that_the_proxy_has_answered(self, asker: Peer) -> None:
        """One answer is enough, whatever the switches say and whatever it creates."""
        court = cancelled(asker, 7, policy=Policy(late_response=LateResponse.FORWARD))
        use = court.record(7, asker)
        assert isinstance(use, Use)
        use.ours = True
        for late in (answer(7), task(7)):
            verdict = court.hear(asker.other, late)
            assert (verdict.held, verdict.final) == (LATE, True)


@BOTH
class TestSuperseded:
    """An answer to a use whose id has a newer one: it would be taken for the newer's."""

    def again(self, asker: Peer) -> Court:
        """Cancelled and asked again, where late answers would pass."""
        everything = Policy(late_response=LateResponse.FORWARD, redundant_cancel=Fate.FORWARD)
        court = cancelled(asker, 7, policy=everything)
        court.hear(asker, call(7))
        return court

    def test_it_is_dropped_whatever_the_switches_say(self, asker: Peer) -> None:
        """Even if it creates a task."""
        court = self.again(asker)
        for late in (answer(7), error(7), task(7)):
            verdict = court.hear(asker.other, late)
            assert verdict.held is LATE
            assert verdict.why == "its id is in use again"

    def test_so_is_a_second_answer_to_an_older_use(self, asker: Peer) -> None:
        """Which was answered in between."""
        court = self.again(asker)
        wire = spell(court.alias(7, asker).wire)
        assert court.sent(asker.other, answer(wire)) == answer(7)
        assert court.sent(asker.other, answer(wire)) == answer(7), "nothing newer yet"
        court.hear(asker, call(7))
        assert court.sent(asker.other, answer(wire)) is LATE

    def test_and_one_to_a_fresh_id_that_is_forgotten(self, asker: Peer) -> None:
        """Nobody else used that."""
        court = self.again(asker)
        wire = spell(court.alias(7, asker).wire)
        court.hear(asker, cancel(7))
        court.books(asker).forget()
        verdict = court.hear(asker.other, answer(wire))
        assert verdict.held is LATE
        assert "forgotten" in verdict.why


class TestOwed:
    """Where one answer is owed."""

    def test_the_first_passes_and_no_other(self) -> None:
        """And the id is settled."""
        court = Court(dialect=OWED)
        court.client(call(7, dialect=OWED))
        court.client(cancel(7, dialect=OWED))
        assert court.sent(Peer.SERVER, error(7, -32800)) == error(7, -32800)
        assert court.state(7) is State.SETTLED
        assert court.sent(Peer.SERVER, answer(7)) is LATE

    def test_with_a_twin_in_flight(self) -> None:
        """The exact match counts where nothing would be dropped."""
        court = Court(dialect=OWED)
        for either in (7, "7"):
            court.client(call(either, dialect=OWED))
        court.client(cancel(7, dialect=OWED))
        assert court.sent(Peer.SERVER, answer(7)) == answer(7)
        assert court.state(7) is State.SETTLED
        assert court.sent(Peer.SERVER, answer(7)) == answer(7), "here it would be"

    def test_that_creates_a_task(self) -> None:
        """In a dialect that has both: it is the answer that was owed."""
        both = replace(OWED, creates_tasks=True)
        court = Court(Policy(reap_tasks=True), both)
        court.client(call(7, dialect=OWED))
        court.client(cancel(7, dialect=OWED))
        assert court.sent(Peer.SERVER, task(7)) == task(7)
        assert court.state(7) is State.SETTLED


class TestTaskInHindsight:
    """A long answer that was let through before its end showed that it may create a task."""

    @pytest.mark.parametrize("token", [None, "t"])
    def test_its_token_is_released(self, token: str | None) -> None:
        """And a cancel that comes after it passes."""
        court = Court()
        court.client(call(7, token=token))
        court.server(answer(7))
        answering.created_task(court.ledger, Peer.SERVER, 7, None)
        assert court.sent(Peer.SERVER, progress("t")) == progress("t")
        assert court.sent(Peer.CLIENT, cancel(7)) == cancel(7)

    def test_a_request_that_stands_otherwise_by_now(self) -> None:
        """Cancelled, in flight again, forgotten: nothing happens."""
        court = cancelled(Peer.CLIENT, 7)
        for key in (7, 8):
            answering.created_task(court.ledger, Peer.SERVER, key, None)
        assert court.state(7) is State.TOMBSTONE
        assert court.sent(Peer.CLIENT, cancel(7)) is What.REDUNDANT_CANCEL


def test_the_dialect_says_whether_there_are_tasks() -> None:
    """Elsewhere a result that looks like one is a result."""
    court = Court(dialect=replace(MCP, creates_tasks=False))
    court.client(call(7))
    court.client(cancel(7))
    assert court.sent(Peer.SERVER, task(7)) is LATE
