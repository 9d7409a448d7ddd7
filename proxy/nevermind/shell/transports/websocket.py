"""A peer behind a WebSocket.  Everything of trio-websocket is in here.

The library does the handshake, the framing and the close handshake (RFC 6455); ``wire``
stands under it, where reading, writing and dying peers are concerned.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import cast

import trio
import trio_websocket
from wsproto.frame_protocol import CloseReason, FrameProtocol

from nevermind.mailbox import Mailbox
from nevermind.messages import Message
from nevermind.shell.transports.transport import (
    INTERNAL_ERROR,
    TOO_BIG,
    ConnectionLost,
    Goodbye,
)
from nevermind.shell.transports.wire import CHUNK, Wire

PING_INTERVAL = 20.0
"""Seconds between pings: middle boxes cut what is silent for a minute, some for half of one."""

PING_TIMEOUT = 20.0
"""Seconds in which a peer must give a sign of life after a ping."""

HANDSHAKE = 10.0
"""Seconds that an opening handshake may take."""

FAREWELL = 1.5
"""Seconds that a closing handshake may take: a host gives us 2 s before SIGTERM."""

_NEVER_SENT = (1004, 1005, 1006, 1015)
"""Codes that stand for the lack of one (RFC 6455, section 7.4.1)."""


@dataclass(frozen=True, slots=True)
class Pings:
    """Seconds between pings (0: none are sent) and until an unanswered one is the end."""

    interval: float = PING_INTERVAL
    timeout: float = PING_TIMEOUT


class HandshakeFailed(Exception):
    """No WebSocket was opened; ``status`` is the HTTP status of a refusal, 0 without one."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


class WebSocketTransport:
    """One open WebSocket; its tasks run in the nursery that it was opened in."""

    half_closes = False
    still_receives = False

    def __init__(
        self, connection: trio_websocket.WebSocketConnection, wire: Wire, pings: Pings, limit: int
    ) -> None:
        self._connection = connection
        self._wire = wire
        self._pings = pings
        self._limit = limit
        self._failure: ConnectionLost | None = None
        self._received = 0
        self._frames = FrameProtocol(connection.is_client, [])
        self.goodbye = Goodbye()

    @property
    def subprotocol(self) -> str | None:
        """What the two sides have agreed on."""
        return self._connection.subprotocol

    @property
    def ready(self) -> bool:
        """See ``Transport``."""
        return self._wire.meter.messages > self._received

    async def receive(self) -> Message | None:
        """See ``MessageTransport``."""
        self._wire.want(True)
        try:
            data = await self._connection.get_message()
        except trio_websocket.ConnectionClosed:
            self._ended()
            return None
        finally:
            self._wire.want(False)
        self._received += 1
        text = isinstance(data, str)
        body = data.encode() if isinstance(data, str) else bytes(data)
        self._wire.take(len(body))
        return Message(body, text)

    def send_now(self, mailbox: Mailbox) -> None:
        """See ``MessageTransport``.  Several small messages go out in one write.

        The library could do no more than frame them too, under a lock that it waits for.
        """
        wire = self._wire
        while True:
            if self._connection.closed is not None or wire.said_goodbye or wire.broken:
                raise ConnectionLost("closed")
            while wire.unsent < CHUNK and (message := mailbox.begin()) is not None:
                data = message.body.decode() if message.text else message.body
                wire.put(self._frames.send_data(data))
            wire.write_now()
            if wire.unsent:
                return
            mailbox.sent()
            if not mailbox.pending:
                return

    async def send(self, mailbox: Mailbox) -> None:
        """See ``MessageTransport``."""
        self.send_now(mailbox)
        await self._wire.flush()
        if self._wire.broken:
            raise ConnectionLost("the connection was lost")
        mailbox.sent()

    async def finish(self) -> None:
        """See ``Transport``; a WebSocket is closed as a whole."""

    async def lost(self) -> None:
        """See ``Transport``; it is ``receive`` that finds out."""
        await trio.sleep_forever()

    async def close(self, goodbye: Goodbye) -> None:
        """See ``Transport``."""
        code, reason = _to_send(goodbye)
        wire = self._wire
        with trio.move_on_after(FAREWELL):
            if self._failure is None:
                wire.want(True)
                await self._connection.aclose(code, reason)
            elif not wire.broken:
                await wire.send_all(self._frames.close(code, reason))
            await wire.flush()
            if not wire.broken:
                await wire.linger()
        await wire.shut()

    async def keep_alive(self) -> None:
        """Send pings, and end the connection once the peer gives no sign of life.

        Anything that comes from it is one.  So is room for what we send, while some waits;
        and no judgement is passed while we do not read ourselves.
        """
        interval, timeout = self._pings.interval, self._pings.timeout
        wire = self._wire
        while interval:
            await trio.sleep(interval)
            asked = trio.current_time()
            with trio.move_on_after(timeout) as scope:
                try:
                    await self._connection.ping()
                except trio_websocket.ConnectionClosed:
                    return
            sending = wire.unsent and wire.wrote_at >= asked
            reading = wire.stalled_at < asked
            if scope.cancelled_caught and wire.heard_at < asked and reading and not sending:
                self._fail(f"no sign of life for {timeout:g} s after a ping", INTERNAL_ERROR)
                await wire.shut()
                return

    def _ended(self) -> None:
        """Tell an orderly end from a failure, once the library says that it is over."""
        reason, wire = self._connection.closed, self._wire
        code, words = (1006, "") if reason is None else (int(reason.code), reason.reason or "")
        if self._failure is None and not wire.said_goodbye:
            if wire.meter.too_big:
                size, limit = wire.meter.too_big, self._limit
                self._fail(f"a message of {size} bytes is over the limit of {limit}", TOO_BIG)
            elif code in (CloseReason.PROTOCOL_ERROR, CloseReason.INVALID_FRAME_PAYLOAD_DATA):
                self._fail(f"it broke the protocol: {words}", code)
            else:
                self._fail("the connection was lost")
        if self._failure is not None:
            raise self._failure
        self.goodbye = Goodbye(None if code == CloseReason.NO_STATUS_RCVD else code, words)

    def _fail(self, why: str, code: int = INTERNAL_ERROR) -> None:
        self._failure = ConnectionLost(why, code)


