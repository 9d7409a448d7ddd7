"""The state of one session: two sets of books, and what is counted in them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nevermind.dialects import MCP
from nevermind.ledger import FORWARD, Ledger, Verdict
from nevermind.lifecycle import OWED as OWED_TABLE
from nevermind.lifecycle import UNANSWERED, State
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.uses import Use
from proxy.court import Court
from proxy.messages import OWED, answer, call, cancel, listen


def test_a_verdict_that_holds_nothing_back() -> None:
    """Is the one that most messages get."""
    assert Verdict() == FORWARD
    assert FORWARD.held is None
    assert not FORWARD.edits


def test_each_dialect_has_its_table() -> None:
    """By whether an answer is owed."""
    assert Ledger(Policy(), MCP, "0").table is UNANSWERED
    assert Ledger(Policy(), OWED, "0").table is OWED_TABLE


def test_the_same_id_in_both_directions_is_two_requests() -> None:
    """One is cancelled, the other is not."""
    court = Court()
    court.client(call(7))
    court.server(call(7))
    court.client(cancel(7))
    assert court.state(7, Peer.CLIENT) is State.TOMBSTONE
    assert court.state(7, Peer.SERVER) is State.IN_FLIGHT
    assert court.ledger.in_flight() == {Peer.CLIENT: 0, Peer.SERVER: 1}


class TestForgetting:
    """After something untracked nothing that has ended is certain."""

    def test_what_goes_and_what_stays(self) -> None:
        """Live requests and tokens stay, and the other peer's books are not touched."""
        court = Court()
        for peer in Peer:
            court.hear(peer, call(1, token="a"))
            court.hear(peer, cancel(1))
            court.hear(peer, call(2, token="b"))
        books = court.books(Peer.CLIENT)
        books.forget()
        assert books.unsure
        assert court.state(1) is State.ABSENT
        assert court.state(2) is State.IN_FLIGHT
        assert not books.tokens.knows("a")
        assert books.tokens.knows("b")
        other = court.books(Peer.SERVER)
        assert not other.unsure
        assert other.tokens.knows("a")
        assert court.state(1, Peer.SERVER) is State.TOMBSTONE

    def test_fresh_ids_stay_known(self) -> None:
        """Nobody else used them."""
        court = Court()
        court.client(call(1))
        court.client(cancel(1))
        court.client(call(1))
        wire = court.alias(1).wire
        court.books().forget()
        assert court.books().fresh.issued(wire)

    def test_fresh_ids_are_looked_for_among_ids_and_tokens(self) -> None:
        """A range in which anything was seen is not used."""
        court = Court()
        start = court.books().fresh.issue(0)
        assert isinstance(start, int)
        other = Court()
        other.client(call(start + 10, token=start + 5000))
        fresh = other.books().fresh.issue(0)
        assert fresh == start + 2 * 4096


class TestWaiting:
    """How many requests the host still wants answered: they lengthen the grace."""

    def test_uncancelled_requests_of_the_client(self) -> None:
        """Each use of an ambiguous id is one."""
        court = Court()
        assert court.ledger.waiting() == 0
        court.client(call(1))
        court.client(call(2, token="t"))
        court.client(call(3))
        court.client(call(3))
        court.server(call(4))
        assert court.ledger.waiting() == 4
        court.client(cancel(1))
        court.client(cancel(2))
        court.server(answer(3))
        assert court.ledger.waiting() == 1

    def test_subscriptions_are_left_out(self) -> None:
        """They stay open for hours."""
        court = Court()
        court.client(listen(1))
        court.client(listen(2))
        court.books().requests.promote(2)
        assert court.ledger.waiting() == 0
        assert court.ledger.in_flight()[Peer.CLIENT] == 2

    def test_a_cancelled_one_that_is_owed_an_answer(self) -> None:
        """Nobody waits for it, but it is in flight."""
        court = Court(dialect=OWED)
        court.client(call(1, dialect=OWED))
        court.client(cancel(1, dialect=OWED))
        assert court.ledger.waiting() == 0
        assert court.ledger.in_flight()[Peer.CLIENT] == 1


class TestCounts:
    """Cancels that took effect, and answers that came all the same."""

    def test_an_overrun_is_counted_once_a_request(self) -> None:
        """Its longest is how long after the cancel anything still came."""
        court = Court()
        ledger = court.ledger
        court.client(call(1))
        court.client(call(2))
        court.now = 1.0
        court.client(cancel(1))
        court.client(cancel(2))
        court.client(cancel(2))
        assert (ledger.cancelled, ledger.overrun, ledger.longest_overrun) == (2, 0, None)
        court.now = 4.0
        court.server(answer(1))
        assert (ledger.overrun, ledger.longest_overrun) == (1, 3.0)
        court.now = 6.0
        court.server(answer(1))
        assert (ledger.overrun, ledger.longest_overrun) == (1, 5.0)
        court.now = 5.0
        court.server(answer(2))
        assert (ledger.cancelled, ledger.overrun, ledger.longest_overrun) == (2, 2, 5.0)

    def test_a_request_that_was_not_cancelled_cannot_overrun(self) -> None:
        """Whoever counts it so is wrong."""
        ledger = Ledger(Policy(), MCP, "0")
        with pytest.raises(AssertionError):
            ledger.overran(Use(1, (0.0, "x")), 1.0)


def test_nothing_is_remembered_of_what_has_ended_where_that_is_wanted() -> None:
    """``--remember 0``: late answers pass then."""
    court = Court(replace(Policy(), remember=0))
    court.client(call(1, token="t"))
    court.client(cancel(1))
    assert court.state(1) is State.ABSENT
    assert court.server(answer(1)).held is None
