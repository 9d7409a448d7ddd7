"""What one peer has yet to be sent, in order.  Knows bytes, not messages.

The session appends, the shell takes from the front and says how much was
written.  What has not begun to go out can still be replaced.

Messages that the proxy authors itself (``speak``) take their turn here, between
others' messages.  They never wait for room: whoever has to send one may be the
very reader that makes room.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import NamedTuple, Protocol

Bytes = bytes | memoryview

OWN_LIMIT = 1024 * 1024
"""Bytes of ours that may wait for one peer before that peer is no longer read."""

_LF = 0x0A


class Waiting(NamedTuple):
    """A part that waits: its number, its bytes, and how many of them are gone."""

    number: int
    part: Bytes
    gone: int


class Spoken:
    """A message of our own on its way to a peer."""

    __slots__ = ("_queue", "number")

    def __init__(self, queue: Holding) -> None:
        self._queue = queue
        self.number: int | None = None
        """Which part it is; None while it waits for the end of another's message."""

    @property
    def waiting(self) -> bool:
        """Whether nothing of it has gone out yet."""
        return self._queue.holds(self)

    def take_back(self) -> bool:
        """Never send it; False if it is too late for that."""
        return self._queue.take_back(self)


class Holding(Protocol):
    """A queue that messages of ours wait in."""

    def holds(self, spoken: Spoken) -> bool:
        """Whether nothing of ``spoken`` has gone out yet."""

    def take_back(self, spoken: Spoken) -> bool:
        """Never send ``spoken``; False if it is too late for that."""


