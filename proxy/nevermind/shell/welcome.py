"""From a connection to a session: who connects, may they, and which server is theirs.

For WebSockets with the handshake that comes first; a Unix or TCP socket is a session at
once.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterable, Mapping, Sequence

import trio

from nevermind.notes import Diverted, Note
from nevermind.peers import Peer
from nevermind.session import Session
from nevermind.shell.admin import answer_health
from nevermind.shell.admission import Door, Refusal, Request
from nevermind.shell.children import Children
from nevermind.shell.dialing import CannotConnect, dial, take_over
from nevermind.shell.exchange import Exchange
from nevermind.shell.journal import Journal
from nevermind.shell.journal_lines import Member
from nevermind.shell.reception import PATIENCE, receive_request, refuse
from nevermind.shell.serve import Service
from nevermind.shell.serve_options import ServeOptions
from nevermind.shell.spawn import CannotStart
from nevermind.shell.transports.process import ProcessTransport
from nevermind.shell.transports.socket import SocketTransport
from nevermind.shell.transports.tls import reason
from nevermind.shell.transports.transport import (
    GOING_AWAY,
    ByteTransport,
    Goodbye,
    MessageTransport,
)
from nevermind.shell.transports.wire import Wire

OVERRUN = "too many at once are saying who they are"
NO_SERVER = Refusal(502, "the server cannot be reached")


class Welcome:
    """Answers connections to the listening port.

    ``children`` starts the servers, unless the options say where to connect.
    ``tls`` secures what comes in; None: nothing does.
    """

    def __init__(
        self,
        options: ServeOptions,
        service: Service,
        journal: Journal,
        *,
        children: Children | None,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._options = options
        self._service = service
        self._journal = journal
        self._children = children
        self._tls = tls
        self._door = Door(options.listen.path, options.origins, options.token)

    async def answer(self, stream: trio.SocketStream) -> None:
        """Make a session of ``stream``, or refuse it."""
        if self._options.listen.messages:
            await self._answer_web(stream)
        else:
            await self._answer_plain(stream)

    # ------------------------------------------------------------------ sockets

    async def _answer_plain(self, stream: trio.SocketStream) -> None:
        closed_because = self._service.closed_because
        if closed_because:
            self._service.refuse(503, closed_because, {"from": _name(stream)})
            return
        whom = _name(stream)
        client = SocketTransport(take_over(stream), strange=self._options.listen.scheme == "tcp")
        with self._service.place() as number:
            async with trio.open_nursery() as nursery:
                try:
                    server = await self._reach(nursery, self._options.subprotocols)
                except (CannotConnect, CannotStart) as error:
                    self._service.refuse(502, str(error), {"from": whom})
                    await client.close(Goodbye())
                    return
                try:
                    await self._carry(number, client, server, whom)
                finally:
                    with trio.CancelScope(shield=True):
                        await server.close(Goodbye(GOING_AWAY))
                nursery.cancel_scope.cancel()

    # ------------------------------------------------------------------ WebSockets

    async def _answer_web(self, plain: trio.SocketStream) -> None:
        stream: trio.abc.Stream = plain
        about: dict[str, Member] = {"from": _name(plain)}
        with self._service.greeting() as heard:
            if not heard:
                self._service.refuse(503, OVERRUN, about)
                return
            if self._tls is not None:
                secured = await _secure(plain, self._tls)
                if isinstance(secured, Refusal):
                    self._service.refuse(secured.status, secured.why, about)
                if not isinstance(secured, trio.SSLStream):
                    return
                stream = secured
            found = await receive_request(stream)
            if found is None:
                return
            if isinstance(found, Refusal):
                await self._refuse(stream, found, about)
                return
            request, rest = found
            about |= _wants(request)
            closed_because = self._service.closed_because
            if request.path == self._options.health_path:
                await answer_health(stream, request, closed_because)
                return
            refusal = self._door.examine(request)
            if refusal is None and closed_because:
                refusal = Refusal(503, closed_because, (("Retry-After", "5"),))
            if refusal is not None:
                await self._refuse(stream, refusal, about)
                return
        limit = self._options.run.policy.max_message
        wire = Wire(stream, limit, head=request.handshake(), rest=rest)
        with self._service.place() as number:
            async with trio.open_nursery() as nursery:
                await self._open_web(nursery, number, wire, request, about)
                nursery.cancel_scope.cancel()

    async def _open_web(
        self,
        nursery: trio.Nursery,
        number: int,
        wire: Wire,
        request: Request,
        about: Mapping[str, Member],
    ) -> None:
        from nevermind.shell.transports import websocket

        options = self._options
        offered = request.subprotocols
        try:
            server = await self._reach(nursery, offered)
        except (CannotConnect, CannotStart) as error:
            self._service.refuse(502, str(error), about)
            await refuse(wire.stream, NO_SERVER)
            return
        if isinstance(server, websocket.WebSocketTransport):
            chosen = server.subprotocol
        else:
            chosen = next((name for name in options.subprotocols if name in offered), None)
        try:
            client = await websocket.accept(
                nursery,
                wire,
                subprotocol=chosen,
                limit=options.run.policy.max_message,
                pings=websocket.Pings(options.ping_interval, options.ping_timeout),
            )
        except websocket.HandshakeFailed as failure:
            self._service.refuse(400, str(failure), about)
            await wire.shut()
        else:
            await self._carry(number, client, server, str(about["from"]))
        finally:
            with trio.CancelScope(shield=True):
                await server.close(Goodbye(GOING_AWAY))

    async def _refuse(
        self, stream: trio.abc.Stream, refusal: Refusal, about: Mapping[str, Member]
    ) -> None:
        self._service.refuse(refusal.status, refusal.why, about)
        await refuse(stream, refusal)

    # ------------------------------------------------------------------ both

    async def _reach(
        self, nursery: trio.Nursery, subprotocols: Sequence[str]
    ) -> ByteTransport | MessageTransport:
        """A server for one session.  Raises ``CannotConnect`` and ``CannotStart``."""
        options = self._options
        if self._children is not None:
            return ProcessTransport(self._children.start())
        assert options.dial is not None
        limit = options.run.policy.max_message
        return await dial(nursery, options.dial, subprotocols=subprotocols, limit=limit)

    async def _carry(
        self,
        number: int,
        client: ByteTransport | MessageTransport,
        server: ByteTransport | MessageTransport,
        whom: str,
    ) -> None:
        options = self._options
        messaging = []
        if options.listen.messages:
            messaging.append(Peer.CLIENT)
        if options.dial is not None and options.dial.endpoint.messages:
            messaging.append(Peer.SERVER)
        session = Session(
            options.run.policy,
            options.run.dialect,
            nonce=os.urandom(8).hex(),
            messaging=messaging,
        )
        exchange = Exchange(
            session,
            client,
            server,
            journal=_Lines(self._journal, number),
            grace=options.run.grace,
        )
        await self._service.carry(number, session, exchange, whom)


class _Lines:
    """The journal of one connection."""

    def __init__(self, journal: Journal, number: int) -> None:
        self._journal = journal
        self._number = number

    def write(self, notes: Iterable[Note | Diverted], now: float) -> None:
        self._journal.write(notes, now, connection=self._number)


async def _secure(
    stream: trio.SocketStream, context: ssl.SSLContext
) -> trio.SSLStream[trio.SocketStream] | Refusal | None:
    """``stream`` under TLS, or why not; None if nothing came of it.

    A refusal cannot be told to the other side, for that would be done under TLS.
    """
    secured = trio.SSLStream(stream, context, server_side=True, https_compatible=True)
    with trio.move_on_after(PATIENCE):
        try:
            await secured.do_handshake()
        except trio.BrokenResourceError as error:
            failure = error.__cause__
            if not isinstance(failure, ssl.SSLError) or isinstance(failure, ssl.SSLEOFError):
                return None  # no more than a look whether somebody listens
            return Refusal(400, f"no TLS handshake: {reason(failure)}")
        return secured
    return Refusal(408, "too slow")


def _wants(request: Request) -> dict[str, Member]:
    """What a request asks for, as far as that is no secret: a query may be one."""
    origins = b", ".join(request.all(b"origin")).decode("latin-1")
    wants: dict[str, Member] = {"path": request.path}
    return wants | ({"origin": origins} if origins else {})


def _name(stream: trio.SocketStream) -> str:
    """Who is at the other end, for the log."""
    try:
        address = stream.socket.getpeername()
    except OSError:
        return "gone"
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else "a local process"
