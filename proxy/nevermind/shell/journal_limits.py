"""Keeps a flood of lines readable: beyond so many a second, kinds are summed up.

Knows lines as their members; the time is an input, in seconds of any clock
that only goes forward.
"""

from __future__ import annotations

from nevermind.shell.journal_lines import Member

PER_SECOND = 100
"""Lines written one by one within a second: what an eye or a log view can still follow."""


class RateLimit:
    """Lets the first ``PER_SECOND`` lines of each second pass and counts the rest by kind."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._passed = 0
        self._sums: dict[tuple[Member, Member], list[int]] = {}

    @property
    def holds(self) -> bool:
        """Whether there are sums that nobody has been told of."""
        return bool(self._sums)

    def admit(self, members: dict[str, Member], now: float) -> bool:
        """Whether a line is to be written; if not, it has been counted.

        Call ``release`` first: the sums of a second that is over come before
        the lines of the next.
        """
        if self._since is None or now - self._since >= 1:
            self._since = now
            self._passed = 0
        self._passed += 1
        if self._passed <= PER_SECOND:
            return True
        total = self._sums.setdefault((members["event"], members.get("what")), [0, 0])
        size = members.get("bytes")
        total[0] += 1
        total[1] += size if isinstance(size, int) else 0
        return False

    def release(self, now: float | None) -> list[dict[str, Member]]:
        """One line for each kind that was counted, once its second is over.

        ``now`` None: whatever there is, for the end is near.
        """
        over = now is None or self._since is None or now - self._since >= 1
        if not self._sums or not over:
            return []
        sums, self._sums = self._sums, {}
        return [
            {
                "event": event,
                **({"what": what} if what else {}),
                "count": count,
                "bytes": size,
                "why": f"summed up: more than {PER_SECOND} lines in a second",
            }
            for (event, what), (count, size) in sums.items()
        ]
