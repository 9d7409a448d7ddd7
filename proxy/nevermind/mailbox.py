"""What one peer that speaks in whole messages has yet to be sent, in order.

The counterpart of ``outbox``, and filled by the same hands: bytes of a stream
are taken apart into the messages that they hold.  What has not begun to go
out can still be withdrawn.  Knows nothing of what messages say.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from nevermind.frames import Frame
from nevermind.messages import Message, from_body, from_line
from nevermind.outbox import OWN_LIMIT, Bytes, Outbox, Spoken, Waiting

OVERHEAD = 64
"""Bytes that a message counts beyond its body: without them tiny ones would be unbounded."""


class Framing(Protocol):
    """How the messages in a stream are told apart: by lines or by headers."""

    size: int
    """Bytes that are held."""

    def feed(self, data: bytes, now: float) -> bytes:
        """All held bytes and ``data``, once a frame may be whole; before that b""."""

    def next(self, data: bytes, at: int) -> Frame | None:
        """The frame that begins at ``at``, or None if it is not whole."""

    def keep(self, rest: bytes, now: float) -> None:
        """Hold ``rest``, the beginning of a frame, until more comes."""

    def take(self) -> bytes:
        """Give up all that is held."""


class Mailbox:
    """One first-in-first-out queue of messages; the shell is its only reader.

    ``limit`` is in bytes.  One message may exceed it: ``full`` only says that
    nothing more should be read from the other peer.  ``pending`` is how many
    bytes wait, ``OVERHEAD`` for each message included, and ``own`` how many of them
    are messages of ours, which do not count against the limit.  A message that comes as
    a stream, told apart by ``framing``, and is longer than ``longest`` bytes is not
    held: then ``overlong`` is its size as far as that is known, and nothing more is
    taken.
    """

    __slots__ = (
        "_begun",
        "_first",
        "_framing",
        "_limit",
        "_longest",
        "_messages",
        "_mine",
        "overlong",
        "own",
        "pending",
    )

    def __init__(self, limit: int, longest: int, framing: Framing) -> None:
        self._limit = limit
        self._longest = longest
        self._framing = framing
        self._messages: deque[Message | None] = deque()
        self._first = 0
        self._begun = 0
        self._mine: dict[int, int] = {}
        self.own = 0
        self.overlong = 0
        self.pending = 0

    @property
    def full(self) -> bool:
        """True while the other peer should not be read."""
        return self.pending - self.own >= self._limit

    @property
    def flooded(self) -> bool:
        """True while this peer itself should not be read: it makes us say too much."""
        return self.own >= OWN_LIMIT

    def put(self, message: Message) -> None:
        """Queue ``message`` behind everything else."""
        self._messages.append(message)
        self.pending += len(message.body) + OVERHEAD

    def append(self, part: Bytes) -> None:
        """Queue the messages in ``part``: whole frames of a stream, the last without end or not."""
        self.append_piece(part)
        self.flush()

    def append_piece(self, part: Bytes) -> None:
        """Queue what becomes whole with ``part``, a piece of a stream; hold the rest."""
        framing = self._framing
        data = b"" if self.overlong else framing.feed(bytes(part), 0.0)
        at = 0
        while at < len(data):
            frame = framing.next(data, at)
            if frame is None:
                framing.keep(data[at:], 0.0)
                break
            at = frame.stop
            if at > len(data):  # announced by its header, and too long to be waited for
                self.overlong = frame.body_stop - frame.body_start
            else:
                self._put_frame(data, frame)
        if framing.size > self._longest:
            self.overlong = framing.size
            framing.take()

    def join_pieces(self) -> None:
        """A frame has arrived: here it has become one message by itself."""

    def flush(self) -> None:
        """The stream has ended, or a frame has: the rest is a message."""
        rest = self._framing.take()
        self._put_frame(rest, Frame(0, len(rest), 0, len(rest)))

    def begin(self) -> Message | None:
        """The next message to be sent, if one waits; it can no longer be withdrawn."""
        at = self._begun
        while at < len(self._messages):
            message = self._messages[at]
            at += 1
            if message is not None:
                self._begun = at
                return message
        return None

    def sent(self) -> None:
        """All messages that were begun are gone."""
        for _ in range(self._begun):
            message = self._messages.popleft()
            if message is not None:
                self.pending -= len(message.body) + OVERHEAD
            self.own -= self._mine.pop(self._first, 0)
            self._first += 1
        self._begun = 0

    def clear(self) -> None:
        """Forget everything: the peer is gone."""
        self._first += len(self._messages)
        self._messages.clear()
        self._framing.take()
        self._mine.clear()
        self._begun = 0
        self.pending = self.own = 0

    @property
    def first(self) -> int:
        """The number of the message that goes out next, or is going out."""
        return self._first

    @property
    def end(self) -> int:
        """The number that the message queued next will have."""
        return self._first + len(self._messages)

    def part(self, number: int) -> Waiting | None:
        """Message ``number``, if it waits and may still be withdrawn."""
        at = number - self._first
        if not self._begun <= at < len(self._messages) or number in self._mine:
            return None
        message = self._messages[at]
        return None if message is None else Waiting(number, message.body, 0)

    def replace(self, number: int, part: bytes) -> None:
        """Put ``part`` in the place of message ``number``; an empty one is not sent at all."""
        at = number - self._first
        message = self._messages[at]
        assert message is not None
        if part:
            self._messages[at] = message._replace(body=part)
            self.pending += len(part) - len(message.body)
        else:
            self._messages[at] = None
            self.pending -= len(message.body) + OVERHEAD

    def speak(self, message: bytes) -> Spoken:
        """Queue ``message``, one JSON value of ours."""
        spoken = Spoken(self)
        spoken.number = number = self._first + len(self._messages)
        self._mine[number] = len(message) + OVERHEAD
        self.own += len(message) + OVERHEAD
        self.put(from_body(message))
        return spoken

    def holds(self, spoken: Spoken) -> bool:
        """Whether nothing of ``spoken`` has gone out yet."""
        number = spoken.number
        return number in self._mine and number >= self._first + self._begun

    def take_back(self, spoken: Spoken) -> bool:
        """Never send ``spoken``; False if it is too late for that."""
        if spoken.number is None or not self.holds(spoken):
            return False
        self.own -= self._mine.pop(spoken.number)
        self.replace(spoken.number, b"")
        return True

    def go_on(self, midway: bool) -> None:
        """Whether a part of the last message is still to come: ours need not wait for it."""

    def take_cut_in(self) -> bool:
        """Whether a line end of ours has stood in for another: there are no line ends here."""
        return False

    @property
    def within_line(self) -> bool:
        """Whether what was queued last does not end with a newline: likewise."""
        return False

    def _put_frame(self, data: bytes, frame: Frame) -> None:
        start, stop, body_start, body_stop = frame
        body = data[body_start:body_stop]
        if body and body_start > start:
            message: Message | None = from_body(body)
        else:
            message = from_line(body or data[start:stop].removesuffix(b"\n"))
        if message is not None:
            self.put(message)


Queue = Outbox | Mailbox
"""What one peer has yet to be sent, whatever it speaks."""
