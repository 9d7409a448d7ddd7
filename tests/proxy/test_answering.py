"""Responses: the one answer passes, a late one does not, one that nobody asked for does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nevermind import answering
from nevermind.dialects import MCP
from nevermind.ids import spell
from nevermind.ledger import FORWARD
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, LateResponse, Policy
from nevermind.uses import Use
from proxy.court import Court
from proxy.messages import (
    OWED,
    Spelling,
    answer,
    call,
    cancel,
    error,
    initialize,
    nobodys_error,
    progress,
    task,
)

BOTH = pytest.mark.parametrize("asker", list(Peer), ids=("client asks", "server asks"))
LATE = What.LATE_RESPONSE
UNASKED = What.UNASKED_ANSWER
SHIELD = Policy(shield=True)


def asked(asker: Peer, *ids: Spelling, policy: Policy | None = None) -> Court:
    """A court before which these requests are in flight."""
    court = Court(policy or Policy())
    for one in ids:
        court.hear(asker, call(one))
    return court


def cancelled(asker: Peer, *ids: Spelling, policy: Policy | None = None) -> Court:
    """A court before which these requests have been cancelled."""
    court = asked(asker, *ids, policy=policy)
    for one in ids:
        court.hear(asker, cancel(one))
    return court


@BOTH
class TestWanted:
    """An answer to a request in flight."""

    def test_it_passes(self, asker: Peer) -> None:
        """Whatever it says; the id is remembered as answered."""
        court = asked(asker, 1, 2, 3)
        assert court.hear(asker.other, answer(1)) is FORWARD
        assert court.hear(asker.other, error(2)) is FORWARD
        assert court.hear(asker.other, answer(3, None)) is FORWARD
        assert [court.state(n, asker) for n in (1, 2, 3)] == [State.ANSWERED] * 3
        assert court.books(asker).requests.live_count() == 0

    def test_it_ends_the_tokens(self, asker: Peer) -> None:
        """Progress after it is stale."""
        court = Court()
        court.hear(asker, call(1, token="t"))
        assert court.hear(asker.other, answer(1)).held is None
        assert court.sent(asker.other, progress("t")) is What.STALE_PROGRESS

    def test_by_the_other_type(self, asker: Peer) -> None:
        """It answers, and its bytes are not repaired."""
        court = asked(asker, 7)
        assert court.sent(asker.other, answer("7")) == answer("7")
        assert court.state(7, asker) is State.ANSWERED

    def test_of_several_uses(self, asker: Peer) -> None:
        """One less is in flight; the last is an ordinary request again."""
        court = asked(asker, 7, 7, 7)
        assert court.hear(asker.other, answer(7)).held is None
        assert court.state(7, asker) is State.AMBIGUOUS
        assert court.hear(asker.other, answer(7)).held is None
        assert court.state(7, asker) is State.IN_FLIGHT
        assert court.hear(asker, cancel(7)).effective
        assert court.sent(asker.other, answer(7)) is LATE

    def test_that_creates_a_task(self, asker: Peer) -> None:
        """Its token lives on with the task."""
        court = Court()
        court.hear(asker, call(7, token="t"))
        court.hear(asker, call(8))
        assert court.sent(asker.other, task(7)) == task(7)
        assert court.sent(asker.other, task(8, modern=True)) == task(8, modern=True)
        assert court.state(7, asker) is court.state(8, asker) is State.ANSWERED
        assert court.sent(asker.other, progress("t")) == progress("t")

    def test_under_a_fresh_id(self, asker: Peer) -> None:
        """Its issuer sees the id as it wrote it."""
        court = asked(asker, b"7.0")
        court.hear(asker, cancel(7))
        court.hear(asker, call(b"7.0"))
        wire = spell(court.alias(7, asker).wire)
        assert court.sent(asker.other, answer(wire)) == answer(b"7.0")


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
        assert court.sent(asker.other, answer(7)) is LATE

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


class TestOurOwn:
    """An answer to a request of our own."""

    @pytest.mark.parametrize("kind", [str, int])
    def test_it_is_swallowed(self, kind: type) -> None:
        """Once; also if the other type comes back."""
        court = Court()
        books = court.books()
        own = books.fresh.issue(7)
        books.own.put(own, "t-1")
        verdict = court.server(answer(kind(own)))
        assert (verdict.held, verdict.final, verdict.task) == (
            What.SWALLOWED_ANSWER,
            True,
            "t-1",
        )
        assert court.sent(Peer.SERVER, answer(kind(own))) is LATE

    def test_under_a_string(self) -> None:
        """Which no integer stands for."""
        court = Court()
        books = court.books()
        own = books.fresh.issue("a")
        assert court.sent(Peer.SERVER, answer(spell(own))) is LATE
        books.own.put(own, "t-1")
        assert court.sent(Peer.SERVER, answer(spell(own))) is What.SWALLOWED_ANSWER


class TestUnasked:
    """Answers that nobody waits for."""

    @BOTH
    def test_they_pass(self, asker: Peer) -> None:
        """To an id never seen, to one that is answered, to none at all."""
        court = asked(asker, 7)
        court.hear(asker.other, answer(7))
        everything = (answer(7), answer(8), error("x"), nobodys_error(), nobodys_error(null=False))
        for one in (*everything, answer(b"1.5"), answer(b"[7]")):
            assert court.hear(asker.other, one) is FORWARD

    def test_a_shield_drops_the_servers(self) -> None:
        """Second answers, unknown ids, no id."""
        court = asked(Peer.CLIENT, 7, policy=SHIELD)
        court.server(answer(7))
        everything = (answer(7), answer(8), error("x"), nobodys_error(), nobodys_error(null=False))
        for one in everything:
            assert court.sent(Peer.SERVER, one) is UNASKED

    def test_a_shield_drops_a_second_answer_to_a_fresh_id(self) -> None:
        """It is named as its issuer knows it."""
        court = cancelled(Peer.CLIENT, 7, policy=SHIELD)
        court.client(call(7))
        wire = spell(court.alias(7).wire)
        court.server(answer(wire))
        verdict = court.server(answer(wire))
        assert (verdict.held, verdict.name) == (UNASKED, 7)

    def test_a_shield_does_not_guard_the_server(self) -> None:
        """The client's pass."""
        court = asked(Peer.SERVER, 7, policy=SHIELD)
        court.client(answer(7))
        for one in (answer(7), answer(8), nobodys_error()):
            assert court.client(one) is FORWARD

    def test_ids_that_are_never_tracked_pass_a_shield(self) -> None:
        """They may have been asked about."""
        court = Court(SHIELD)
        for one in (answer(b"1.5"), answer(b"[7]"), answer("x" * 2000)):
            assert court.server(one) is FORWARD

    def test_with_a_twin_in_flight(self) -> None:
        """That one may be meant."""
        court = asked(Peer.CLIENT, 7, "7", policy=SHIELD)
        court.server(answer(7))
        assert court.server(answer(7)).held is None
        assert court.state("7") is State.IN_FLIGHT

    def test_when_something_was_not_tracked(self) -> None:
        """It may have asked."""
        court = Court(SHIELD)
        court.client(b'{"something":"else"}')
        assert court.server(answer(8)) is FORWARD
        assert court.sent(Peer.SERVER, nobodys_error()) is UNASKED


class TestInitialize:
    """Its first response always passes."""

    def test_it_passes(self) -> None:
        """Though the client has tried to cancel it."""
        court = Court()
        court.client(initialize(0))
        court.client(cancel(0))
        assert court.server(answer(0)) is FORWARD


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
        answering.created_task(court.ledger, Peer.SERVER, 7)
        assert court.sent(Peer.SERVER, progress("t")) == progress("t")
        assert court.sent(Peer.CLIENT, cancel(7)) == cancel(7)

    def test_a_request_that_stands_otherwise_by_now(self) -> None:
        """Cancelled, in flight again, forgotten: nothing happens."""
        court = cancelled(Peer.CLIENT, 7)
        for key in (7, 8):
            answering.created_task(court.ledger, Peer.SERVER, key)
        assert court.state(7) is State.TOMBSTONE
        assert court.sent(Peer.CLIENT, cancel(7)) is What.REDUNDANT_CANCEL


def test_the_dialect_says_whether_there_are_tasks() -> None:
    """Elsewhere a result that looks like one is a result."""
    court = Court(dialect=replace(MCP, creates_tasks=False))
    court.client(call(7))
    court.client(cancel(7))
    assert court.sent(Peer.SERVER, task(7)) is LATE
