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

import os
import re
from collections import deque

import trio

from nevermind.shell.transports.frames import CLOSE, FrameMeter
from nevermind.shell.transports.tls import half_close

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
        self.stream = stream
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
        self._fd = stream.socket.fileno() if isinstance(stream, trio.SocketStream) else None
        self._head = head
        self._rest = rest
        self.response = None if head else b""
        """The head of the response, once ``opened``; None where we give it."""
        self._reading: trio.Event | None = None
        self._ended = self._lingering = False
        self._taken = 0
        self._wanted = False
        self._room = trio.Event()
        self._out: deque[bytes] = deque()
        self._queued = 0
        self._writing = False
        self._wrote = trio.Event()
        self._wake = trio.Event()
        self._shut = False

    # ------------------------------------------------------------------ for the library

    async def receive_some(self, max_bytes: int | None = None) -> bytes:  # noqa: ARG002
        """What came, in chunks of our own size."""
        if self._head:
            data, self._head = self._head, b""
            await trio.lowlevel.checkpoint()
            return data
        if self.response is None and not self.opened.is_set():
            await self.opened.wait()
        if self._shut or self.meter.too_big:
            return b""
        if self._rest:
            data, self._rest = self._rest, b""
        else:
            await self._until_room()
            if self._lingering:
                return b""
            data = await self._read()
            self.heard_at = trio.current_time()
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

    def put(self, frame: bytes | bytearray) -> None:
        """Queue ``frame``, a whole one of our caller's, who will have it written."""
        self._out.append(bytes(frame))
        self.unsent += len(frame)

    def write_now(self) -> None:
        """Write what there is room for without waiting; see ``unsent`` and ``broken``."""
        while self._fd is not None and self._out and not (self._writing or self.broken):
            data = self._next()
            try:
                count = os.write(self._fd, data)
            except BlockingIOError:
                count = 0
            except OSError:
                self.broken = True
                return
            self.unsent -= count
            if count < len(data):
                self._out.appendleft(data[count:])
                return
            self._wrote_something()

    async def flush(self) -> None:
        """Return when nothing waits or is being written; see ``broken`` afterwards."""
        while (self._out or self._writing) and not self.broken:
            if self._writing:
                await self._wrote.wait()
            else:
                await self._write(self._next())

    def want(self, wanted: bool) -> None:
        """Whether somebody waits for a message: then reading never stops."""
        self._wanted = wanted
        if wanted:
            self._room.set()

    def take(self, size: int) -> None:
        """A message of ``size`` bytes has been taken."""
        self._taken += size
        self._room.set()

    async def linger(self) -> None:
        """Send no more, and read and forget until the peer has closed too.

        Closing a socket while data comes in resets the connection, and our last words
        would be lost with it (RFC 9112, section 9.6).
        """
        self._lingering = True
        try:
            await half_close(self.stream)
            while not self._ended:
                if self._reading is None:
                    await self._read()
                else:
                    await self._reading.wait()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass

    async def shut(self) -> None:
        """Close the socket, whatever waits; the library sees a lost connection."""
        self._shut = self.broken = True
        for event in (self.opened, self._wake, self._room, self._wrote):
            event.set()
        await trio.aclose_forcefully(self.stream)

    # ------------------------------------------------------------------ inside

    async def _read(self) -> bytes:
        """What there is; nothing at the end."""
        self._reading = trio.Event()
        data = b""
        try:
            data = await self._read_some()
        finally:
            self._ended = not data
            self._reading.set()
            self._reading = None
        return data

    async def _read_some(self) -> bytes:
        """Waiting first costs less than trying first, message by message."""
        if self._fd is None:
            return bytes(await self.stream.receive_some(CHUNK))
        while not self._shut:
            await trio.lowlevel.wait_readable(self._fd)
            try:
                return os.read(self._fd, CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                raise trio.BrokenResourceError from None
        return b""

    async def _until_room(self) -> None:
        while self.meter.received - self._taken >= READ_AHEAD and not (self._wanted or self._shut):
            self._room = trio.Event()
            await self._stall(self._room)
        while self._queued >= LONGEST_QUEUE and self._out and not self._shut:
            await self._stall(self._wrote)

    async def _stall(self, until: trio.Event) -> None:
        self.stalled_at = float("inf")
        await until.wait()
        self.stalled_at = trio.current_time()

    def _measure(self, data: bytes) -> bytes:
        """Hold back what the library must not see; nothing means that the connection is lost."""
        before = 0
        if self.response is not None and not self.opened.is_set():
            self.response += data
            end = _HEAD_END.search(self.response)
            if end is None:
                return data
            before = len(data) - (len(self.response) - end.end())
            self.response = self.response[: end.end()]
            self.opened.set()
        passed = before + self.meter.feed(data[before:] if before else data)
        return data if passed == len(data) else data[:passed]

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
        rest = memoryview(data)
        self._writing = True
        try:
            while rest:
                count = await self._write_some(rest)
                rest = rest[count:]
                self.unsent -= count
                self._wrote_something()
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            # a frame that was cut off can be followed by nothing
            self.broken = self.broken or bool(rest)
            self._writing = False
            self._wrote.set()
            self._wrote = trio.Event()

    def _wrote_something(self) -> None:
        self.wrote_at = trio.current_time()
        if not self._out:
            self._queued = 0

    async def _write_some(self, data: memoryview) -> int:
        """Write some of ``data``; how much.  A socket is not waited for if it has room."""
        if self._fd is None:
            await self.stream.send_all(data[:SLICE])
            return min(len(data), SLICE)
        while not self._shut:
            try:
                return os.write(self._fd, data)
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._fd)
        raise trio.ClosedResourceError
