"""A peer behind a Unix or TCP socket that speaks in lines, or with headers."""

from __future__ import annotations

import re
import socket

from nevermind.shell.descriptors import CHUNK, Sink, Source
from nevermind.shell.transports.descriptor import DescriptorTransport
from nevermind.shell.transports.transport import PROTOCOL_ERROR, ConnectionLost, Goodbye

_KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Seconds of silence, seconds between probes, unanswered probes: a peer that vanished with
its machine is found after two minutes, and an idle one is left in peace."""

_HTTP = re.compile(rb"(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT|PRI) ")


class SocketTransport(DescriptorTransport):
    """A connected stream socket, which is ours from now on.

    ``strange``: anybody on this machine can connect to it, a web page's scripts among them.
    """

    def __init__(self, connected: socket.socket, *, strange: bool = False) -> None:
        connected.setblocking(False)
        if connected.family != socket.AF_UNIX:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _KEEPALIVE.items():
                if hasattr(socket, name):
                    connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        super().__init__(_Reading(connected), _Writing(connected))
        self._socket = connected
        self._suspicious = strange

    async def receive(self) -> bytes | None:
        """See ``ByteTransport``."""
        data = await super().receive()
        if self._suspicious and data is not None:
            self._suspicious = False
            if _HTTP.match(data):
                # a browser's request: the lines of its body would be taken for messages
                raise ConnectionLost("that was an HTTP request", PROTOCOL_ERROR)
        return data

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
    """A descriptor of its own: who waits to read is not disturbed when it is closed."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected.dup()
        super().__init__(self._socket.fileno())
        self.write = self._socket.sendmsg

    def close(self) -> None:
        """Let the peer see the end; it may go on sending."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the peer is gone
        self._socket.close()
