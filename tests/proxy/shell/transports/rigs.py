"""Each transport with its far end in a test's hand.

A rig says what the far end does; what it hears is bytes, the messages of a WebSocket one
after another.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import trio
import trio.testing

from nevermind.framing.lines import Lines
from nevermind.mailbox import Mailbox, Queue
from nevermind.messages import Message, from_body
from nevermind.outbox import Outbox
from nevermind.shell.children import Children
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.transports import websocket
from nevermind.shell.transports.descriptor import DescriptorTransport
from nevermind.shell.transports.process import ProcessTransport
from nevermind.shell.transports.socket import SocketTransport
from nevermind.shell.transports.transport import ByteTransport, Goodbye, MessageTransport
from nevermind.shell.transports.wire import Wire

LIMIT = 16 * 1024 * 1024
NO_PINGS = websocket.Pings(0, 0)


class Far(Protocol):
    """The other end."""

    async def say(self, body: bytes) -> None:
        """Send ``body``; blocks as a real peer does."""

    async def hear(self) -> bytes:
        """What comes next; nothing at the end."""

    async def end(self) -> None:
        """Send no more."""

    async def vanish(self) -> None:
        """Be gone without a word."""


class Rig:
    """A transport, its queue and its far end."""

    def __init__(self, transport: ByteTransport | MessageTransport, far: Far) -> None:
        self.transport = transport
        self.far = far
        self.speaks_messages = isinstance(transport, websocket.WebSocketTransport)
        self.queue: Queue = (
            Mailbox(LIMIT, LIMIT, Lines(LIMIT)) if self.speaks_messages else Outbox(LIMIT)
        )

    def put(self, body: bytes) -> None:
        if isinstance(self.queue, Mailbox):
            self.queue.put(from_body(body))
        else:
            self.queue.append(body)

    async def send(self, *bodies: bytes) -> None:
        """Queue and send all of it."""
        for body in bodies:
            self.put(body)
        while self.queue.pending:
            await self.transport.send(self.queue)  # type: ignore[arg-type]

    async def receive(self) -> bytes | None:
        received = await self.transport.receive()
        return received.body if isinstance(received, Message) else received

    async def receive_all(self, size: int) -> bytes:
        data = b""
        while len(data) < size and (more := await self.receive()) is not None:
            data += more
        return data

    async def hear_all(self, size: int) -> bytes:
        data = b""
        while len(data) < size and (more := await self.far.hear()):
            data += more
        return data


class StreamFar:
    """A far end that is a stream of Trio's."""

    def __init__(self, stream: trio.abc.HalfCloseableStream) -> None:
        self._stream = stream

    async def say(self, body: bytes) -> None:
        await self._stream.send_all(body)

    async def hear(self) -> bytes:
        try:
            return bytes(await self._stream.receive_some(65536))
        except trio.BrokenResourceError:
            return b""

    async def end(self) -> None:
        await self._stream.send_eof()

    async def vanish(self) -> None:
        await trio.aclose_forcefully(self._stream)


class WebFar:
    """A far end that is a WebSocket of ours: the conformance of both ends at once."""

    def __init__(self, transport: websocket.WebSocketTransport, wire: Wire) -> None:
        self._rig = Rig(transport, self)
        self._wire = wire

    async def say(self, body: bytes) -> None:
        await self._rig.send(body)

    async def hear(self) -> bytes:
        return await self._rig.receive() or b""

    async def end(self) -> None:
        await self._rig.transport.close(Goodbye())

    async def vanish(self) -> None:
        await self._wire.shut()


@asynccontextmanager
async def pipes(path: Path) -> AsyncIterator[Rig]:
    there_out, here_in = os.pipe()
    here_out, there_in = os.pipe()
    for fd in (there_out, here_in, here_out, there_in):
        os.set_blocking(fd, False)
    far = trio.StapledStream(trio.lowlevel.FdStream(there_in), trio.lowlevel.FdStream(there_out))
    rig = Rig(DescriptorTransport(Source(here_out), Sink(here_in)), StreamFar(far))
    yield rig
    await rig.transport.close(Goodbye())
    await trio.aclose_forcefully(far)


