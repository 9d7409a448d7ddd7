"""Taking back an answer that became late while it waited in our own queue.

A cancel takes effect when it is read.  If it finds its request answered and
that answer not yet begun to go out, the host has in fact not had it: it is a
late answer that we happen to hold, and is dropped like one.
"""

from __future__ import annotations

from nevermind.envelopes import Envelope, Response
from nevermind.ids import Key
from nevermind.judge import Judge
from nevermind.outbox import Outbox
from nevermind.peers import Peer
from nevermind.policy import LateResponse


class Retraction:
    """Finds answers in one peer's outbox; each waiting part is read at most once."""

    __slots__ = ("_index", "_judge", "_outbox")

    def __init__(self, judge: Judge, outbox: Outbox) -> None:
        self._judge = judge
        self._outbox = outbox
        self._index: dict[int, dict[Key, tuple[int, int]]] = {}

    def retract(self, issuer: Peer, name: Key, now: float) -> bool:
        """Take the answer to ``issuer``'s id ``name`` out of the queue, if it can be."""
        parts = self._outbox.waiting()
        live = {waiting.number for waiting in parts}
        self._index = {n: found for n, found in self._index.items() if n in live}
        for number, part, gone in reversed(parts):
            index = self._index.get(number)
            if index is None:
                index = self._index[number] = self._read(bytes(part))
            span = index.get(name)
            if span is None or span[0] < gone:
                continue
            line = bytes(part[span[0] : span[1]])
            envelope = self._judge.look(line)
            if not self._is_late(envelope):
                return False
            self._take_out(number, bytes(part), span)
            self._judge.retract(issuer, name, envelope, line, now)
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

    def _read(self, part: bytes) -> dict[Key, tuple[int, int]]:
        """The answers in ``part``, whole lines, by id: the last of each."""
        found: dict[Key, tuple[int, int]] = {}
        at = 0
        while at < len(part):
            stop = part.find(b"\n", at) + 1
            if not stop:
                break
            envelope = self._judge.look(part[at:stop])
            if isinstance(envelope, Response) and envelope.id is not None:
                found[envelope.id] = (at, stop)
            at = stop
        return found

    def _take_out(self, number: int, part: bytes, span: tuple[int, int]) -> None:
        self._outbox.replace(number, part[: span[0]] + part[span[1] :])
        self._index.pop(number)
