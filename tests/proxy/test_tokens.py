"""Progress tokens: a live owner decides, then the one that ended last."""

from __future__ import annotations

from nevermind.ids import Key
from nevermind.tokens import Tokens
from nevermind.uses import Use


def carrier(tokens: Tokens, *carried: Key, wire: Key = 1) -> Use:
    """A request in flight that carries tokens."""
    use = Use(wire, (0.5, "x"), carried)
    tokens.claim(use)
    return use


def cancel(tokens: Tokens, use: Use) -> None:
    """The request is cancelled."""
    use.cancelled_at = 1.0
    tokens.end(use)


class TestOwners:
    """Whose a token is."""

    def test_nobody(self) -> None:
        """An unknown token has no owner."""
        tokens = Tokens(10)
        assert tokens.look_up("t") is None
        assert not tokens.knows("t")
        assert tokens.live_owners("t") == []

    def test_a_live_owner(self) -> None:
        """The request that carries it."""
        tokens = Tokens(10)
        use = carrier(tokens, "t", "u")
        assert tokens.look_up("t") == tokens.look_up("u") == (True, use)
        assert tokens.knows("t")
        assert tokens.live_owners("t") == [use]

    def test_a_cancelled_owner(self) -> None:
        """It is remembered who that was."""
        tokens = Tokens(10)
        use = carrier(tokens, "t")
        cancel(tokens, use)
        assert tokens.look_up("t") == (False, use)
        assert tokens.knows("t")
        assert tokens.live_owners("t") == []

    def test_an_answered_owner(self) -> None:
        """Only when it was asked, and its method, is remembered of a plain one."""
        tokens = Tokens(10)
        tokens.end(carrier(tokens, "t"))
        assert tokens.look_up("t") == (False, (0.5, "x"))

    def test_an_answered_owner_under_a_fresh_id(self) -> None:
        """Its tokens may still have to be translated."""
        tokens = Tokens(10)
        use = carrier(tokens, "t", wire=1000)
        use.name = 7
        tokens.end(use)
        assert tokens.look_up("t") == (False, use)

    def test_as_long_as_one_owner_is_live(self) -> None:
        """Whatever became of the others."""
        tokens = Tokens(10)
        first, second = carrier(tokens, "t"), carrier(tokens, "t", wire=2)
        assert tokens.live_owners("t") == [first, second]
        cancel(tokens, first)
        assert tokens.look_up("t") == (True, second)
        tokens.end(second)
        assert tokens.look_up("t") == (False, (0.5, "x")), "answered: it ended last"

    def test_the_owner_that_ended_last_decides(self) -> None:
        """In the other order too."""
        tokens = Tokens(10)
        first, second = carrier(tokens, "t"), carrier(tokens, "t", wire=2)
        tokens.end(first)
        cancel(tokens, second)
        assert tokens.look_up("t") == (False, second)

    def test_the_newest_of_several(self) -> None:
        """Claiming twice makes it no newer."""
        tokens = Tokens(10)
        first, second = carrier(tokens, "t"), carrier(tokens, "t", wire=2)
        tokens.claim(first)
        assert tokens.look_up("t") == (True, second)
        tokens.end(second)
        assert tokens.look_up("t") == (True, first)

    def test_a_new_request_removes_the_claims_of_ended_ones(self) -> None:
        """Its own end decides then."""
        tokens = Tokens(10)
        cancel(tokens, carrier(tokens, "t"))
        new = carrier(tokens, "t", wire=2)
        assert tokens.look_up("t") == (True, new)
        tokens.release(new)
        assert tokens.look_up("t") is None

    def test_an_untracked_request_lifts_them_too(self) -> None:
        """But not the claim of a live one."""
        tokens = Tokens(10)
        cancel(tokens, carrier(tokens, "t"))
        live = carrier(tokens, "u", wire=2)
        tokens.lift("t")
        tokens.lift("u")
        assert tokens.look_up("t") is None
        assert tokens.look_up("u") == (True, live)

    def test_ending_twice(self) -> None:
        """An answer that was taken back: it is cancelled after all."""
        tokens = Tokens(10)
        use = carrier(tokens, "t")
        tokens.end(use)
        assert tokens.look_up("t") == (False, (0.5, "x"))
        cancel(tokens, use)
        assert tokens.look_up("t") == (False, use)


