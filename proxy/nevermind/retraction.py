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


class Framing(Protocol):
    """How whole frames are told apart: lines or headers."""

    def next(self, data: bytes, at: int) -> Frame | None:
        """The frame that begins at ``at``, or None if it is not whole."""


class Retraction:
    """Finds answers in one peer's queue; what waits is read once, when first asked for.

    ``framing`` is for this alone: it is asked about what has been framed already.
    """

    __slots__ = ("_answers", "_framing", "_judge", "_newest", "_queue", "_read", "_unread")

    def __init__(self, judge: Judge, queue: Queue, framing: Framing) -> None:
        self._judge = judge
        self._queue = queue
        self._framing = framing
        self._answers: dict[int, dict[Key, Frame]] = {}
        self._newest: dict[Key, int] = {}
        """The part with the newest answer to an id."""
        self._read: deque[int] = deque()
        self._unread = 0

    def retract(self, issuer: Peer, name: Key, since: int, now: float) -> bool:
        """Take the answer to ``issuer``'s id ``name`` out of the queue, if it can be.

        What was queued before part ``since`` answers older uses of the id.
        """
        self._catch_up()
        number = self._newest.get(name)
        waiting = None if number is None or number < since else self._queue.part(number)
        if number is None or waiting is None:
            return False
        frame = self._answers[number][name]
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
                if self._newest.get(name) == number:
                    del self._newest[name]
        for number in range(max(self._unread, queue.first), queue.end):
            waiting = queue.part(number)
            if waiting is not None:
                answers = self._answers_in(bytes(waiting.part))
                self._answers[number] = answers
                self._newest.update(dict.fromkeys(answers, number))
                self._read.append(number)
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

    def _answers_in(self, part: bytes) -> dict[Key, Frame]:
        """The answers in ``part``, whole frames, by id: the last of each."""
        found: dict[Key, Frame] = {}
        at = 0
        while at < len(part):
            frame = self._framing.next(part, at)
            if frame is None:
                break
            at = frame.stop
            envelope = self._judge.look(part[frame.body_start : frame.body_stop])
            if isinstance(envelope, Response) and envelope.id is not None:
                found[envelope.id] = frame
        return found

    def _take_out(self, number: int, name: Key, part: bytes) -> None:
        answers = self._answers[number]
        frame = answers.pop(name)
        del self._newest[name]
        self._queue.replace(number, part[: frame.start] + part[frame.stop :])
        size = frame.stop - frame.start
        for other, place in answers.items():
            if place.start > frame.start:
                answers[other] = Frame(*(at - size for at in place))