@asynccontextmanager
async def unix(path: Path) -> AsyncIterator[Rig]:
    here, there = socket.socketpair()
    far = trio.SocketStream(trio.socket.from_stdlib_socket(there))
    rig = Rig(SocketTransport(here), StreamFar(far))
    yield rig
    await rig.transport.close(Goodbye())
    await trio.aclose_forcefully(far)


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets on loopback that hold little: the kernel's own grow to megabytes."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        here = socket.socket()
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        here.connect(server.getsockname())
        there, _ = server.accept()
    for each in (here, there):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    return here, there


@asynccontextmanager
async def tcp(path: Path) -> AsyncIterator[Rig]:
    here, there = tcp_pair()
    far = trio.SocketStream(trio.socket.from_stdlib_socket(there))
    rig = Rig(SocketTransport(here), StreamFar(far))
    yield rig
    await rig.transport.close(Goodbye())
    await trio.aclose_forcefully(far)


@asynccontextmanager
async def process(path: Path) -> AsyncIterator[Rig]:
    """A shell whose stdin and stdout lead to two named pipes, which are the far end."""
    out, into = path / "out", path / "in"
    os.mkfifo(out)
    os.mkfifo(into)
    children = Children(["sh", "-c", f"cat {out} & exec cat > {into}"], (1024, 1024))
    child = children.start()
    async with trio.open_nursery() as nursery:

        async def reap() -> None:
            while child.code is None:
                children.reap()
                await trio.sleep(0.005)

        nursery.start_soon(reap)
        there = trio.StapledStream(
            trio.lowlevel.FdStream(await trio.to_thread.run_sync(os.open, out, os.O_WRONLY)),
            trio.lowlevel.FdStream(await trio.to_thread.run_sync(os.open, into, os.O_RDONLY)),
        )
        rig = Rig(ProcessTransport(child), StreamFar(there))
        yield rig
        await trio.aclose_forcefully(there)
        await rig.transport.close(Goodbye())


async def open_web(
    nursery: trio.Nursery,
    client: trio.abc.Stream,
    server: trio.abc.Stream,
    *,
    limit: int = LIMIT,
    pings: websocket.Pings = NO_PINGS,
    subprotocols: tuple[str, ...] = (),
    chosen: str | None = None,
) -> tuple[tuple[websocket.WebSocketTransport, Wire], tuple[websocket.WebSocketTransport, Wire]]:
    """Both ends of one WebSocket: (client, its wire), (server, its wire)."""
    found: list[tuple[websocket.WebSocketTransport, Wire]] = []

    async def answer() -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += bytes(await server.receive_some(1024))
        wire = Wire(server, limit, head=head)
        accepted = await websocket.accept(
            nursery, wire, subprotocol=chosen, limit=limit, pings=pings
        )
        found.append((accepted, wire))

    async with trio.open_nursery() as opening:
        opening.start_soon(answer)
        wire = Wire(client, limit)
        ours = await websocket.connect(
            nursery,
            wire,
            authority="there",
            target="/",
            subprotocols=subprotocols,
            headers=[],
            limit=limit,
            pings=pings,
        )
    return (ours, wire), found[0]


@asynccontextmanager
async def _web(client: trio.abc.Stream, server: trio.abc.Stream, ours: int) -> AsyncIterator[Rig]:
    async with trio.open_nursery() as nursery:
        ends = await open_web(nursery, client, server)
        yield Rig(ends[ours][0], WebFar(*ends[1 - ours]))
        nursery.cancel_scope.cancel()
    await trio.aclose_forcefully(client)
    await trio.aclose_forcefully(server)


@asynccontextmanager
async def web_client(path: Path) -> AsyncIterator[Rig]:
    here, there = (trio.SocketStream(trio.socket.from_stdlib_socket(s)) for s in tcp_pair())
    async with _web(here, there, 0) as rig:
        yield rig


@asynccontextmanager
async def web_server(path: Path) -> AsyncIterator[Rig]:
    here, there = (trio.SocketStream(trio.socket.from_stdlib_socket(s)) for s in tcp_pair())
    async with _web(here, there, 1) as rig:
        yield rig


@asynccontextmanager
async def web_in_memory(path: Path) -> AsyncIterator[Rig]:
    here, there = trio.testing.lockstep_stream_pair()
    async with _web(here, there, 0) as rig:
        yield rig


RIGS: dict[str, Callable[[Path], object]] = {
    "pipes": pipes,
    "unix": unix,
    "tcp": tcp,
    "process": process,
    "WebSocket client": web_client,
    "WebSocket server": web_server,
    "WebSocket in memory": web_in_memory,
}
