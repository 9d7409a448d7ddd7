"""The hot loop: read what is ready, let the session judge it, write what there is room for.

One epoll, level-triggered, of our own; its descriptor can itself be waited for, so the
same pump runs in a plain loop while Trio is still being imported and under Trio later.  It
neither awaits nor blocks longer than it is told, and knows nothing of messages.

Per chunk it makes three system calls and no trip through a scheduler: measured, that trip
costs more than all the rest of a small message.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from nevermind.notes import Diverted, Note
from nevermind.outbox import Outbox
from nevermind.peers import Peer
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.ending import Act, Ending, View
from nevermind.shell.signals import SIGCHLD, SIGINT, SIGKILL, SIGTERM, SignalInbox
from nevermind.shell.tree import ServerTree, in_foreground

if TYPE_CHECKING:
    from nevermind.session import Session

IN = select.EPOLLIN
OUT = select.EPOLLOUT
GONE = select.EPOLLERR | select.EPOLLHUP


LOOK_AGAIN = 0.02
"""Seconds until a sink that cannot tell by itself is asked again whether it is done."""


class NoteWriter(Protocol):
    """Where notes go; it must neither block nor raise."""

    def write(self, notes: list[Note | Diverted], now: float) -> None:
        """Take ``notes``, made at ``now``."""


class Flow:
    """One direction: what ``sender`` writes, on its way to the other peer's ``outbox``."""

    __slots__ = (
        "blocked",
        "draining",
        "ended",
        "lost",
        "outbox",
        "paused",
        "read",
        "sender",
        "sink",
        "source",
    )

    def __init__(self, sender: Peer, source: Source, sink: Sink, outbox: Outbox) -> None:
        self.sender = sender
        self.source = source
        self.sink = sink
        self.outbox = outbox
        self.read = source.read
        self.draining = False
        """The source counts as ended as soon as it has nothing to be read."""
        self.ended = False
        """The source is at its end, or is no longer asked."""
        self.paused = False
        """The other peer's queue is full."""
        self.blocked = False
        """The sink has no room."""
        self.lost = False
        """The sink is closed: what is forwarded goes nowhere."""


