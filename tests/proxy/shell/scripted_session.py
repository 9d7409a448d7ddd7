"""A session that passes everything on, and does what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nevermind.notes import Diverted, Note, Statistics
from nevermind.outbox import Outbox
from nevermind.peers import Peer


class ScriptedSession:
    """What the shell sees of a session; ``heard`` is all that it was told."""

    def __init__(self, limit: int = 1 << 20) -> None:
        self.outbox = {peer: Outbox(limit) for peer in Peer}
        self.heard: list[tuple[Any, ...]] = []
        self.at_eof: dict[Peer, bytes] = {}
        """A rest that is held until its sender's end."""
        self.at_deadline: dict[Peer, bytes] = {}
        """What is said to a peer when the deadline passes."""
        self.deadline: float | None = None
        self.notes: list[Note | Diverted] = []
        self.waiting = 0
        self.stopped: set[Peer] = set()
        """Who is not to be read, whatever room there is."""
        self.timed = True
        self.clean = False
        """A stream may be asked whether something ``passes``."""
        self.on_data: Callable[[Peer, bytes], None] | None = None

    def receive_data(self, sender: Peer, data: bytes, now: float) -> None:
        self.heard.append((sender, data, now))
        if self.on_data is not None:
            self.on_data(sender, data)
        self.outbox[sender.other].append(data)

    def stream(self, sender: Peer) -> ScriptedStream:
        return ScriptedStream(self, sender)

    def receive_eof(self, sender: Peer, now: float) -> None:
        self.heard.append((sender, "eof", now))
        if rest := self.at_eof.pop(sender, None):
            self.outbox[sender.other].append(rest)

    def expire(self, now: float) -> None:
        self.heard.append(("expire", now))
        self.deadline = None
        for peer, data in self.at_deadline.items():
            self.outbox[peer].append(data)
        self.at_deadline.clear()

    def next_deadline(self) -> float | None:
        return self.deadline

    def may_read(self, sender: Peer) -> bool:
        return not self.outbox[sender.other].full and sender not in self.stopped

    def take_notes(self) -> list[Note | Diverted]:
        notes, self.notes = self.notes, []
        return notes

    def statistics(self) -> Statistics:
        return Statistics(waiting=self.waiting)


class ScriptedStream:
    """One direction of it; ``passing`` makes the shell lend its buffer."""

    def __init__(self, session: ScriptedSession, sender: Peer) -> None:
        self.passing = False
        self.passes: Callable[[bytes, float], bool] = self._passes
        self._session = session
        self._sender = sender

    @property
    def clean(self) -> bool:
        return self._session.clean

    @property
    def deadline(self) -> float | None:
        return self._session.deadline

    def _passes(self, line: bytes, now: float) -> bool:
        if line.startswith(b"plain"):
            self._session.heard.append((self._sender, "passes", line, now))
            return True
        return False

    def receive(self, data: bytes, now: float) -> None:
        self._session.receive_data(self._sender, data, now)

    def receive_lent(self, buffer: bytearray, size: int, now: float) -> None:
        self._session.heard.append((self._sender, bytes(buffer[:size]), now))
        self._session.outbox[self._sender.other].append_piece(memoryview(buffer)[:size])
