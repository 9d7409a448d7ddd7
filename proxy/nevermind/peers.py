"""The two ends of a session.  Knows nothing of transports or messages."""

from __future__ import annotations

import enum


class Peer(enum.Enum):
    """Who sent something: the host that starts us, or the server behind us."""

    CLIENT = "client"
    SERVER = "server"

    # Members are singletons, and the hash that Enum has is a call into Python:
    # every message would pay for it twice.
    __hash__ = object.__hash__

    @property
    def other(self) -> Peer:
        """The peer at the far end."""
        return Peer.SERVER if self is Peer.CLIENT else Peer.CLIENT
