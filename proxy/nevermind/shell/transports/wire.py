"""The byte stream under a WebSocket: between the library and the socket.

The library sends from its reading task (pongs, the answer to a close) under the lock that
its senders hold, and it reads no more while a message waits to be taken.  Two peers that
send each other more than the sockets hold could so end up waiting for each other, and
pings would go unanswered.  Here, what the library sends is queued at once and written by
whoever can wait; and reading goes on, up to a bound, while messages wait.

It also sees what the library does not tell: every sign of life, and messages that are too
big, by their headers.  Knows nothing of the library itself.
"""

from __future__ import annotations

import re
from collections import deque

import trio

from nevermind.shell.transports.frames import CLOSE, FrameMeter

CHUNK = 64 * 1024
"""Bytes per read: the library's own 4 KiB cost a trip through the scheduler each."""

SLICE = 64 * 1024
"""Bytes per write where only whole writes are seen, so that progress within a message is."""

READ_AHEAD = 4 * 1024 * 1024
"""Bytes of messages that may wait to be taken before reading stops, so that pings among
and behind them are still found."""

LONGEST_QUEUE = 4096
"""Frames that may wait: more are owed only to a peer that pings and does not read, and that
one is not read either until it does."""

_HEAD_END = re.compile(rb"\n\r?\n")


class Wire(trio.abc.Stream):
    """``stream``, on which a handshake comes first and then frames.

    ``head``, a request that has been read already, is given out first, and ``rest``, what
    came behind it, once ``opened`` is set.  Without a head, a response is expected.
    ``heard_at`` and ``wrote_at`` are in Trio's time.
    """

    def __init__(
        self, stream: trio.abc.Stream, longest: int, *, head: bytes = b"", rest: bytes = b""
    ) -> None:
        self.meter = FrameMeter(longest)
        self.heard_at = self.wrote_at = trio.current_time()
        self.stalled_at = float("-inf")
        """When reading last waited for somebody to take messages."""
        self.opened = trio.Event()
        self.said_goodbye = False
        """A close frame of the library's has been queued."""
        self.broken = False
        """Nothing can be sent any more."""
        self.unsent = 0
        """Bytes that wait to be written."""
        self.stream = stream
        self._head = head
        self._rest = rest
        self._response = None if head else b""
        self._taken = 0
        self._wanted = False
        self._room = trio.Event()
        self._reading: trio.CancelScope | None = None
        self._out: deque[bytes] = deque()
        self._queued = 0
        self._writing: trio.CancelScope | None = None
        self._wrote = trio.Event()
        self._wake = trio.Event()
        self._cut = False

    # ------------------------------------------------------------------ for the library

    async def receive_some(self, max_bytes: int | None = None) -> bytes:  # noqa: ARG002
        """What came, in chunks of our own size."""
        if self._head:
            data, self._head = self._head, b""
            await trio.lowlevel.checkpoint()
            return data
        if self._response is None:
            await self.opened.wait()
        if self._cut or self.meter.too_big:
            return b""
        if self._rest:
            data, self._rest = self._rest, b""
        else:
            data = await self._read()
        return self._measure(data)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Queue ``data``; it is written by ``flush`` or ``run``."""
        if self.broken:
            raise trio.BrokenResourceError
        if self.opened.is_set() and data[0] & 0x0F == CLOSE:
            self.said_goodbye = True
        self._out.append(bytes(data))
        self.unsent += len(data)
        self._queued += 1
        self._wake.set()  # no checkpoint: the library has just been through one, for its lock

    async def wait_send_all_might_not_block(self) -> None:
        """It never blocks."""
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        """The library has done with it; the socket is closed by ``shut``."""
        await trio.lowlevel.checkpoint()

    # ------------------------------------------------------------------ for the transport

    async def run(self) -> None:
        """Write what the library sends by itself; runs as long as the connection."""
        while not self.broken:
            await self._wake.wait()
            self._wake = trio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Write all that waits; see ``broken`` afterwards."""
        while self._out and not self.broken:
            if self._writing is None:
                await self._write(self._next())
            else:
                await self._wrote.wait()

    def want(self, wanted: bool) -> None:
        """Whether somebody waits for a message: then reading never stops."""
        self._wanted = wanted
        if wanted:
            self._room.set()

    def take(self, size: int) -> None:
        """A message of ``size`` bytes has been taken."""
        self._taken += size
        self._room.set()

    def cut(self) -> None:
        """Behave as if the connection had been lost."""
        self._cut = self.broken = True
        for scope in (self._reading, self._writing):
            if scope is not None:
                scope.cancel()
        self.opened.set()
        self._wake.set()

    async def linger(self) -> None:
        """Read and forget until the peer has closed too.

        Closing a socket while data comes in resets the connection, and our last words
        would be lost with it (RFC 9112, section 9.6).
        """
        try:
            if isinstance(self.stream, trio.abc.HalfCloseableStream):
                await self.stream.send_eof()
            while await self.stream.receive_some(CHUNK):
                pass
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            pass

    async def shut(self) -> None:
        """Close the socket, whatever waits."""
        self.cut()
        await trio.aclose_forcefully(self.stream)

    # ------------------------------------------------------------------ inside

    async def _read(self) -> bytes:
        while self.meter.received - self._taken >= READ_AHEAD and not (self._wanted or self._cut):
            self._room = trio.Event()
            await self._stall(self._room)
        while self._queued >= LONGEST_QUEUE and self._out and not self._cut:
            await self._stall(self._wrote)
        data = b""
        if not self._cut:
            with trio.CancelScope() as self._reading:
                data = bytes(await self.stream.receive_some(CHUNK))
                self.heard_at = trio.current_time()
            self._reading = None
        return data

    async def _stall(self, until: trio.Event) -> None:
        with trio.CancelScope() as self._reading:
            self.stalled_at = float("inf")
            await until.wait()
        self.stalled_at = trio.current_time()

    def _measure(self, data: bytes) -> bytes:
        """Hold back what the library must not see; nothing means that the connection is lost."""
        before = 0
        if self._response is not None and not self.opened.is_set():
            self._response += data
            end = _HEAD_END.search(self._response)
            if end is None:
                return data
            before = len(data) - (len(self._response) - end.end())
            self.opened.set()
        return data[: before + self.meter.feed(data[before:])]

    def _next(self) -> bytes:
        """What to write next: small frames together, a large one by itself."""
        data = self._out.popleft()
        if len(data) >= CHUNK or not self._out:
            return data
        parts, size = [data], len(data)
        while self._out and size + len(self._out[0]) <= CHUNK:
            parts.append(self._out.popleft())
            size += len(parts[-1])
        return b"".join(parts)

    async def _write(self, data: bytes) -> None:
        done = False
        with trio.CancelScope() as self._writing:
            try:
                rest = memoryview(data)
                while rest:
                    count = await self._write_some(rest)
                    rest = rest[count:]
                    self.unsent -= count
                    self.wrote_at = trio.current_time()
                done = True
            except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            finally:
                # a frame that was cut off can be followed by nothing
                self.broken = self.broken or not done
                self._writing = None
                self._queued = self._queued if self._out else 0
                self._wrote.set()
                self._wrote = trio.Event()

    async def _write_some(self, data: memoryview) -> int:
        if isinstance(self.stream, trio.SocketStream):
            return await self.stream.socket.send(data)
        await self.stream.send_all(data[:SLICE])
        return min(len(data), SLICE)
