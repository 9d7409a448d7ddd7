"""A peer behind a Unix or TCP socket that speaks in lines, or with headers."""

from __future__ import annotations

import socket

from nevermind.shell.descriptors import CHUNK, Sink, Source
from nevermind.shell.transports.descriptor import DescriptorTransport
from nevermind.shell.transports.transport import Goodbye

_KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Seconds of silence, seconds between probes, unanswered probes: a peer that vanished with
its machine is found after two minutes, and an idle one is left in peace."""


class SocketTransport(DescriptorTransport):
    """A connected stream socket, which is ours from now on."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        if connected.family != socket.AF_UNIX:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _KEEPALIVE.items():
                if hasattr(socket, name):
                    connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        super().__init__(_Reading(connected), _Writing(connected))
        self._socket = connected

    async def close(self, goodbye: Goodbye) -> None:
        """See ``Transport``."""
        await super().close(goodbye)
        self._socket.close()


class _Reading(Source):
    def __init__(self, connected: socket.socket) -> None:
        super().__init__(connected.fileno())
        self.read = lambda: connected.recv(CHUNK)

    def close(self) -> None:
        """Both halves go together."""


class _Writing(Sink):
    def __init__(self, connected: socket.socket) -> None:
        super().__init__(connected.fileno())
        self._socket = connected
        self.write = connected.sendmsg

    def close(self) -> None:
        """Let the peer see the end; it may go on sending."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the peer is gone
