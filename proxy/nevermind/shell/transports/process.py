"""A server process of one connection, behind its stdin and stdout."""

from __future__ import annotations

import trio

from nevermind.shell.children import Child
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.ending import PATIENCE, PIPE_CAPACITY, QUIET, READING, UNKILLABLE
from nevermind.shell.signals import SIGKILL, SIGTERM
from nevermind.shell.transports.descriptor import DescriptorTransport
from nevermind.shell.transports.transport import INTERNAL_ERROR, ConnectionLost, Goodbye


class ProcessTransport(DescriptorTransport):
    """A child that leads a session and process group of its own, and is ended by it.

    What it has written when it ends is received to the last byte, but no helper that holds
    its stdout keeps us: after that, ``QUIET`` seconds of silence are the end.
    """

    def __init__(self, child: Child) -> None:
        super().__init__(Source(child.stdout), Sink(child.stdin))
        self._child = child
        self._owed = PIPE_CAPACITY
        self._complete = trio.Event()
        self.goodbye = Goodbye()
        child.when_ended(self._interrupt)

    @property
    def still_receives(self) -> bool:
        """See ``Transport``: it may have closed its stdout and live on."""
        return self._child.code is None

    async def receive(self) -> bytes | None:
        """See ``ByteTransport``."""
        data = None
        if self._child.code is None:
            try:
                data = await super().receive()
            except ConnectionLost:
                if not self._reading:
                    raise
                data = await self._last_words()  # it ended meanwhile
        else:
            data = await self._last_words()
        if data is None:
            self._complete.set()
            with trio.move_on_after(QUIET):
                await self._child.ended.wait()  # its stdout ends a moment before it does
            if self._child.code:
                self.goodbye = Goodbye(INTERNAL_ERROR, f"the server {self._child.how}")
        return data

    async def _last_words(self) -> bytes | None:
        """What it has left behind in the pipe, before somebody else's silence."""
        if self._owed <= 0 and trio.current_time() >= self._child.ended_at + READING:
            return None
        data = None
        with trio.move_on_after(QUIET):
            data = await super().receive()
        self._owed -= len(data or b"")
        return data

    async def lost(self) -> None:
        """See ``Transport``."""
        await self._child.ended.wait()

    async def close(self, goodbye: Goodbye) -> None:
        """See ``Transport``.  A process that lives is asked to end, then made to."""
        await self.finish()
        if self._child.code is None:
            self._child.signal(SIGTERM)
            with trio.move_on_after(PATIENCE):
                await self._child.ended.wait()
            self._child.signal(SIGKILL)  # to whatever is left of its group
            with trio.move_on_after(UNKILLABLE):
                await self._child.ended.wait()
        with trio.move_on_after(QUIET):
            await self._complete.wait()
        await super().close(goodbye)

    def _interrupt(self) -> None:
        """It ended: whoever waits for its stdout now does so for ``QUIET`` seconds only."""
        if self._reading:
            trio.lowlevel.notify_closing(self._child.stdout)
