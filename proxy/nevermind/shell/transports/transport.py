"""What a session's exchange asks of a connection to one peer, whatever the medium.

``tests/proxy/shell/transports`` holds every transport to this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nevermind.mailbox import Mailbox
from nevermind.messages import Message
from nevermind.outbox import Outbox

NORMAL = 1000
GOING_AWAY = 1001
PROTOCOL_ERROR = 1002
TOO_BIG = 1009
INTERNAL_ERROR = 1011
"""How a WebSocket ends, in codes (RFC 6455, section 7.4.1); they serve for every medium."""


@dataclass(frozen=True, slots=True)
class Goodbye:
    """How a connection ended, or is to be ended.

    ``code`` is one of RFC 6455, section 7.4; None where a WebSocket was closed without one.
    Media without codes end with 1000.  ``lost``: not by the peer's word but by a failure.
    """

    code: int | None = NORMAL
    reason: str = ""
    lost: bool = False

    @property
    def orderly(self) -> bool:
        """Whether nothing went wrong."""
        return not self.lost and self.code in (None, NORMAL, GOING_AWAY)


class ConnectionLost(Exception):
    """The connection broke, is dead, or was closed by us; ``goodbye`` says how it ended."""

    def __init__(self, reason: str, code: int | None = INTERNAL_ERROR) -> None:
        super().__init__(reason)
        self.goodbye = Goodbye(code, reason, lost=True)


class Transport(Protocol):
    """One connection.  One task may receive while another sends."""

    @property
    def half_closes(self) -> bool:
        """Whether either side can end its sending and go on receiving."""

    @property
    def still_receives(self) -> bool:
        """Whether the peer, which has ended its sending, is known to be there still."""

    @property
    def ready(self) -> bool:
        """Whether ``receive`` has more at once, so that what came may be sent on together."""

    @property
    def goodbye(self) -> Goodbye:
        """How the peer ended, once ``receive`` has given None."""

    async def finish(self) -> None:
        """Nothing more will be sent: tell the peer, where the medium can."""

    async def lost(self) -> None:
        """Return once it is known, without sending, that the peer receives no more."""

    async def close(self, goodbye: Goodbye) -> None:
        """End the connection in bounded time; the peer is told why, where the medium can.

        Call it while ``receive`` goes on: what the peer still says is not lost.
        """


class ByteTransport(Transport, Protocol):
    """A stream of bytes."""

    async def receive(self) -> bytes | None:
        """The next bytes; None at the end.  Raises ``ConnectionLost``."""

    def send_now(self, outbox: Outbox) -> None:
        """Write what there is room for without waiting.  Raises ``ConnectionLost``."""

    async def send(self, outbox: Outbox) -> None:
        """Write some of what waits, as soon as there is room.  Raises ``ConnectionLost``."""


class MessageTransport(Transport, Protocol):
    """Whole messages."""

    async def receive(self) -> Message | None:
        """The next message; None once the peer has closed.  Raises ``ConnectionLost``."""

    def send_now(self, mailbox: Mailbox) -> None:
        """Send what there is room for without waiting.  Raises ``ConnectionLost``."""

    async def send(self, mailbox: Mailbox) -> None:
        """Send some of what waits, as soon as there is room.  Raises ``ConnectionLost``."""
