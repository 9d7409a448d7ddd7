"""Cancels that do not reach the server: ``--cancel absorb`` and ``--shield``."""

from __future__ import annotations

from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, Policy
from proxy.court import Court, asked
from proxy.messages import answer, cancel

ABSORBED = Policy(cancel=FirstCancel.ABSORB)


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
