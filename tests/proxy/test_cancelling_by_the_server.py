"""A server's cancel that means a request of the client's."""

from __future__ import annotations

from nevermind.ids import spell
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from proxy.court import Court, asked
from proxy.messages import answer, call, cancel, listen


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
