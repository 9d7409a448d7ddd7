"""When something has to be done about a request, if nothing comes before.

A heap whose entries may be out of date: a use says itself, in ``due``, when it
is its turn, and an entry that says otherwise is corrected when it comes up.
So to put a deadline off, as every progress message does, costs one assignment.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from nevermind.peers import Peer
from nevermind.uses import Use

_SPARE = 1024
"""Entries out of date that are not worth a clean-up."""


class Deadlines:
    """The deadlines of all uses that have one, both issuers' together."""

    __slots__ = ("_heap", "_order", "_stale")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Peer, Use]] = []
        self._order = 0
        self._stale = 0

    def set(self, issuer: Peer, use: Use, at: float) -> None:
        """``use``, of ``issuer``, is due at ``at`` and at no other time."""
        before = use.due
        use.due = at
        if before is None or at < before:
            self._order += 1  # so that two uses are never compared
            heappush(self._heap, (at, self._order, issuer, use))

    def clear(self, use: Use) -> None:
        """``use`` is not due any more."""
        if use.due is None:
            return
        use.due = None
        self._stale += 1
        if self._stale > len(self._heap) // 2 + _SPARE:
            self._heap = [
                (at, order, issuer, use)
                for _, order, issuer, use in self._heap
                if (at := use.due) is not None
            ]
            heapify(self._heap)
            self._stale = 0

    def next(self) -> float | None:
        """The earliest deadline."""
        heap = self._heap
        while heap:
            at, order, issuer, use = heap[0]
            if use.due == at:
                return at
            heappop(heap)
            if use.due is not None and use.due > at:
                heappush(heap, (use.due, order, issuer, use))
        return None

    def take_due(self, now: float) -> tuple[Peer, Use] | None:
        """A use whose deadline has passed, the earliest first; it has none any more."""
        at = self.next()
        if at is None or at > now:
            return None
        _, _, issuer, use = heappop(self._heap)
        use.due = None
        return issuer, use
