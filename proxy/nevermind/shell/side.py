"""One peer of an exchange: what waits for it, what has become of it, what it is told at last.

Plain state; ``exchange`` acts on it.
"""

from __future__ import annotations

import math

import trio

from nevermind.mailbox import Queue
from nevermind.peers import Peer
from nevermind.session import Session
from nevermind.shell.transports.transport import (
    GOING_AWAY,
    INTERNAL_ERROR,
    TOO_BIG,
    ByteTransport,
    Goodbye,
    MessageTransport,
)


class Side:
    """One peer: its transport, what waits for it, and what has become of it."""

    def __init__(
        self, peer: Peer, session: Session, transport: ByteTransport | MessageTransport
    ) -> None:
        self.peer = peer
        self.transport = transport
        self.wake = trio.Event()
        """Something waits to be sent."""
        self.room = trio.Event()
        """What waits has become less."""
        self.over = False
        """Nothing more comes from it."""
        self.deaf = False
        """Nothing can be sent to it any more."""
        self.sending = False
        self.goodbye: Goodbye | None = None
        self.reading = trio.CancelScope()
        self.closed: trio.Event | None = None
        """Set once its connection is closed; None before that has begun."""
        self.read_at = -math.inf
        mailbox = session.mailbox.get(peer)
        self.queue: Queue = session.outbox[peer] if mailbox is None else mailbox

    @property
    def delivered(self) -> bool:
        """Whether it has got all that can be got to it."""
        return self.deaf or not (self.queue.pending or self.sending)


def farewell(side: Side, other: Side) -> Goodbye:
    """What to tell ``side`` at the end: what it did wrong, else how the other one has ended."""
    if side.goodbye is not None and side.goodbye.lost:
        return side.goodbye
    if other.goodbye is None or not other.goodbye.lost:
        return other.goodbye or Goodbye()
    code = INTERNAL_ERROR if side.peer is Peer.CLIENT else GOING_AWAY
    if other.goodbye.code == TOO_BIG:
        code = TOO_BIG
    return Goodbye(code, f"{other.peer.value}: {other.goodbye.reason}")
