"""Cancels: the first takes effect, repeats are redundant, what is not certain passes."""

from __future__ import annotations

import pytest

from nevermind.ids import spell
from nevermind.ledger import FORWARD
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, Policy
from nevermind.uses import Use
from proxy.court import Court
from proxy.messages import OWED, Spelling, answer, call, cancel, initialize, listen, task

BOTH = pytest.mark.parametrize("asker", list(Peer), ids=("client asks", "server asks"))
FORWARDED = Policy(redundant_cancel=Fate.FORWARD)
ABSORBED = Policy(cancel=FirstCancel.ABSORB)


def asked(asker: Peer, *ids: Spelling, policy: Policy | None = None) -> Court:
    """A court before which these requests are in flight."""
    court = Court(policy or Policy())
    for one in ids:
        court.hear(asker, call(one))
    return court


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


class TestAbsorbing:
    """``--cancel absorb``, for servers that crash on a cancel."""

    def test_the_clients_cancels_do_not_reach_the_server(self) -> None:
        """But take effect."""
        court = asked(Peer.CLIENT, 7, policy=ABSORBED)
        verdict = court.client(cancel(7))
        assert verdict.held is What.ABSORBED_CANCEL
        assert verdict.effective
        assert court.sent(Peer.CLIENT, cancel(7)) is What.REDUNDANT_CANCEL
        assert court.sent(Peer.SERVER, answer(7)) is What.LATE_RESPONSE

    def test_of_two_uses(self) -> None:
        """It marks nothing."""
        court = asked(Peer.CLIENT, 7, 7, policy=ABSORBED)
        verdict = court.client(cancel(7))
        assert (verdict.held, verdict.effective) == (What.ABSORBED_CANCEL, False)
        assert court.state(7) is State.AMBIGUOUS

    def test_repeats_do_not_reach_it_either(self) -> None:
        """Not even where repeats are forwarded, or a twin is in flight."""
        policy = Policy(cancel=FirstCancel.ABSORB, redundant_cancel=Fate.FORWARD)
        court = asked(Peer.CLIENT, 7, "7", policy=policy)
        court.client(cancel(7))
        assert court.sent(Peer.CLIENT, cancel(7)) is What.REDUNDANT_CANCEL

    def test_unknown_ids_pass(self) -> None:
        """And so do the server's own cancels."""
        court = asked(Peer.SERVER, 7, policy=ABSORBED)
        assert court.sent(Peer.CLIENT, cancel(8)) == cancel(8)
        assert court.sent(Peer.SERVER, cancel(7)) == cancel(7)


class TestShield:
    """``--shield``: cancels for ids never seen do not reach the server."""

    def test_the_clients(self) -> None:
        """Are dropped; the server's pass."""
        court = Court(Policy(shield=True))
        assert court.sent(Peer.CLIENT, cancel(7)) is What.UNKNOWN_CANCEL
        assert court.sent(Peer.SERVER, cancel(7)) == cancel(7)

    def test_when_something_was_not_tracked(self) -> None:
        """The id may be known after all."""
        court = Court(Policy(shield=True))
        court.client(b'{"something":"else"}')
        assert court.sent(Peer.CLIENT, cancel(7)) == cancel(7)