class Pump:
    """Carries one session's bytes until ``code``, the exit code, is no longer None.

    ``poll``, an epoll, is readable while ``turn`` has something to do, unless ``due`` says
    that time alone will ask something of it.  ``heard_server``: it has said something.
    """

    def __init__(
        self,
        session: Session,
        host: tuple[Source, Sink],
        server: tuple[Source, Sink],
        *,
        tree: ServerTree,
        ending: Ending,
        signals: SignalInbox,
        journal: NoteWriter,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.code: int | None = None
        self.heard_server = False
        self.poll = select.epoll()
        self._wait = self.poll.poll
        self._session = session
        self._tree = tree
        self._ending = ending
        self._signals = signals
        self._journal = journal
        self._clock = clock
        self._children = True
        self._look_again: float | None = None
        outboxes = session.outbox
        self._up = Flow(Peer.CLIENT, host[0], server[1], outboxes[Peer.SERVER])
        self._down = Flow(Peer.SERVER, server[0], host[1], outboxes[Peer.CLIENT])
        self._flows = (self._up, self._down)
        self._eager: list[Flow] = []
        """The sources that are read without being polled."""
        self._reads: dict[int, Flow] = {}
        self._writes: dict[int, Flow] = {}
        self.poll.register(signals.fd, IN)
        for flow in self._flows:
            self._listen(flow)
            if flow.sink.watched is not None:
                self._writes[flow.sink.watched] = flow
                self.poll.register(flow.sink.watched, 0)
            if flow.sink.fd is not None and flow.sink.fd != flow.sink.watched:
                self._writes[flow.sink.fd] = flow
                self.poll.register(flow.sink.fd, 0)

    def turn(self, most: float | None) -> bool:
        """Wait for something at most ``most`` seconds, None for ever, and do all that is ready.

        Returns whether anything was.
        """
        due = self.due()
        began = 0.0
        if due is not None:
            began = self._clock()
            left = max(0.0, due - began)
            most = left if most is None or left < most else most
        eager = self._eager
        looking = not (self._down.ended or self._down.paused)
        events = self._wait(0 if eager else most)
        reads = self._reads
        for fd, mask in events:
            if (flow := reads.get(fd)) is not None:
                looking = looking and flow is not self._down
                self._read(flow)
            elif (flow := self._writes.get(fd)) is not None:
                self._writable(flow, mask)
            elif fd == self._signals.fd:
                self._take_signals()
        for flow in eager:
            if not (flow.ended or flow.paused):
                self._read(flow)
        if due is not None and began >= due:
            self._session.expire(began)
            self._settle()
        if self._ending.begun:
            if looking:
                self._ending.found_nothing()
            self._end()
        return bool(events or eager)

    def due(self) -> float | None:
        """When time alone asks something of us; None: never."""
        due: float | None = self._session.next_deadline()
        if self._ending.begun:
            times = (due, self._ending.deadline, self._look_again)
            return min((at for at in times if at is not None), default=None)
        return due

    def _read(self, flow: Flow) -> None:
        try:
            data = flow.read()
        except BlockingIOError:
            if not flow.draining:
                return
            data = b""
        except OSError:
            data = b""
        if not data:
            self._source_ended(flow)
            return
        now = self._clock()
        self._session.receive_data(flow.sender, data, now)
        if flow is self._down:
            self.heard_server = True
            if self._ending.begun:
                self._ending.read_something(now, len(data))
        self._settle()

    def _settle(self) -> None:
        """Write what the session has queued, pass its notes on, mind the queues' bounds."""
        up, down = self._up, self._down
        if up.outbox.pending and not up.blocked:
            self._flush(up)
        if down.outbox.pending and not down.blocked:
            self._flush(down)
        notes = self._session.take_notes()
        if notes:
            self._journal.write(notes, self._clock())
        if up.outbox.pending or down.outbox.pending or up.paused or down.paused:
            for flow in self._flows:
                if flow.paused is self._session.may_read(flow.sender):
                    flow.paused = not flow.paused
                    self._listen(flow)

    def _flush(self, flow: Flow) -> None:
        outbox = flow.outbox
        if flow.lost:
            outbox.clear()
            return
        sink = flow.sink
        try:
            while outbox.pending:
                buffers = outbox.buffers()
                wrote = sink.write(buffers)
                outbox.wrote(wrote)
                if outbox.pending and sink.fd is not None and wrote < sum(map(len, buffers)):
                    break
        except BlockingIOError:
            pass
        except OSError:
            self._lose(flow)
            return
        blocked = outbox.pending > 0
        if blocked is not flow.blocked and sink.fd is not None:
            flow.blocked = blocked
            self.poll.modify(sink.fd, OUT if blocked else 0)

    def _writable(self, flow: Flow, mask: int) -> None:
        if mask & GONE:
            self._lose(flow)
        else:
            self._flush(flow)
        self._settle()

    def _listen(self, flow: Flow) -> None:
        """Have the poll report ``flow``'s source exactly while it is to be read.

        Out of the poll altogether, not just with an empty mask: a hang-up is reported
        whatever the mask is, and would make a full queue spin.
        """
        fd = flow.source.fd
        wanted = not (flow.ended or flow.paused)
        self._eager = [
            flow
            for flow in self._flows
            if (flow.source.fd is None or flow.draining) and not (flow.ended or flow.paused)
        ]
        if fd is None:
            return
        if wanted and fd not in self._reads:
            self._reads[fd] = flow
            self.poll.register(fd, IN)
        elif not wanted and fd in self._reads:
            del self._reads[fd]
            self.poll.unregister(fd)

    def _source_ended(self, flow: Flow) -> None:
        if flow.ended:
            return
        now = self._clock()
        flow.ended = True
        self._listen(flow)
        flow.source.close()
        self._session.receive_eof(flow.sender, now)
        self._settle()
        if flow is self._up:
            self._ending.host_ended(now)
        else:
            self._ending.server_output_ended()

    def _lose(self, flow: Flow) -> None:
        """Nobody reads ``flow``'s sink any more."""
        if flow.lost:
            return
        self._shut(flow)
        if flow is self._down:
            self._ending.reader_lost(self._clock())
            self._up.draining = True
            self._listen(self._up)

    def _shut(self, flow: Flow) -> None:
        if flow.lost:
            return
        for fd in {flow.sink.fd, flow.sink.watched}:
            if fd is not None:
                del self._writes[fd]
                self.poll.unregister(fd)
        flow.lost = True
        flow.blocked = False
        flow.outbox.clear()
        flow.sink.close()

    def _take_signals(self) -> None:
        for number in self._signals.take():
            now = self._clock()
            if number != SIGCHLD:
                had_it = number == SIGINT and in_foreground()
                self._ending.signalled(number, now, terminal_had_it=had_it)
                continue
            code, self._children = self._tree.reap()
            if code is not None:
                self._ending.server_exited(code, now)
                self._shut(self._up)
                if not self._up.ended:
                    self._up.ended = True
                    self._listen(self._up)
                    self._up.source.close()

    def _end(self) -> None:
        while acts := self._ending.decide(now := self._clock(), self._view()):
            for act in acts:
                self._do(act)
            if self.code is not None:
                return
        self._look_again = now + LOOK_AGAIN if self._down.sink.busy else None

    def _view(self) -> View:
        down = self._down
        return View(
            to_server=self._up.outbox.pending,
            to_host=down.outbox.pending + down.sink.busy,
            waiting=self._session.statistics().waiting,
            reading=not (down.ended or down.paused),
            children=self._children,
        )

    def _do(self, act: Act) -> None:
        match act:
            case Act.CLOSE_SERVER_STDIN:
                self._shut(self._up)
            case Act.INTERRUPT:
                self._tree.interrupt()
            case Act.TERMINATE:
                self._tree.signal(SIGTERM)
            case Act.KILL:
                self._tree.signal(SIGKILL)
            case Act.STOP_READING:
                self._source_ended(self._down)
            case Act.CLOSE_STDOUT:
                self._shut(self._down)
            case Act.LEAVE:
                self.code = self._ending.code
