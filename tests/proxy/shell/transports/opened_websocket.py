"""A WebSocket of ours, opened in either role to a peer of another make."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from nevermind.framing.lines import Lines
from nevermind.mailbox import Mailbox
from nevermind.messages import Message
from nevermind.shell.transports import websocket
from nevermind.shell.transports.wire import Wire
from proxy.shell.transports import rfc_peer
from proxy.shell.transports.rfc_peer import RfcPeer

LIMIT = 1_000_000
PINGS = websocket.Pings(20, 20)
NO_PINGS = websocket.Pings(0, 0)


class Ours:
    """Our end, with something to send."""

    def __init__(self, transport: websocket.WebSocketTransport, nursery: trio.Nursery) -> None:
        self.transport = transport
        self.nursery = nursery
        self.receive = transport.receive
        self.close = transport.close
        self._mailbox = Mailbox(LIMIT, LIMIT, Lines(LIMIT))

    async def send(self, *messages: Message) -> None:
        for message in messages:
            self._mailbox.put(message)
        while self._mailbox.pending:
            await self.transport.send(self._mailbox)


@asynccontextmanager
async def opened(
    role: str, *, pings: websocket.Pings = NO_PINGS, pongs: bool = True
) -> AsyncIterator[tuple[Ours, RfcPeer]]:
    """A WebSocket between us, in this role, and a peer of another make."""
    here, there = trio.testing.memory_stream_pair()
    peers: list[RfcPeer] = []
    ours: list[websocket.WebSocketTransport] = []
    async with trio.open_nursery() as nursery:

        async def call() -> None:
            peers.append(await rfc_peer.call(there, "mcp", pongs=pongs))

        async def answer() -> None:
            peers.append(await rfc_peer.answer(there, "mcp", pongs=pongs))

        async with trio.open_nursery() as opening:
            if role == "client":
                opening.start_soon(answer)
                ours.append(await connect(nursery, here, pings))
            else:
                opening.start_soon(call)
                ours.append(await accept(nursery, here, pings))
        yield Ours(ours[0], nursery), peers[0]
        nursery.cancel_scope.cancel()


async def connect(
    nursery: trio.Nursery, stream: trio.abc.Stream, pings: websocket.Pings
) -> websocket.WebSocketTransport:
    return await websocket.connect(
        nursery,
        Wire(stream, LIMIT),
        authority="there",
        target="/path?query",
        subprotocols=["mcp"],
        headers=[],
        limit=LIMIT,
        pings=pings,
    )


async def accept(
    nursery: trio.Nursery, stream: trio.abc.Stream, pings: websocket.Pings, rest: bytes = b""
) -> websocket.WebSocketTransport:
    head = b""
    while b"\r\n\r\n" not in head:
        head += bytes(await stream.receive_some(65536))
    wire = Wire(stream, LIMIT, head=head, rest=rest)
    return await websocket.accept(nursery, wire, subprotocol="mcp", limit=LIMIT, pings=pings)


both_roles = pytest.mark.parametrize("role", ["client", "server"])


def text(body: str) -> Message:
    return Message(body.encode(), text=True)
