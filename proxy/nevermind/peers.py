"""The two ends of a session.  Knows nothing of transports or messages."""

from __future__ import annotations

from nevermind.singletons import Singletons


class Peer(Singletons):
    """Who sent something: the host that starts us, or the server behind us."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def other(self) -> Peer:
        """The peer at the far end."""
        return Peer.SERVER if self is Peer.CLIENT else Peer.CLIENT
