"""Cancels: the first takes effect, repeats are redundant, what is not certain passes."""

from __future__ import annotations

from nevermind.ids import spell
from nevermind.ledger import FORWARD
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, Policy
from nevermind.uses import Use
from proxy.court import BOTH, Court, asked
from proxy.messages import OWED, Spelling, answer, call, cancel, initialize, task

FORWARDED = Policy(redundant_cancel=Fate.FORWARD)


@BOTH
class TestFirst:
    """The first cancel of a request in flight."""

    def test_it_takes_effect_and_passes(self, asker: Peer) -> None:
        """The worker is to stop."""
        court = asked(asker, 7)
        court.now = 3.0
        verdict = court.hear(asker, cancel(7))
        assert (verdict.held, verdict.edits) == (None, ())
        assert verdict.cancelled
        assert verdict.effective
        use = court.record(7, asker)
        assert isinstance(use, Use)
        assert (use.state, use.cancelled_at) == (State.TOMBSTONE, 3.0)

    def test_of_two_uses(self, asker: Peer) -> None:
        """Which one is meant can't be told: it passes and marks nothing."""
        court = asked(asker, 7, 7)
        verdict = court.hear(asker, cancel(7))
        assert (verdict.held, verdict.effective) == (None, False)
        assert "two requests" in verdict.why
        assert court.state(7, asker) is State.AMBIGUOUS

    def test_by_the_other_type(self, asker: Peer) -> None:
        """Where there is no exact match."""
        court = asked(asker, 7)
        assert court.hear(asker, cancel("7")).effective
        assert court.state(7, asker) is State.TOMBSTONE

    def test_of_an_unknown_id(self, asker: Peer) -> None:
        """It passes and is remembered nowhere."""
        court = asked(asker, 7)
        verdict = court.hear(asker, cancel(8))
        assert (verdict.held, verdict.cancelled, verdict.effective) == (None, True, False)
        assert court.state(8, asker) is State.ABSENT

    def test_that_names_nothing(self, asker: Peer) -> None:
        """Missing, null or malformed."""
        court = asked(asker, 7)
        for malformed in (b"null", b"true", b"[7]", b"{}"):
            assert court.hear(asker, cancel(malformed)) is FORWARD
        assert court.hear(asker, b'{"method":"notifications/cancelled"}') is FORWARD
        assert court.state(7, asker) is State.IN_FLIGHT

    def test_by_the_wrong_peer(self, asker: Peer) -> None:
        """Each cancels its own requests; somebody else's is not touched."""
        court = asked(asker, 7)
        assert court.hear(asker.other, cancel(7)).held is None
        assert court.state(7, asker) is State.IN_FLIGHT


@BOTH
class TestRedundant:
    """A repeat, or a cancel for what has been answered."""

    def test_a_repeat(self, asker: Peer) -> None:
        """Dropped, however often it comes."""
        court = asked(asker, 7)
        court.hear(asker, cancel(7))
        for _ in range(3):
            verdict = court.hear(asker, cancel(7))
            assert verdict.held is What.REDUNDANT_CANCEL
            assert "cancelled already" in verdict.why
            assert not verdict.retractable

    def test_an_answered_request(self, asker: Peer) -> None:
        """Its answer is taken back where it still waits in our queue."""
        court = asked(asker, 7)
        court.hear(asker.other, answer(7))
        verdict = court.hear(asker, cancel(7))
        assert verdict.held is What.REDUNDANT_CANCEL
        assert "answered" in verdict.why
        assert court.retracted == [(asker, 7)]

    def test_forwarding_them(self, asker: Peer) -> None:
        """``--redundant-cancel forward``; the answer is late all the same."""
        court = asked(asker, 7, 8, policy=FORWARDED)
        court.hear(asker, cancel(7))
        court.hear(asker.other, answer(8))
        for either in (7, 8):
            verdict = court.hear(asker, cancel(either))
            assert (verdict.held, verdict.cancelled) == (None, True)
        assert court.retracted == [(asker, 8)]

    def test_with_a_twin_in_flight(self, asker: Peer) -> None:
        """That one may be meant: it passes, marks nothing, takes nothing back."""
        court = asked(asker, 7, "7", 8, "8")
        court.hear(asker, cancel(7))
        court.hear(asker.other, answer(8))
        for either in (7, 8):
            assert court.hear(asker, cancel(either)).held is None
        assert not court.retracted
        assert court.state("7", asker) is court.state("8", asker) is State.IN_FLIGHT

    def test_of_a_request_that_was_ambiguous(self, asker: Peer) -> None:
        """Which answer is which can't be told: none is taken back."""
        court = asked(asker, 7, 7)
        court.hear(asker.other, answer(7))
        court.hear(asker.other, answer(7))
        assert court.hear(asker, cancel(7)).held is What.REDUNDANT_CANCEL
        assert not court.retracted

    def test_after_an_answer_that_created_a_task(self, asker: Peer) -> None:
        """It passes, and marks nothing."""
        court = asked(asker, 7, 8)
        court.hear(asker, cancel(7))
        court.hear(asker.other, task(7))
        court.hear(asker.other, task(8))
        for either in (7, 8):
            verdict = court.hear(asker, cancel(either))
            assert (verdict.held, verdict.effective) == (None, False)
        assert not court.retracted
        assert court.state(8, asker) is State.ANSWERED

    def test_one_that_cannot_be_dropped_takes_nothing_back(self, asker: Peer) -> None:
        """A repeated key: the receiver may read another id."""
        court = asked(asker, 7)
        court.hear(asker.other, answer(7))
        body = cancel(7).replace(b'"requestId":7', b'"requestId":6,"requestId":7')
        assert court.judge.message(asker, body, 0.0) == body
        assert not court.retracted


