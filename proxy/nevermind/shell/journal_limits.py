"""Keeps a flood of lines readable: beyond so many a second, kinds are summed up.

The time is an input, in seconds of any clock that only goes forward.
"""

from __future__ import annotations

from nevermind.notes import Event, Note, What
from nevermind.shell.journal_lines import Member

PER_SECOND = 100
"""Lines written one by one within a second: what an eye or a log view can still follow."""


class RateLimit:
    """Lets the first ``PER_SECOND`` lines of each second pass and counts the rest by kind."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._passed = 0
        self._sums: dict[tuple[Event, What | None], _Sum] = {}
        self._newest: _Sum | None = None

    @property
    def holds(self) -> bool:
        """Whether there are sums that nobody has been told of."""
        return bool(self._sums)

    def admit(self, note: Note, now: float) -> bool:
        """Whether the line of ``note`` is to be written; if not, it has been counted.

        Call ``release`` first: the sums of a second that is over come before
        the lines of the next.
        """
        if self._since is None or now - self._since >= 1:
            self._since = now
            self._passed = 0
        self._passed += 1
        if self._passed <= PER_SECOND:
            return True
        # a flood is of one kind: to look it up would cost as much as all the rest
        newest = self._newest
        if newest is None or newest.event is not note.event or newest.what is not note.what:
            newest = self._sums.setdefault((note.event, note.what), _Sum(note.event, note.what))
            self._newest = newest
        newest.count += 1
        newest.bytes += note.bytes or 0
        return False

    def release(self, now: float | None) -> list[dict[str, Member]]:
        """The members of one line for each kind that was counted, once its second is over.

        ``now`` None: whatever there is, for the end is near.
        """
        over = now is None or self._since is None or now - self._since >= 1
        if not self._sums or not over:
            return []
        sums, self._sums, self._newest = self._sums, {}, None
        return [
            {
                "event": total.event.value,
                **({"what": total.what.value} if total.what else {}),
                "count": total.count,
                "bytes": total.bytes,
                "why": f"summed up: more than {PER_SECOND} lines in a second",
            }
            for total in sums.values()
        ]


class _Sum:
    __slots__ = ("bytes", "count", "event", "what")

    def __init__(self, event: Event, what: What | None) -> None:
        self.event = event
        self.what = what
        self.count = self.bytes = 0
