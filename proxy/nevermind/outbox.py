"""What one peer has yet to be sent, in order.  Knows bytes, not messages.

The session appends, the shell takes from the front and says how much was
written.  What has not begun to go out can still be retracted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class Outbox:
    """One first-in-first-out queue of bytes; the shell is its only reader.

    ``limit`` is in bytes.  One chunk may exceed it: ``full`` only says that
    nothing more should be read from the other peer.
    """

    __slots__ = ("_limit", "_parts", "_started", "pending")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: deque[bytes | memoryview] = deque()
        self._started = 0
        self.pending = 0

    @property
    def full(self) -> bool:
        """True while the other peer should not be read."""
        return self.pending >= self._limit

    def append(self, part: bytes | memoryview) -> None:
        """Queue ``part`` (not empty) behind everything else."""
        self._parts.append(part)
        self.pending += len(part)

    def buffers(self, most: int = 64) -> list[memoryview]:
        """The next buffers to write, at most ``most``; call ``wrote`` after."""
        parts = self._parts
        if not parts:
            return []
        views = [memoryview(part) for part in list(parts)[:most]] if len(parts) <= most else [
            memoryview(parts[n]) for n in range(most)
        ]
        if self._started:
            views[0] = views[0][self._started :]
        return views

    def wrote(self, count: int) -> None:
        """Take ``count`` bytes, which have been written, off the front."""
        self.pending -= count
        count += self._started
        parts = self._parts
        while parts and count >= len(parts[0]):
            count -= len(parts.popleft())
        self._started = count

    def clear(self) -> None:
        """Forget everything: the peer is gone."""
        self._parts.clear()
        self._started = self.pending = 0

    def rewrite(self, change: Callable[[bytes | memoryview], bytes | memoryview | None]) -> bool:
        """Offer each part that has not begun to ``change``; stop at the first answer.

        ``change`` gives None (not this one) or the bytes that take its place,
        which may be empty.  Returns whether one was changed.
        """
        parts = self._parts
        for n in range(1 if self._started else 0, len(parts)):
            new = change(parts[n])
            if new is not None:
                self.pending += len(new) - len(parts[n])
                if len(new):
                    parts[n] = new
                else:
                    del parts[n]
                return True
        return False
