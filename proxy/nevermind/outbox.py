"""What one peer has yet to be sent, in order.  Knows bytes, not messages.

The session appends, the shell takes from the front and says how much was
written.  What has not begun to go out can still be replaced.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import NamedTuple

Bytes = bytes | memoryview


class Waiting(NamedTuple):
    """A part that waits: its number, its bytes, and how many of them are gone."""

    number: int
    part: Bytes
    gone: int


class Outbox:
    """One first-in-first-out queue of bytes; the shell is its only reader.

    ``limit`` is in bytes.  One part may exceed it: ``full`` only says that
    nothing more should be read from the other peer.  ``pending`` is how many
    bytes wait.
    """

    __slots__ = ("_first", "_gone", "_limit", "_parts", "_pieces", "pending")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: deque[Bytes] = deque()
        self._pieces: set[int] = set()
        self._first = 0
        self._gone = 0
        self.pending = 0

    @property
    def full(self) -> bool:
        """True while the other peer should not be read."""
        return self.pending >= self._limit

    def append(self, part: Bytes) -> None:
        """Queue ``part``, whole frames and not empty, behind everything else."""
        self._parts.append(part)
        self.pending += len(part)

    def append_piece(self, part: Bytes) -> None:
        """Queue a piece of a frame that is still arriving: never to be replaced."""
        self._pieces.add(self._first + len(self._parts))
        self.append(part)

    def buffers(self, most: int = 64) -> list[memoryview]:
        """The next buffers to write, at most ``most``; call ``wrote`` after."""
        views = [memoryview(part) for part in islice(self._parts, most)]
        if self._gone:
            views[0] = views[0][self._gone :]
        return views

    def wrote(self, count: int) -> None:
        """Take ``count`` bytes, which have been written, off the front."""
        self.pending -= count
        count += self._gone
        parts = self._parts
        while parts and count >= len(parts[0]):
            count -= len(parts.popleft())
            self._pieces.discard(self._first)
            self._first += 1
        self._gone = count

    def clear(self) -> None:
        """Forget everything: the peer is gone."""
        self._first += len(self._parts)
        self._parts.clear()
        self._pieces.clear()
        self._gone = self.pending = 0

    def waiting(self) -> list[Waiting]:
        """The parts that may still be replaced, at least from ``gone`` on."""
        return [
            Waiting(self._first + n, part, 0 if n else self._gone)
            for n, part in enumerate(self._parts)
            if self._first + n not in self._pieces
        ]

    def replace(self, number: int, part: bytes) -> None:
        """Put ``part`` in the place of part ``number``; what is gone of it stays the same."""
        at = number - self._first
        self.pending += len(part) - len(self._parts[at])
        self._parts[at] = part
        self.wrote(0)  # it may have been all that was left of the first part
