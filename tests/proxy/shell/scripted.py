"""Transports without a medium: a test says what their peer does, and sees what it is sent."""

from __future__ import annotations

import trio

from nevermind.mailbox import Mailbox
from nevermind.messages import Message
from nevermind.outbox import Outbox
from nevermind.shell.transports.transport import ConnectionLost, Goodbye


class Scripted:
    """What streams and WebSockets have in common."""

    half_closes = True
    ready = False

    def __init__(self) -> None:
        self.goodbye = Goodbye()
        self.still_receives = False
        self.finished = trio.Event()
        self.closed = trio.Event()
        self.told: Goodbye | None = None
        self.reads = True
        """Whether the peer takes what it is sent."""
        self._says, self._said = trio.open_memory_channel[bytes | Message | ConnectionLost | None](
            1000
        )
        self._reads_again = trio.Event()
        self._heard_something = trio.Event()
        self._lost = trio.Event()

    async def lost(self) -> None:
        await self._lost.wait()

    async def finish(self) -> None:
        self.finished.set()

    async def close(self, goodbye: Goodbye) -> None:
        if self.told is None:
            self.told = goodbye
            self.closed.set()
            self._says.send_nowait(None)

    # ------------------------------------------------------------------ what a test does

    def says(self, said: bytes | Message) -> None:
        self._says.send_nowait(said)

    def ends(self, goodbye: Goodbye | None = None) -> None:
        self.goodbye = goodbye or self.goodbye
        self._says.send_nowait(None)

    def breaks(self, reason: str = "reset", code: int = 1011) -> None:
        self._says.send_nowait(ConnectionLost(reason, code))

    def stops_reading(self) -> None:
        self.reads = False
        self._reads_again = trio.Event()

    def reads_on(self) -> None:
        self.reads = True
        self._reads_again.set()

    def stops_listening(self) -> None:
        """It is known that it will never read again."""
        self._lost.set()

    async def _next(self) -> bytes | Message | None:
        said = await self._said.receive()
        if isinstance(said, ConnectionLost):
            raise said
        return said

    async def _room(self) -> None:
        await trio.lowlevel.checkpoint()
        while not self.reads:
            await self._reads_again.wait()


class ScriptedStream(Scripted):
    """A stream of bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = b""

    async def receive(self) -> bytes | None:
        said = await self._next()
        assert not isinstance(said, Message)
        return said

    def send_now(self, outbox: Outbox) -> None:
        while self.reads and outbox.pending:
            data = b"".join(outbox.buffers())
            outbox.wrote(len(data))
            self.heard += data
            self._heard_something.set()

    async def send(self, outbox: Outbox) -> None:
        await self._room()
        self.send_now(outbox)

    async def hears(self, expected: bytes) -> None:
        """The very next bytes are these."""
        while len(self.heard) < len(expected):
            self._heard_something = trio.Event()
            await self._heard_something.wait()
        assert self.heard[: len(expected)] == expected
        self.heard = self.heard[len(expected) :]


class ScriptedWeb(Scripted):
    """Whole messages; it is closed as a whole."""

    half_closes = False

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []

    async def receive(self) -> Message | None:
        said = await self._next()
        assert not isinstance(said, bytes)
        return said

    def send_now(self, mailbox: Mailbox) -> None:
        while self.reads and (message := mailbox.begin()) is not None:
            mailbox.sent()
            self.heard.append(message)
            self._heard_something.set()

    async def send(self, mailbox: Mailbox) -> None:
        message = mailbox.begin()
        await self._room()
        if message is not None:
            mailbox.sent()
            self.heard.append(message)
            self._heard_something.set()

    async def hears(self, *expected: Message) -> None:
        """The very next messages are these."""
        while len(self.heard) < len(expected):
            self._heard_something = trio.Event()
            await self._heard_something.wait()
        assert self.heard[: len(expected)] == list(expected)
        del self.heard[: len(expected)]
