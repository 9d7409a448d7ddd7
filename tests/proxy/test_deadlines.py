"""The deadlines of requests: which is next, compared with a plain dictionary of them."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from nevermind.deadlines import Deadlines
from nevermind.peers import Peer
from nevermind.uses import Use

USES = st.integers(0, 7)
TIMES = st.integers(0, 50).map(float)


def use(number: int = 0) -> Use:
    """A use with a number for its id."""
    return Use(number, (0.0, "tools/call"))


class TestDeadlines:
    """One by one."""

    def test_none_at_first(self) -> None:
        """Nothing is due."""
        deadlines = Deadlines()
        assert deadlines.next() is None
        assert deadlines.take_due(1e9) is None

    def test_the_earliest_first(self) -> None:
        """With the peer that issued the request."""
        deadlines = Deadlines()
        first, second = use(1), use(2)
        deadlines.set(Peer.CLIENT, second, 2.0)
        deadlines.set(Peer.SERVER, first, 1.0)
        assert deadlines.next() == 1.0
        assert deadlines.take_due(0.9) is None
        assert deadlines.take_due(2.0) == (Peer.SERVER, first)
        assert first.due is None
        assert deadlines.take_due(2.0) == (Peer.CLIENT, second)
        assert deadlines.take_due(2.0) is None

    def test_at_the_same_time(self) -> None:
        """In the order in which they were set."""
        deadlines = Deadlines()
        uses = [use(n) for n in range(5)]
        for one in uses:
            deadlines.set(Peer.CLIENT, one, 1.0)
        taken = [deadlines.take_due(1.0) for _ in uses]
        assert taken == [(Peer.CLIENT, one) for one in uses]

    def test_what_is_over_takes_no_room(self) -> None:
        """A million requests that are answered at once leave little behind."""
        deadlines = Deadlines()
        kept = use(0)
        deadlines.set(Peer.CLIENT, kept, 50.0)
        for n in range(10_000):
            one = use(n)
            deadlines.set(Peer.CLIENT, one, 60.0)
            deadlines.clear(one)
        assert len(deadlines._heap) < 3000
        assert deadlines.take_due(100.0) == (Peer.CLIENT, kept)
        assert deadlines.next() is None


class AgainstADictionary(RuleBasedStateMachine):
    """Set, put off, brought forward, cleared and taken in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.deadlines = Deadlines()
        self.uses = [use(n) for n in range(8)]
        self.due: dict[int, float] = {}

    @rule(number=USES, at=TIMES)
    def sets(self, number: int, at: float) -> None:
        """A use is due at a time and at no other."""
        self.deadlines.set(Peer.CLIENT, self.uses[number], at)
        self.due[number] = at

    @rule(number=USES)
    def clears(self, number: int) -> None:
        """A use is not due any more."""
        self.deadlines.clear(self.uses[number])
        self.due.pop(number, None)

    @rule(now=TIMES)
    def takes(self, now: float) -> None:
        """All that is due, the earliest first."""
        times = []
        while (found := self.deadlines.take_due(now)) is not None:
            number = self.uses.index(found[1])
            times.append(self.due.pop(number))
        assert times == sorted(times)
        assert all(at <= now for at in times)
        assert all(at > now for at in self.due.values())

    @invariant()
    def the_next_one_is_the_earliest(self) -> None:
        """And each use says itself when it is its turn."""
        assert self.deadlines.next() == min(self.due.values(), default=None)
        assert {n: u.due for n, u in enumerate(self.uses) if u.due is not None} == self.due


TestAgainstADictionary = AgainstADictionary.TestCase
TestAgainstADictionary.settings = settings(
    max_examples=100, stateful_step_count=40, deadline=None, derandomize=True, database=None
)
