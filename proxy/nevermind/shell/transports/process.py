"""A server process of one connection, behind its stdin and stdout."""

from __future__ import annotations

import trio

from nevermind.shell.children import Child
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.ending import PATIENCE, PIPE_CAPACITY, QUIET, READING, UNKILLABLE
from nevermind.shell.signals import SIGKILL, SIGTERM
from nevermind.shell.transports.descriptor import DescriptorTransport
from nevermind.shell.transports.transport import INTERNAL_ERROR, Goodbye


class ProcessTransport(DescriptorTransport):
    """A child that leads a session and process group of its own, and is ended by it.

    What it has written when it ends is received to the last byte, but no helper that holds
    its stdout keeps us: after that, ``QUIET`` seconds of silence are the end.
    """

    def __init__(self, child: Child) -> None:
        super().__init__(Source(child.stdout), Sink(child.stdin))
        self._child = child
        self._silence: trio.CancelScope | None = None
        self._owed = PIPE_CAPACITY
        self._complete = trio.Event()
        self.goodbye = Goodbye()
        child.when_ended(self._hurry)

    @property
    def still_receives(self) -> bool:
        """See ``Transport``: it may have closed its stdout and live on."""
        return self._child.code is None

    async def receive(self) -> bytes | None:
        """See ``ByteTransport``."""
        child = self._child
        data = None
        if self._owed > 0 or trio.current_time() < child.ended_at + READING:
            with trio.CancelScope() as self._silence:
                self._hurry()
                data = await super().receive()
            self._silence = None
        if data is None:
            self._complete.set()
            with trio.move_on_after(QUIET):
                await child.ended.wait()  # its stdout ends a moment before it does
            if child.code:
                why = f"the server exited with {child.code}"
                self.goodbye = Goodbye(INTERNAL_ERROR, why)
        elif child.code is not None:
            self._owed -= len(data)
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

    def _hurry(self) -> None:
        """Once the process is gone, nothing is waited for but its last words."""
        if self._child.code is not None and self._silence is not None:
            self._silence.deadline = trio.current_time() + QUIET
