"""A peer behind descriptors: our own stdin and stdout, a process's pipes, a socket.

Reads and writes without blocking, and waits only for readiness; see ``descriptors`` for
why the mode of an inherited description is never changed.
"""

from __future__ import annotations

import select

import trio

from nevermind.outbox import Outbox
from nevermind.shell.descriptors import LOOK_AGAIN, Sink, Source
from nevermind.shell.transports.transport import ConnectionLost, Goodbye


class DescriptorTransport:
    """A stream of bytes: what ``source`` gives and ``sink`` takes."""

    half_closes = True
    ready = False
    """What is there is received in one piece."""

    def __init__(self, source: Source, sink: Sink) -> None:
        self._source = source
        self._sink = sink
        self._reading = True
        self._writing = True
        self.goodbye = Goodbye()

    @property
    def still_receives(self) -> bool:
        """See ``Transport``."""
        return False

    async def receive(self) -> bytes | None:
        """See ``ByteTransport``."""
        while True:
            await self._readable()
            try:
                return self._source.read() or None
            except BlockingIOError:
                continue
            except OSError as error:
                raise ConnectionLost(error.strerror or "reset") from None

    def send_now(self, outbox: Outbox) -> None:
        """See ``ByteTransport``."""
        if not self._writing:
            outbox.clear()
            return
        try:
            while outbox.pending:
                outbox.wrote(self._sink.write(outbox.buffers()))
        except BlockingIOError:
            return
        except OSError as error:
            raise ConnectionLost(error.strerror or "nobody reads") from None

    async def send(self, outbox: Outbox) -> None:
        """See ``ByteTransport``."""
        await self._writable()
        self.send_now(outbox)

    async def finish(self) -> None:
        """See ``Transport``."""
        while self._writing and self._sink.busy:  # noqa: ASYNC110 -- a thread has no event
            await trio.sleep(LOOK_AGAIN)
        if self._writing:
            self._writing = False
            if self._sink.fd is not None:
                trio.lowlevel.notify_closing(self._sink.fd)
            self._sink.close()

    async def lost(self) -> None:
        """See ``Transport``."""
        watched = self._sink.watched
        if watched is None or not self._writing or not hasattr(select, "epoll"):
            await trio.sleep_forever()
        assert watched is not None
        with select.epoll() as watch:
            watch.register(watched, 0)  # an error is reported whatever is asked for
            try:
                await trio.lowlevel.wait_readable(watch.fileno())
            finally:
                trio.lowlevel.notify_closing(watch.fileno())

    async def close(self, goodbye: Goodbye) -> None:  # noqa: ARG002 -- the medium has no words
        """See ``Transport``."""
        await self.finish()
        if self._reading:
            self._reading = False
            if self._source.fd is not None:
                trio.lowlevel.notify_closing(self._source.fd)
            self._source.close()

    async def _readable(self) -> None:
        if not self._reading:
            raise ConnectionLost("closed")
        if self._source.fd is None:
            await trio.lowlevel.checkpoint()
            return
        try:
            await trio.lowlevel.wait_readable(self._source.fd)
        except trio.ClosedResourceError:
            raise ConnectionLost("closed") from None

    async def _writable(self) -> None:
        if self._sink.fd is None:
            await trio.lowlevel.checkpoint()
            return
        try:
            await trio.lowlevel.wait_writable(self._sink.fd)
        except trio.ClosedResourceError:
            raise ConnectionLost("closed") from None
