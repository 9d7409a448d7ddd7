"""What a listening proxy counts, for its operators.  Plain numbers; knows no metrics library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from nevermind.notes import Statistics


class Tally:
    """Counts over the life of the process.

    ``refused`` counts by HTTP status; ``ended`` counts sessions by how they ended:
    "orderly" or "lost".
    """

    def __init__(self) -> None:
        self.opened = 0
        self.refused: Counter[int] = Counter()
        self.failed = 0
        self.ended: Counter[str] = Counter()
        self._past = Totals()

    def add(self, statistics: Statistics, *, orderly: bool) -> None:
        """A session is over."""
        self.ended["orderly" if orderly else "lost"] += 1
        self._past.add(statistics)

    def totals(self, living: Iterable[Statistics]) -> Totals:
        """Past sessions and those that live, together."""
        totals = Totals()
        totals.add_totals(self._past)
        for statistics in living:
            totals.add(statistics)
            totals.in_flight += sum(statistics.in_flight.values())
        return totals


class Totals:
    """Sums over sessions; ``in_flight`` counts only what waits now."""

    def __init__(self) -> None:
        self.forwarded = 0
        self.dropped: Counter[str] = Counter()
        self.cancelled = 0
        self.timed_out = 0
        self.answered = 0
        self.reaped = 0
        self.never_answered = 0
        self.longest_overrun_s = 0.0
        self.in_flight = 0

    def add(self, statistics: Statistics) -> None:
        """Add one session's."""
        self.forwarded += statistics.forwarded
        self.dropped.update({what.value: count for what, count in statistics.dropped.items()})
        self.cancelled += statistics.cancelled
        self.timed_out += statistics.timed_out
        self.answered += statistics.answered
        self.reaped += statistics.reaped
        self.never_answered += statistics.never_answered
        self._overran(statistics.longest_overrun_s or 0.0)

    def add_totals(self, totals: Totals) -> None:
        """Add sums."""
        self.forwarded += totals.forwarded
        self.dropped.update(totals.dropped)
        self.cancelled += totals.cancelled
        self.timed_out += totals.timed_out
        self.answered += totals.answered
        self.reaped += totals.reaped
        self.never_answered += totals.never_answered
        self._overran(totals.longest_overrun_s)

    def _overran(self, seconds: float) -> None:
        self.longest_overrun_s = max(self.longest_overrun_s, seconds)
