"""Requests: tracked and counted, always forwarded."""

from __future__ import annotations

from nevermind.envelopes import look
from nevermind.ledger import FORWARD
from nevermind.lifecycle import State
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.uses import Use
from proxy.court import BOTH, Court, reused
from proxy.messages import OWED, answer, call, cancel


@BOTH
class TestTracking:
    """What is remembered of a request."""

    def test_a_plain_one(self, asker: Peer) -> None:
        """When it was read, and its method; a block of them shares that."""
        court = Court(now=2.0)
        assert court.hear(asker, call(7)) is FORWARD
        assert court.record(7, asker) == (2.0, "tools/call")

    def test_one_with_a_token(self, asker: Peer) -> None:
        """It owns the token."""
        court = Court()
        assert court.hear(asker, call(7, token="t")) is FORWARD
        use = court.record(7, asker)
        assert isinstance(use, Use)
        assert use.tokens == ("t",)
        assert court.books(asker).tokens.look_up("t") == (True, use)

    def test_one_whose_id_cannot_be(self, asker: Peer) -> None:
        """It passes; the token that it carries is spoken for."""
        court = reused(asker, token="t")
        assert court.hear(asker, call(b"null", token="t")) is FORWARD
        assert court.books(asker).tokens.look_up("t") is None
        assert court.books(asker).requests.live_count() == 0

    def test_several_uses(self, asker: Peer) -> None:
        """They are counted, and each token is theirs."""
        court = Court()
        for token in (None, "t", "t", "u"):
            assert court.hear(asker, call(7, token=token)) is FORWARD
        use = court.record(7, asker)
        assert isinstance(use, Use)
        assert (use.uses, use.tokens, use.shared) == (4, ("t", "u"), True)
        assert court.state(7, asker) is State.AMBIGUOUS
        assert court.books(asker).tokens.look_up("u") == (True, use)

    def test_very_many_tokens_of_one_id(self, asker: Peer) -> None:
        """Those that are too many pass, also if they were late before."""
        court = Court()
        court.hear(asker, call(1, token="t99"))
        court.hear(asker, cancel(1))
        for n in range(100):
            court.hear(asker, call(7, token=f"t{n}"))
        use = court.record(7, asker)
        assert isinstance(use, Use)
        assert (use.uses, len(use.tokens)) == (100, 64)
        assert court.books(asker).tokens.look_up("t63") == (True, use)
        assert court.books(asker).tokens.look_up("t64") is None
        assert court.books(asker).tokens.look_up("t99") is None

    def test_an_answered_id(self, asker: Peer) -> None:
        """Is an ordinary request again."""
        court = Court()
        court.hear(asker, call(7))
        court.hear(asker.other, answer(7))
        assert court.hear(asker, call(7)) is FORWARD
        assert court.state(7, asker) is State.IN_FLIGHT

    def test_beyond_the_bound(self, asker: Peer) -> None:
        """A new request passes untracked, and nothing that has ended is certain any more."""
        court = Court(Policy(live_limit=2))
        court.hear(asker, call(1))
        court.hear(asker, cancel(1))
        court.hear(asker, call(2))
        court.hear(asker, call(3))
        verdict = court.hear(asker, call(4))
        assert verdict.untracked
        assert verdict.held is None
        assert court.state(4, asker) is State.ABSENT
        assert court.state(1, asker) is State.ABSENT
        assert court.books(asker).unsure
        assert court.hear(asker, call(3)) is FORWARD, "a further use of a tracked id is counted"
        assert court.state(3, asker) is State.AMBIGUOUS


class TestOwed:
    """Where an answer is owed a cancelled id is no obstacle."""

    def test_a_cancelled_id_has_two_uses(self) -> None:
        """And nothing is late, for it is ambiguous."""
        court = Court(dialect=OWED)
        court.client(call(7, token="t", dialect=OWED))
        court.client(cancel(7, dialect=OWED))
        assert court.client(call(7, dialect=OWED)) is FORWARD
        use = court.record(7)
        assert isinstance(use, Use)
        assert (use.uses, use.state, use.cancelled_at) == (2, State.AMBIGUOUS, None)
        assert court.books().tokens.look_up("t") == (True, use)

    def test_a_settled_id_is_free(self) -> None:
        """No fresh id."""
        court = Court(dialect=OWED)
        court.client(call(7, dialect=OWED))
        court.client(cancel(7, dialect=OWED))
        court.server(answer(7))
        assert court.client(call(7, dialect=OWED)) is FORWARD
        assert court.state(7) is State.IN_FLIGHT

    def test_both_kinds_of_token(self) -> None:
        """A dialect may have several."""
        court = Court(dialect=OWED)
        body = b'{"id":7,"method":"x","params":{"workDoneToken":1,"partialResultToken":"p"}}'
        assert look(body, OWED) == court.judge.look(body)
        court.client(body)
        use = court.record(7)
        assert isinstance(use, Use)
        assert use.tokens == (1, "p")