class Outbox:
    """One first-in-first-out queue of bytes; the shell is its only reader.

    ``limit`` is in bytes.  One part may exceed it: ``full`` only says that
    nothing more should be read from the other peer.  ``pending`` is how many
    bytes wait, ``own`` how many of them are messages of ours, which do not
    count against the limit.

    Messages are ``lines``, or else have headers.  ``midway``: of the last message
    a part is still to come, so that ours have to wait.
    """

    __slots__ = (
        "_cut_in",
        "_first",
        "_gone",
        "_held",
        "_lent",
        "_limit",
        "_lines",
        "_mine",
        "_parts",
        "_pieces",
        "_within_line",
        "midway",
        "own",
        "pending",
    )

    def __init__(self, limit: int, *, lines: bool = True) -> None:
        self._limit = limit
        self._lines = lines
        self._held: dict[Spoken, bytes] = {}
        self._mine: dict[int, int] = {}
        self._within_line = False
        self.midway = False
        self._cut_in = False
        self._lent = -1
        self.own = 0
        self._parts: deque[Bytes] = deque()
        self._pieces: set[int] = set()
        self._first = 0
        self._gone = 0
        self.pending = 0

    @property
    def full(self) -> bool:
        """True while the other peer should not be read."""
        gone = self._gone if self._first in self._mine else 0
        return self.pending + gone - self.own >= self._limit

    @property
    def flooded(self) -> bool:
        """True while this peer itself should not be read: it makes us say too much."""
        return self.own + sum(map(len, self._held.values())) >= OWN_LIMIT

    @property
    def within_line(self) -> bool:
        """Whether what was queued last does not end with a newline."""
        for part in reversed(self._parts):
            if part:
                return part[-1] != _LF
        return self._within_line

    def append(self, part: Bytes) -> None:
        """Queue ``part``, whole frames and not empty, behind everything else."""
        self._parts.append(part)
        self.pending += len(part)

    def append_piece(self, part: Bytes) -> None:
        """Queue a piece of a frame that is still arriving: not to be replaced.

        One that is only lent may be followed by messages of ours before it is copied.
        """
        number = self._first + len(self._parts)
        self._pieces.add(number)
        if isinstance(part, memoryview):
            self._lent = number
        self.append(part)

    def join_pieces(self) -> None:
        """The frame has arrived: if nothing of it is gone, it is a part like others."""
        pieces = sorted(self._pieces)
        self._pieces.clear()
        if not pieces or pieces[-1] - pieces[0] >= len(pieces):
            return
        at = pieces[0] - self._first
        if at < 0 or (at == 0 and self._gone):
            self._pieces.update(pieces)
            return
        # What was a piece stays behind, empty: parts keep their numbers.
        stop = at + len(pieces)
        joined = b"".join(islice(self._parts, at, stop))
        for n in range(at, stop):
            self._parts[n] = b""
        self._parts[at] = joined

    def buffers(self, most: int = 64) -> list[memoryview]:
        """The next buffers to write, at most ``most``; call ``wrote`` after."""
        views = [memoryview(part) for part in islice(self._parts, most)]
        if self._gone:
            views[0] = views[0][self._gone :]
        return views

    def copy_lent(self) -> None:
        """Copy what is queued of a buffer that was lent: it is about to be used again."""
        parts = self._parts
        at = self._lent - self._first
        if 0 <= at < len(parts):
            parts[at] = bytes(parts[at])
        self._lent = -1

    @property
    def only(self) -> Bytes | None:
        """The part that waits, not empty, if it is the only one and nothing of it is gone."""
        parts = self._parts
        return parts[0] if len(parts) == 1 and self.pending and not self._gone else None

    def wrote_only(self) -> None:
        """``only`` has been written whole."""
        self._within_line = self._parts.popleft()[-1] != _LF
        self.pending = 0
        if self._pieces:
            self._pieces.discard(self._first)
        if self._mine:
            self.own -= self._mine.pop(self._first, 0)
        self._first += 1

    def wrote(self, count: int) -> None:
        """Take ``count`` bytes, which have been written, off the front."""
        self.pending -= count
        count += self._gone
        parts = self._parts
        while parts and count >= len(parts[0]):
            part = parts.popleft()
            count -= len(part)
            self._pieces.discard(self._first)
            if self._mine:
                self.own -= self._mine.pop(self._first, 0)
            self._first += 1
            if part:
                self._within_line = part[-1] != _LF
        self._gone = count

    def clear(self) -> None:
        """Forget everything: the peer is gone."""
        self._first += len(self._parts)
        self._parts.clear()
        self._pieces.clear()
        self._held.clear()
        self._mine.clear()
        self._gone = self.pending = self.own = 0

    @property
    def first(self) -> int:
        """The number of the part that goes out next."""
        return self._first

    @property
    def end(self) -> int:
        """The number that the part queued next will have."""
        return self._first + len(self._parts)

    def part(self, number: int) -> Waiting | None:
        """Part ``number``, if it waits and may still be replaced, at least from ``gone`` on."""
        at = number - self._first
        if not 0 <= at < len(self._parts) or number in self._pieces or number in self._mine:
            return None
        return Waiting(number, self._parts[at], 0 if at else self._gone)

    def replace(self, number: int, part: bytes) -> None:
        """Put ``part`` in the place of part ``number``; what is gone of it stays the same."""
        at = number - self._first
        self.pending += len(part) - len(self._parts[at])
        self._parts[at] = part
        self.wrote(0)  # it may have been all that was left of the first part

    def speak(self, message: bytes) -> Spoken:
        """Queue ``message``, one JSON value of ours, at the next end of a message."""
        spoken = Spoken(self)
        if self._lines:
            data = message + b"\n"
        else:
            data = b"Content-Length: %d\r\n\r\n%b" % (len(message), message)
        if self.midway:
            self._held[spoken] = data
        else:
            self._utter(spoken, data)
        return spoken

    def go_on(self, midway: bool) -> None:
        """Say whether a part of the last message is still to come; if not, let ours go."""
        self.midway = midway
        if self._held and not midway:
            for spoken, data in self._held.items():
                self._utter(spoken, data)
            self._held.clear()

    def take_cut_in(self) -> bool:
        """Whether a line end of ours has stood in for one that was still to come."""
        cut_in, self._cut_in = self._cut_in, False
        return cut_in

    def holds(self, spoken: Spoken) -> bool:
        """Whether nothing of ``spoken`` has gone out yet."""
        number = spoken.number
        if number is None:
            return spoken in self._held
        return number in self._mine and (number > self._first or not self._gone)

    def take_back(self, spoken: Spoken) -> bool:
        """Never send ``spoken``; False if it is too late for that."""
        if not self.holds(spoken):
            return False
        if spoken.number is None:
            del self._held[spoken]
        else:
            self.own -= self._mine.pop(spoken.number)
            self.replace(spoken.number, b"")
        return True

    def _utter(self, spoken: Spoken, data: bytes) -> None:
        if self._lines and self.within_line:
            self._put_own(b"\n")
            self._cut_in = True
        spoken.number = self._put_own(data)

    def _put_own(self, data: bytes) -> int:
        number = self._first + len(self._parts)
        self._mine[number] = len(data)
        self.own += len(data)
        self.append(data)
        return number
