"""Connects to a server that runs already: ``--connect``.

Knows addresses and how to reach them; what is said there is the transport's.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field

import trio

from nevermind.endpoints import Endpoint
from nevermind.shell.transports.socket import SocketTransport
from nevermind.shell.transports.tls import reason
from nevermind.shell.transports.transport import ByteTransport, MessageTransport

TIMEOUT = 10.0
"""Seconds until a connection must stand, TLS included."""


class CannotConnect(Exception):
    """The server cannot be reached; ``str()`` is one line without anything secret."""


@dataclass(frozen=True, slots=True)
class Dial:
    """Where to connect, and what to say there.

    ``headers`` go into a WebSocket's opening handshake; they never show in a ``repr``.
    ``authority_file`` holds the certificates that sign the server's, None for the system's.
    Times are in seconds; see ``websocket.Pings``.
    """

    endpoint: Endpoint
    headers: tuple[tuple[bytes, bytes], ...] = field(default=(), repr=False)
    authority_file: str | None = None
    ping_interval: float = 20.0
    ping_timeout: float = 20.0


async def dial(
    nursery: trio.Nursery, to: Dial, *, subprotocols: Sequence[str], limit: int
) -> ByteTransport | MessageTransport:
    """Connect; a WebSocket's own tasks run in ``nursery``.  Raises ``CannotConnect``.

    ``limit`` is the most bytes that a WebSocket message may have.
    """
    try:
        with trio.fail_after(TIMEOUT):
            stream = await _reach(to)
    except (OSError, trio.BrokenResourceError) as error:
        raise CannotConnect(f"{to.endpoint}: {_why(error)}") from None
    except trio.TooSlowError:
        raise CannotConnect(f"{to.endpoint}: no connection in {TIMEOUT:g} s") from None
    if not to.endpoint.messages:
        assert isinstance(stream, trio.SocketStream)
        return SocketTransport(take_over(stream))
    from nevermind.shell.transports import websocket
    from nevermind.shell.transports.wire import Wire

    wire = Wire(stream, limit)
    try:
        return await websocket.connect(
            nursery,
            wire,
            authority=to.endpoint.authority,
            target=to.endpoint.target,
            subprotocols=subprotocols,
            headers=list(to.headers),
            limit=limit,
            pings=websocket.Pings(to.ping_interval, to.ping_timeout),
        )
    except websocket.HandshakeFailed as failure:
        await wire.shut()
        raise CannotConnect(f"{to.endpoint}: {failure}") from None


async def _reach(to: Dial) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    endpoint = to.endpoint
    if endpoint.scheme == "unix":
        return await trio.open_unix_socket(endpoint.target)
    stream = await trio.open_tcp_stream(endpoint.host, endpoint.port)
    if endpoint.scheme != "wss":
        return stream
    secured = trio.SSLStream(
        stream,
        ssl.create_default_context(cafile=to.authority_file),
        server_hostname=endpoint.host,
        https_compatible=True,
    )
    try:
        await secured.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(secured)
        raise
    return secured


def take_over(stream: trio.SocketStream) -> socket.socket:
    """The plain socket under ``stream``."""
    trios = stream.socket
    family, kind, protocol = trios.family, trios.type, trios.proto
    return socket.socket(family, kind, protocol, fileno=trios.detach())


def _why(error: BaseException) -> str:
    """The reason in a few words; those of several attempts are told apart."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return reason(cause)
        if isinstance(cause, socket.gaierror) and cause.strerror:
            return cause.strerror
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno)  # Trio's own words quote the address once more
        if isinstance(cause, BaseExceptionGroup):
            return "; ".join(dict.fromkeys(_why(each) for each in cause.exceptions))
        cause = cause.__cause__
    return str(error) or type(error).__name__