class TestTwins:
    """Tokens are looked up like ids."""

    def test_exact_first_coerced_second(self) -> None:
        """``7`` and ``"7"`` are two, and each stands in for the other."""
        tokens = Tokens(10)
        number = carrier(tokens, 7)
        assert tokens.look_up("7") == (True, number)
        assert tokens.live_owners("7") == [number]
        text = carrier(tokens, "7", wire=2)
        assert tokens.look_up("7") == (True, text)
        assert tokens.look_up(7) == (True, number)
        assert not tokens.knows("8")
        assert tokens.look_up("x") is None
        assert tokens.live_owners("x") == []

    def test_an_ended_one_is_exact_too(self) -> None:
        """Its live twin does not stand in for it."""
        tokens = Tokens(10)
        carrier(tokens, 7)
        text = carrier(tokens, "7", wire=2)
        cancel(tokens, text)
        assert tokens.look_up("7") == (False, text)
        assert tokens.live_owners("7") == []


class TestTasks:
    """A request that created a task: its tokens live on and are unknown."""

    def test_a_released_token_is_unknown(self) -> None:
        """Cancelled before or not."""
        tokens = Tokens(10)
        plain, cancelled = carrier(tokens, "t"), carrier(tokens, "u", wire=2)
        cancel(tokens, cancelled)
        tokens.release(plain)
        tokens.release(cancelled)
        assert tokens.look_up("t") is None
        assert tokens.look_up("u") is None
        assert tokens.task_spelling("t") is None

    def test_others_lose_their_claim(self) -> None:
        """Their end does not end the task's progress; a new request may carry it again."""
        tokens = Tokens(10)
        first, second = carrier(tokens, "t"), carrier(tokens, "t", wire=2)
        tokens.release(first)
        assert tokens.look_up("t") is None
        cancel(tokens, second)
        assert tokens.look_up("t") is None
        third = carrier(tokens, "t", wire=3)
        cancel(tokens, second)
        assert tokens.look_up("t") == (True, third)

    def test_a_fresh_token_is_translated_on(self) -> None:
        """For as long as the task's progress may come; by its twin too."""
        tokens = Tokens(10)
        use = carrier(tokens, 1000, "own", wire=1001)
        use.respelled = {1000: b'"t"'}
        tokens.release(use)
        assert tokens.task_spelling(1000) == tokens.task_spelling("1000") == b'"t"'
        assert tokens.task_spelling("own") is None
        tokens.forget_ended()
        assert tokens.task_spelling(1000) == b'"t"'


class TestBounds:
    """``--remember`` counts tokens too."""

    def test_ended_ones_go(self) -> None:
        """The oldest first."""
        tokens = Tokens(3)
        for n in range(20):
            cancel(tokens, carrier(tokens, f"t{n}", wire=n))
        known = [n for n in range(20) if tokens.knows(f"t{n}")]
        assert 3 <= len(known) <= 6
        assert known[-1] == 19

    def test_live_ones_stay(self) -> None:
        """However many."""
        tokens = Tokens(3)
        uses = [carrier(tokens, f"t{n}", wire=n) for n in range(20)]
        tokens.forget_ended()
        assert [tokens.look_up(f"t{n}") for n in range(20)] == [(True, use) for use in uses]

    def test_forgetting(self) -> None:
        """Something untracked may have carried any token."""
        tokens = Tokens(3)
        cancel(tokens, carrier(tokens, "t"))
        live = carrier(tokens, "u", wire=2)
        tokens.forget_ended()
        assert tokens.look_up("t") is None
        assert tokens.look_up("u") == (True, live)

    def test_very_many_owners_of_one_token(self) -> None:
        """Each comes and goes at the same small cost."""
        tokens = Tokens(10)
        uses = [carrier(tokens, "t", wire=n) for n in range(20_000)]
        for use in uses:
            tokens.end(use)
        assert tokens.look_up("t") == (False, (0.5, "x"))
