"""Taking back an answer that became late while it waited in our own queue.

A cancel takes effect when it is read.  If it finds its request answered and
that answer not yet begun to go out, the host has in fact not had it: it is a
late answer that we happen to hold, and is dropped like one.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from nevermind.envelopes import Envelope, Response
from nevermind.frames import Frame
from nevermind.ids import Key
from nevermind.judge import Judge
from nevermind.ledger import FORWARD
from nevermind.mailbox import Queue
from nevermind.peers import Peer
from nevermind.policy import LateResponse
from nevermind.uses import Use


class Framing(Protocol):
    """How whole frames are told apart: lines or headers."""

    def next(self, data: bytes, at: int) -> Frame | None:
        """The frame that begins at ``at``, or None if it is not whole."""


class Retraction:
    """Finds answers in one peer's queue; what waits is read once, when first asked for.

    ``framing`` is for this alone: it is asked about what has been framed already.
    """

    __slots__ = ("_answers", "_framing", "_judge", "_places", "_queue", "_read", "_unread")

    def __init__(self, judge: Judge, queue: Queue, framing: Framing) -> None:
        self._judge = judge
        self._queue = queue
        self._framing = framing
        self._answers: dict[int, dict[Key, list[Frame]]] = {}
        """The answers in each part, by id."""
        self._places: dict[Key, list[int]] = {}
        """The parts with answers to an id, in order."""
        self._read: deque[int] = deque()
        self._unread = 0

    def retract(self, issuer: Peer, name: Key, use: Use | None, now: float) -> bool:
        """Take the answer to ``issuer``'s id ``name`` out of the queue, if it can be.

        ``use`` is the record of its newest use, if that has one: it says which
        answers are to older uses, and how many came that nobody waited for.
        Unless just so many are found, the one that counts has gone, or waits
        where it can't be seen.  Nor is it certain where an answer to that id came unasked.
        """
        books = self._judge.ledger.books[issuer]
        if books.unasked.get(name):
            return False
        self._catch_up()
        since, again = (0, 0) if use is None else (use.since, use.again)
        since = max(since, books.forgot_at)
        numbers = [number for number in self._places.get(name, ()) if number >= since]
        if sum(len(self._answers[number][name]) for number in numbers) != 1 + again:
            return False
        number = numbers[0]
        waiting = self._queue.part(number)
        if waiting is None:
            return False
        frame = self._answers[number][name][0]
        part = bytes(waiting.part)
        body = part[frame.body_start : frame.body_stop]
        envelope = self._judge.look(body)
        if frame.start < waiting.gone or not self._is_late(envelope, body):
            return False
        self._take_out(number, name, part)
        self._judge.retract(issuer, name, envelope, body, now)
        return True

    def _catch_up(self) -> None:
        """Forget what is gone and read what has come."""
        queue = self._queue
        while self._read and self._read[0] < queue.first:
            number = self._read.popleft()
            for name in self._answers.pop(number):
                self._forget(name, number)
        for number in range(max(self._unread, queue.first), queue.end):
            waiting = queue.part(number)
            if waiting is not None:
                answers = self._answers_in(bytes(waiting.part))
                self._answers[number] = answers
                self._read.append(number)
                for name in answers:
                    self._places.setdefault(name, []).append(number)
        self._unread = queue.end

    def _is_late(self, envelope: Envelope, body: bytes) -> bool:
        """Whether this answer would certainly be dropped, had it come after the cancel."""
        if not isinstance(envelope, Response) or envelope.creates_task or envelope.scanned:
            return False
        if not self._judge.is_certain(envelope, FORWARD, body):
            return False
        policy = self._judge.policy.late_response
        if policy is LateResponse.FORWARD_ERRORS:
            return not envelope.is_error
        return policy is LateResponse.DROP

    def _forget(self, name: Key, number: int) -> None:
        """Part ``number`` has no more answers to ``name``."""
        places = self._places[name]
        places.remove(number)
        if not places:
            del self._places[name]

    def _answers_in(self, part: bytes) -> dict[Key, list[Frame]]:
        """The answers in ``part``, whole frames, by id."""
        found: dict[Key, list[Frame]] = {}
        at = 0
        while at < len(part):
            frame = self._framing.next(part, at)
            if frame is None:
                break
            at = frame.stop
            envelope = self._judge.look(part[frame.body_start : frame.body_stop])
            if isinstance(envelope, Response) and envelope.id is not None:
                found.setdefault(envelope.id, []).append(frame)
        return found

    def _take_out(self, number: int, name: Key, part: bytes) -> None:
        """Take out the first answer to ``name`` in part ``number``."""
        answers = self._answers[number]
        taken = answers[name].pop(0)
        if not answers[name]:
            del answers[name]
            self._forget(name, number)
        self._queue.replace(number, part[: taken.start] + part[taken.stop :])
        size = taken.stop - taken.start
        for frames in answers.values():
            for n, frame in enumerate(frames):
                if frame.start > taken.start:
                    frames[n] = Frame(*(at - size for at in frame))