@BOTH
class TestFreshIds:
    """An issuer's id means its newest use."""

    def again(self, asker: Peer, policy: Policy | None = None) -> tuple[Court, Spelling]:
        """A request that is cancelled, and in flight again under a fresh id."""
        court = asked(asker, 7, policy=policy)
        court.hear(asker, cancel(7))
        court.hear(asker, call(7))
        return court, spell(court.alias(7, asker).wire)

    def test_the_newest_use_is_cancelled(self, asker: Peer) -> None:
        """Under the id that its receiver knows."""
        court, wire = self.again(asker)
        assert court.sent(asker, cancel(7, "enough")) == cancel(wire, "enough")
        assert court.alias(7, asker).state is State.TOMBSTONE
        assert court.sent(asker, cancel(7)) is What.REDUNDANT_CANCEL

    def test_by_the_other_type(self, asker: Peer) -> None:
        """The name is coerced, too."""
        court, wire = self.again(asker)
        assert court.sent(asker, cancel("7")) == cancel(wire)

    def test_while_it_is_ambiguous(self, asker: Peer) -> None:
        """It passes, translated."""
        court, wire = self.again(asker)
        court.hear(asker, call(7))
        assert court.sent(asker, cancel(7)) == cancel(wire)
        assert court.alias(7, asker).state is State.AMBIGUOUS

    def test_when_it_has_been_answered(self, asker: Peer) -> None:
        """Redundant; forwarded it is translated."""
        court, wire = self.again(asker, policy=FORWARDED)
        court.hear(asker.other, answer(wire))
        assert court.sent(asker, cancel(7)) == cancel(wire)
        assert court.retracted == [(asker, 7)]

    def test_the_wire_id_is_no_name(self, asker: Peer) -> None:
        """Its issuer has never seen it."""
        court, wire = self.again(asker)
        assert court.hear(asker, cancel(wire)).held is None
        assert court.alias(7, asker).state is State.IN_FLIGHT


class TestInitialize:
    """A client must not cancel it."""

    def test_the_cancel_is_not_forwarded_and_changes_nothing(self) -> None:
        """Its answer passes."""
        court = Court()
        court.client(initialize(0))
        verdict = court.client(cancel(0))
        assert verdict.held is What.INITIALIZE_CANCEL
        assert court.state(0) is State.IN_FLIGHT

    def test_its_answer_is_not_taken_back(self) -> None:
        """Though the cancel is redundant."""
        court = Court()
        court.client(initialize(0))
        court.server(answer(0))
        assert court.client(cancel(0)).held is What.REDUNDANT_CANCEL
        assert not court.retracted

    def test_a_server_that_asks_for_one(self) -> None:
        """May cancel it: nothing says otherwise."""
        court = Court()
        court.server(initialize(0))
        assert court.server(cancel(0)).effective


class TestOwed:
    """Where an answer is owed."""

    def test_the_first_and_a_repeat(self) -> None:
        """Until the answer, and after it."""
        court = Court(dialect=OWED)
        court.client(call(7, dialect=OWED))
        assert court.client(cancel(7, dialect=OWED)).effective
        assert court.state(7) is State.CANCELLED
        assert court.sent(Peer.CLIENT, cancel(7, dialect=OWED)) is What.REDUNDANT_CANCEL
        court.server(answer(7))
        verdict = court.client(cancel(7, dialect=OWED))
        assert (verdict.held, verdict.retractable) == (What.REDUNDANT_CANCEL, False)


class TestRetracted:
    """The answer was taken out of the queue: it is late."""

    @BOTH
    def test_a_plain_request(self, asker: Peer) -> None:
        """It becomes a tombstone, and the overrun counts."""
        court = asked(asker, 7)
        court.hear(asker.other, answer(7))
        court.now = 2.0
        court.hear(asker, cancel(7))
        court.judge.retract(asker, 7, court.judge.look(answer(7)), answer(7), 2.0)
        assert court.state(7, asker) is State.TOMBSTONE
        assert (court.ledger.cancelled, court.ledger.overrun) == (1, 1)
        assert court.sent(asker.other, answer(7)) is What.LATE_RESPONSE

    def test_a_use_under_a_fresh_id(self) -> None:
        """By its name."""
        court = asked(Peer.CLIENT, 7)
        court.client(cancel(7))
        court.client(call(7))
        use = court.alias(7)
        court.server(answer(spell(use.wire)))
        court.client(cancel(7))
        court.judge.retract(Peer.CLIENT, 7, court.judge.look(answer(7)), answer(7), 0.0)
        assert use.state is State.TOMBSTONE