class _Guard:
    """Stands in for a nursery: a task of the library's that fails ends only its connection."""

    def __init__(self, nursery: trio.Nursery, handshake: trio.CancelScope) -> None:
        self._nursery = nursery
        self._handshake = handshake
        self.failure = HandshakeFailed("no answer in time")

    def start_soon(self, task: Callable[[], Awaitable[None]]) -> None:
        self._nursery.start_soon(self._run, task)

    async def _run(self, task: Callable[[], Awaitable[None]]) -> None:
        # nothing that the other side has said stands in these: it may hold a secret
        self.failure = HandshakeFailed("the connection was closed")
        try:
            await task()
        except trio_websocket.ConnectionRejected as refusal:
            status = refusal.status_code
            self.failure = HandshakeFailed(f"refused with status {status}", status)
        except Exception:  # noqa: BLE001 -- whatever hostile bytes can do to a parser
            self.failure = HandshakeFailed("that is no WebSocket handshake")
        self._handshake.cancel()


async def accept(
    nursery: trio.Nursery, wire: Wire, *, subprotocol: str | None, limit: int, pings: Pings
) -> WebSocketTransport:
    """Answer the request that is the head of ``wire``; ``limit`` is its meter's, in bytes.

    Raises ``HandshakeFailed``.
    """
    with trio.move_on_after(HANDSHAKE) as handshake:
        guard = _Guard(nursery, handshake)
        nursery.start_soon(wire.run)
        request = await trio_websocket.wrap_server_stream(
            cast("trio.Nursery", guard), wire, **_SIZES
        )
        connection = await request.accept(subprotocol=subprotocol)
        await wire.flush()
        wire.opened.set()
        return _open(nursery, WebSocketTransport(connection, wire, pings, limit))
    raise guard.failure


async def connect(
    nursery: trio.Nursery,
    wire: Wire,
    *,
    authority: str,
    target: str,
    subprotocols: Iterable[str],
    headers: list[tuple[bytes, bytes]],
    limit: int,
    pings: Pings,
) -> WebSocketTransport:
    """Ask for a WebSocket over ``wire``.  Raises ``HandshakeFailed``."""
    with trio.move_on_after(HANDSHAKE) as handshake:
        guard = _Guard(nursery, handshake)
        nursery.start_soon(wire.run)
        connection = await trio_websocket.wrap_client_stream(
            cast("trio.Nursery", guard),
            cast("trio.SocketStream", wire),
            authority,
            target,
            subprotocols=subprotocols,
            extra_headers=headers,
            **_SIZES,
        )
        names = [name.lower() for name in _ONCE.findall(wire.response or b"")]
        if len(set(names)) < len(names):
            raise HandshakeFailed("that is no WebSocket handshake")
        return _open(nursery, WebSocketTransport(connection, wire, pings, limit))
    raise guard.failure


_ONCE = re.compile(rb"(?im)^(upgrade|sec-websocket-(?:accept|protocol))[ \t]*:")
"""What a response must not say twice (RFC 6455, sections 4.1 and 11.3); the library takes one."""

_SIZES = {
    "message_queue_size": sys.maxsize,
    "max_message_size": sys.maxsize,
    "receive_buffer_size": CHUNK,
}
"""The wire bounds what waits and what is too big; the library would do it by stalling, and
in characters."""


def _open(nursery: trio.Nursery, transport: WebSocketTransport) -> WebSocketTransport:
    nursery.start_soon(transport.keep_alive)
    return transport


def _to_send(goodbye: Goodbye) -> tuple[int, str | None]:
    """The code and reason of a close frame that says ``goodbye``."""
    code = goodbye.code
    if code is None:
        return CloseReason.NO_STATUS_RCVD, None  # sent as an empty frame, never as a number
    if not (1000 <= code <= 1013 or 3000 <= code <= 4999) or code in _NEVER_SENT:
        code = INTERNAL_ERROR
    return code, goodbye.reason or None
