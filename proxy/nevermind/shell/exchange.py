"""One session between two transports, under Trio: readers, writers, the timer, the end.

All pairings but stdin and stdout with a process, which ``pump`` carries.  Knows neither
sockets nor WebSockets, only what a transport can do.
"""

from __future__ import annotations

import math

import trio

from nevermind.mailbox import Mailbox
from nevermind.messages import Message
from nevermind.peers import Peer
from nevermind.session import Session
from nevermind.shell.ending import GRACE_WHILE_WAITING, QUIET, READING
from nevermind.shell.news import News
from nevermind.shell.pump import NoteWriter
from nevermind.shell.side import Side, farewell
from nevermind.shell.transports.transport import (
    GOING_AWAY,
    TOO_BIG,
    ByteTransport,
    ConnectionLost,
    Goodbye,
    MessageTransport,
)

TOGETHER = 64
"""Messages that are sent on with one write, where so many have come at once."""


class Exchange:
    """Carries one session's messages until it is over; ``run`` it once.

    Whether a peer is ``messaging`` must agree with its transport: each queue is of the kind
    that the transport takes.  ``grace`` is in seconds: how long the server may go on once
    the client has ended.  ``patience`` likewise: how long a client may take nothing of the
    last that it is to get.
    """

    def __init__(
        self,
        session: Session,
        client: ByteTransport | MessageTransport,
        server: ByteTransport | MessageTransport,
        *,
        journal: NoteWriter,
        grace: float,
        patience: float = GRACE_WHILE_WAITING,
    ) -> None:
        self._session = session
        self._journal = journal
        self._grace = grace
        self._patience = patience
        self._client = Side(Peer.CLIENT, session, client)
        self._server = Side(Peer.SERVER, session, server)
        self._sides = (self._client, self._server)
        self._timer = trio.CancelScope()
        self._due: float | None = None
        self._news = News()
        self._ending = False
        """Every move may matter: the end is being waited for."""
        self._course = trio.CancelScope()
        self._stop: Goodbye | None = None

    @property
    def goodbyes(self) -> dict[Peer, Goodbye | None]:
        """How each peer ended; None for one that we have ended."""
        return {side.peer: side.goodbye for side in self._sides}

    def stop(self, goodbye: Goodbye) -> None:
        """End both connections now, with this goodbye."""
        self._stop = self._stop or goodbye
        self._course.cancel()

    async def run(self) -> None:
        """Carry messages until one side has ended and the other has been told."""
        async with trio.open_nursery() as self._nursery:
            for side in self._sides:
                self._nursery.start_soon(self._read, side)
                self._nursery.start_soon(self._write, side)
                self._nursery.start_soon(self._watch, side)
            self._nursery.start_soon(self._keep_time)
            try:
                with self._course:
                    await self._until_the_end()
            except BaseException:
                self._stop = self._stop or Goodbye(GOING_AWAY)
                raise
            finally:
                with trio.CancelScope(shield=True):
                    await self._close()
            self._nursery.cancel_scope.cancel()

    # ------------------------------------------------------------------ carrying

    async def _read(self, side: Side) -> None:
        peer, session = side.peer, self._session
        together = 0
        try:
            with side.reading:
                while True:
                    while not session.may_read(peer):
                        await self._until_room(side)
                    received = await side.transport.receive()
                    if received is None:
                        if side.closed is None:  # else it is we who have ended it
                            side.goodbye = side.goodbye or side.transport.goodbye
                        break
                    now = side.read_at = trio.current_time()
                    if isinstance(received, Message):
                        session.receive_message(peer, received, now)
                    else:
                        session.receive_data(peer, received, now)
                    together = together + 1 if side.transport.ready else 0
                    if together % TOGETHER == 0:
                        self._settle(now)
        except ConnectionLost as lost:
            if side.closed is None:
                side.goodbye = side.goodbye or lost.goodbye
            self._deafen(side)
            self._nursery.start_soon(self._end, side)
        session.receive_eof(peer, trio.current_time())
        side.over = self._ending = True
        self._settle(trio.current_time())

    async def _until_room(self, side: Side) -> None:
        """Wait until less waits for the other peer, or of ours for ``side`` itself."""
        self._settle(trio.current_time())
        other = self._other(side)
        crowded = other if other.queue.full else side
        if crowded.room.is_set():
            crowded.room = trio.Event()
        if not self._session.may_read(side.peer):
            await crowded.room.wait()

    async def _write(self, side: Side) -> None:
        while True:
            await side.wake.wait()
            side.wake = trio.Event()
            side.sending = True
            try:
                while side.queue.pending:
                    await side.transport.send(side.queue)  # type: ignore[arg-type]  # see the class
                    side.room.set()
                    if self._ending:
                        self._news.tell()
            except ConnectionLost:
                self._deafen(side)
            side.sending = False
            if self._ending:
                self._news.tell()

    def _settle(self, now: float) -> None:
        """Send what the session has queued, pass its notes on, mind the time."""
        for side in self._sides:
            queue = side.queue
            if side.deaf:
                queue.clear()
            elif isinstance(queue, Mailbox) and queue.overlong:
                self._give_up(side, queue.overlong)
            elif queue.pending and not side.sending:
                self._send_now(side)
        notes = self._session.take_notes()
        if notes:
            self._journal.write(notes, now)
        due = self._session.next_deadline()
        if due != self._due:
            self._due = due
            self._timer.deadline = math.inf if due is None else due
        if self._ending:
            self._news.tell()

    def _send_now(self, side: Side) -> None:
        """Spare the writer's turn where there is room at once."""
        try:
            side.transport.send_now(side.queue)  # type: ignore[arg-type]  # see the class
        except ConnectionLost:
            self._deafen(side)
        side.room.set()
        if side.queue.pending:
            side.wake.set()

    async def _keep_time(self) -> None:
        while True:
            due = self._due = self._session.next_deadline()
            deadline = math.inf if due is None else due
            with trio.CancelScope(deadline=deadline) as self._timer:
                await trio.sleep_forever()
            now = trio.current_time()
            self._session.expire(now)
            self._settle(now)

    async def _watch(self, side: Side) -> None:
        await side.transport.lost()
        self._deafen(side)

    def _deafen(self, side: Side) -> None:
        side.deaf = True
        side.queue.clear()
        side.room.set()
        self._news.tell()

    def _give_up(self, side: Side, size: int) -> None:
        """What is to be sent to ``side`` is one message, and too big for it."""
        why = f"a message of {size} bytes or more is too big"
        side.goodbye = Goodbye(TOO_BIG, why, lost=True)
        self._deafen(side)
        side.reading.cancel()
        self._nursery.start_soon(self._end, side)

    # ------------------------------------------------------------------ the end

    async def _until_the_end(self) -> None:
        client, server = self._client, self._server
        await self._news.until(lambda: client.over or client.deaf or server.over)
        self._ending = True
        if not server.over:
            await self._follow_client()
        if not server.over:
            return
        await self._deliver()
        if server.transport.still_receives:
            if client.transport.half_closes:
                await client.transport.finish()
                await self._news.until(lambda: client.over or client.deaf or server.deaf)
            else:
                client.reading.cancel()
                await self._end(client)
            await self._follow_client()

    async def _follow_client(self) -> None:
        """The client has ended: so does the server, within the grace."""
        client, server = self._client, self._server
        transport = server.transport
        hears = client.transport.half_closes
        began = trio.current_time()
        if not client.over:  # nobody reads what it asks for; what it had written counts
            await self._news.until(lambda: client.over, began + QUIET)
            client.reading.cancel()
        told = overtime = False
        while not server.over or transport.still_receives:
            if client.over and server.delivered and not told:
                told = True
                await transport.finish()
            waiting = hears and not client.deaf and self._session.statistics().waiting > 0
            until = began + self._grace
            if waiting:
                overtime = overtime or trio.current_time() >= until
                until = began + max(self._grace, GRACE_WHILE_WAITING)
            elif overtime:
                # the answer was known by its head; its rest may still be arriving
                until = min(began + GRACE_WHILE_WAITING, server.read_at + QUIET)
            elif told and not transport.half_closes:
                return  # it has not seen an end, and nobody waits for it
            if trio.current_time() >= until:
                return
            await self._news.wait(until)

    async def _deliver(self) -> None:
        """Let a slow client have all of it, as long as it takes any."""
        client = self._client
        pending, until = client.queue.pending, trio.current_time() + self._patience
        while not client.delivered and trio.current_time() < until:
            await self._news.wait(until)
            if client.queue.pending < pending:
                pending, until = client.queue.pending, trio.current_time() + self._patience

    async def _close(self) -> None:
        """Close the server, deliver its last words, close the client."""
        if self._stop is not None:
            async with trio.open_nursery() as nursery:
                for side in self._sides:
                    nursery.start_soon(self._end, side)
            return
        await self._end(self._server)
        await self._news.until(lambda: self._server.over, trio.current_time() + READING)
        await self._deliver()
        await self._end(self._client)

    async def _end(self, side: Side) -> None:
        if side.closed is not None:
            await side.closed.wait()
            return
        side.closed = trio.Event()
        try:
            await side.transport.close(self._farewell(side))
        finally:
            side.closed.set()

    def _farewell(self, side: Side) -> Goodbye:
        return self._stop or farewell(side, self._other(side))

    def _other(self, side: Side) -> Side:
        return self._server if side is self._client else self._client