class TestServersCancelForTheClient:
    """A server's cancel that means a request of the client's."""

    def test_an_old_habit(self) -> None:
        """Some servers cancel what they will not answer: it passes and marks nothing."""
        court = asked(Peer.CLIENT, 7)
        verdict = court.server(cancel(7))
        assert (verdict.held, verdict.cancelled, verdict.effective) == (None, True, False)
        assert court.state(7) is State.IN_FLIGHT
        assert court.sent(Peer.SERVER, cancel("7")) == cancel("7")

    def test_of_a_listen(self) -> None:
        """That is how a server ends one (2026-07-28): always, also of a tombstone of its own."""
        court = Court()
        court.client(listen(7))
        court.server(call(7))
        court.server(cancel(7))
        assert court.state(7, Peer.SERVER) is State.IN_FLIGHT, "the listen was meant"
        for _ in range(2):
            assert court.sent(Peer.SERVER, cancel(7)) == cancel(7)
        assert court.state(7) is State.IN_FLIGHT

    def test_of_a_listen_with_a_token(self) -> None:
        """A record of its own makes no difference."""
        court = Court()
        court.client(listen(7))
        court.books().requests.promote(7)
        assert court.sent(Peer.SERVER, cancel(7)) == cancel(7)

    def test_its_own_request_comes_first(self) -> None:
        """In flight, and cancelled already."""
        court = asked(Peer.CLIENT, 7)
        court.server(call(7))
        assert court.server(cancel(7)).effective
        assert court.sent(Peer.SERVER, cancel(7)) is What.REDUNDANT_CANCEL
        assert court.state(7) is State.IN_FLIGHT

    def test_its_own_answered_one_does_not(self) -> None:
        """The client's is in flight: that one is meant."""
        court = asked(Peer.CLIENT, 7)
        court.server(call(7))
        court.client(answer(7))
        assert court.sent(Peer.SERVER, cancel(7)) == cancel(7)

    def test_exact_first_coerced_second(self) -> None:
        """Its own ``7`` before the client's ``"7"``."""
        court = asked(Peer.CLIENT, "7")
        court.server(call(7))
        assert court.server(cancel(7)).effective
        assert court.state(7, Peer.SERVER) is State.TOMBSTONE

    def test_of_a_use_under_a_fresh_id(self) -> None:
        """The client hears of it by its own name, live or not."""
        court = asked(Peer.CLIENT, 7)
        court.client(cancel(7))
        court.client(call(7))
        wire = spell(court.alias(7).wire)
        assert court.sent(Peer.SERVER, cancel(wire)) == cancel(7)
        court.client(cancel(7))
        assert court.sent(Peer.SERVER, cancel(wire)) == cancel(7)

    def test_of_a_fresh_id_that_is_forgotten(self) -> None:
        """Nobody else used it: it is late."""
        court = asked(Peer.CLIENT, 7)
        court.client(cancel(7))
        court.client(call(7))
        wire = spell(court.alias(7).wire)
        court.client(cancel(7))
        court.books().forget()
        assert court.sent(Peer.SERVER, cancel(wire)) is What.REDUNDANT_CANCEL

    def test_of_a_fresh_id_that_is_both_peers(self) -> None:
        """The same number was given to each: the server knows only the client's."""
        court = asked(Peer.CLIENT, 7)
        court.server(call(8))
        for say, one in ((court.client, 7), (court.server, 8)):
            say(cancel(one))
            say(call(one))
        wire = spell(court.alias(7).wire)
        assert court.alias(8, Peer.SERVER).wire == court.alias(7).wire
        assert court.sent(Peer.SERVER, cancel(wire)) == cancel(7)
        assert court.sent(Peer.SERVER, cancel(8)) == cancel(wire)

    def test_of_its_own_use_under_a_fresh_id(self) -> None:
        """Its own comes first, under whatever id it travels."""
        court = asked(Peer.CLIENT, "8")
        court.server(call(8))
        court.server(cancel(8))
        court.server(call(8))
        wire = spell(court.alias(8, Peer.SERVER).wire)
        assert court.sent(Peer.SERVER, cancel(8)) == cancel(wire)

    def test_of_a_number_in_a_range_of_ours(self) -> None:
        """That the client itself has asked about."""
        court = asked(Peer.CLIENT, 7)
        court.client(cancel(7))
        court.client(call(7))
        wire = court.alias(7).wire
        assert isinstance(wire, int)
        court.books().requests.answered.put(wire + 1, (0.0, "x"))
        assert court.sent(Peer.SERVER, cancel(wire + 1)) == cancel(wire + 1)


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
