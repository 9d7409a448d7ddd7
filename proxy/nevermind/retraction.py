"""Taking back an answer that became late while it waited in our own queue.

A cancel takes effect when it is read.  If it finds its request answered and
that answer not yet begun to go out, the host has in fact not had it: it is a
late answer that we happen to hold, and is dropped like one.
"""

from __future__ import annotations

from typing import Protocol

from nevermind.envelopes import Envelope, Response
from nevermind.frames import Frame
from nevermind.ids import Key
from nevermind.judge import Judge
from nevermind.mailbox import Queue
from nevermind.peers import Peer
from nevermind.policy import LateResponse


class Framing(Protocol):
    """How whole frames are told apart: lines or headers."""

    def next(self, data: bytes, at: int) -> Frame | None:
        """The frame that begins at ``at``, or None if it is not whole."""


class Retraction:
    """Finds answers in one peer's outbox; each waiting part is read at most once.

    ``framing`` is for this alone: it is asked about what has been framed already.
    """

    __slots__ = ("_framing", "_index", "_judge", "_outbox")

    def __init__(self, judge: Judge, outbox: Queue, framing: Framing) -> None:
        self._judge = judge
        self._outbox = outbox
        self._framing = framing
        self._index: dict[int, dict[Key, Frame]] = {}

    def retract(self, issuer: Peer, name: Key, now: float) -> bool:
        """Take the answer to ``issuer``'s id ``name`` out of the queue, if it can be."""
        parts = self._outbox.waiting()
        live = {waiting.number for waiting in parts}
        self._index = {n: found for n, found in self._index.items() if n in live}
        for number, part, gone in reversed(parts):
            index = self._index.get(number)
            if index is None:
                index = self._index[number] = self._read(bytes(part))
            frame = index.get(name)
            if frame is None or frame.start < gone:
                continue
            body = bytes(part[frame.body_start : frame.body_stop])
            envelope = self._judge.look(body)
            if not self._is_late(envelope):
                return False
            self._take_out(number, bytes(part), frame)
            self._judge.retract(issuer, name, envelope, body, now)
            return True
        return False

    def _is_late(self, envelope: Envelope) -> bool:
        """Whether the switches would drop this answer, had it come after the cancel."""
        if not isinstance(envelope, Response) or envelope.creates_task or envelope.scanned:
            return False
        policy = self._judge.policy.late_response
        if policy is LateResponse.FORWARD_ERRORS:
            return not envelope.is_error
        return policy is LateResponse.DROP

    def _read(self, part: bytes) -> dict[Key, Frame]:
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

    def _take_out(self, number: int, part: bytes, frame: Frame) -> None:
        self._outbox.replace(number, part[: frame.start] + part[frame.stop :])
        self._index.pop(number)
