"""Responses: the one answer passes, and so does one that nobody asked for."""

from __future__ import annotations

import pytest

from nevermind.ids import spell
from nevermind.ledger import FORWARD
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Policy
from proxy.court import BOTH, Court, asked, cancelled
from proxy.messages import answer, call, cancel, error, initialize, nobodys_error, progress, task

LATE = What.LATE_RESPONSE
UNASKED = What.UNASKED_ANSWER
SHIELD = Policy(shield=True)


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
