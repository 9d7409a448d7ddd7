"""The hot loop: read what is ready, let the session judge it, write what there is room for.

It waits in one poll set of its own, which can itself be waited for, so the same pump runs
in a plain loop while Trio is not there yet and under Trio later.  It neither awaits nor
blocks longer than it is told, and knows nothing of messages.

Per chunk it makes three system calls and no trip through a scheduler: measured, that trip
costs more than all the rest of a small message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from nevermind.notes import Diverted, Note
from nevermind.peers import Peer
from nevermind.shell.descriptors import LOOK_AGAIN, Sink, Source
from nevermind.shell.ending import Act, Ending, View
from nevermind.shell.flow import Flow
from nevermind.shell.prelude import UP, Heard
from nevermind.shell.readiness import GONE, MOST, READABLE, Readiness
from nevermind.shell.signals import SIGCHLD, SIGINT, SIGKILL, SIGTERM, SignalInbox
from nevermind.shell.tree import ServerTree, in_foreground

if TYPE_CHECKING:
    from nevermind.session import Session

LENT = 512 * 1024
"""Bytes of the buffer for long messages: as much as a pipe to the host holds."""

_ASTRAY = 4096 - 16
"""Bytes by which so large an allocation misses the next page: copies of whole pages are faster."""


class NoteWriter(Protocol):
    """Where notes go; it must neither block nor raise."""

    def write(self, notes: Iterable[Note | Diverted], now: float) -> None:
        """Take ``notes``, made at ``now``."""


class Pump:
    """Carries one session's bytes until ``code``, the exit code, is no longer None.

    ``readiness.fd`` is readable while ``turn`` has something to do, unless ``due`` says
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
        readiness: Readiness | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.code: int | None = None
        self.heard_server = False
        self.readiness = ready = Readiness() if readiness is None else readiness
        self._session = session
        self._tree = tree
        self._ending = ending
        self._signals = signals
        self._journal = journal
        self._clock = clock
        self._timed = session.timed
        self._children = True
        self._look_again: float | None = None
        self._buffer = bytearray(LENT + _ASTRAY)
        del self._buffer[:_ASTRAY]
        self._up = _flow(session, Peer.CLIENT, host[0], server[1], ready)
        self._down = _flow(session, Peer.SERVER, server[0], host[1], ready)
        self._sources: dict[int, Flow] = {}
        self._sinks: dict[int, Flow] = {}
        for flow in (self._up, self._down):
            if flow.source.fd is not None:
                self._sources[flow.source.fd] = flow
            for fd in (flow.sink.fd, flow.sink.watched):
                if fd is not None:
                    self._sinks[fd] = flow
        ready.add(signals.fd, READABLE)

    def recall(self, heard: Iterable[Heard]) -> None:
        """Take in what was heard before there was a session; call it before the first turn."""
        for piece in heard:
            flow = self._up if piece.way == UP else self._down
            if not piece.data:
                self._source_ended(flow)
                continue
            self._session.receive_data(flow.sender, piece.data, piece.now)
            flow.outbox.wrote(piece.sent)
            self.heard_server = self.heard_server or flow is self._down
        self._settle()

    def turn(self, most: float | None) -> bool:
        """Wait for something at most ``most`` seconds, None for ever, and do all that is ready.

        Returns whether anything was.
        """
        up, down = self._up, self._down
        due, began = None, 0.0
        if (
            self._timed
            or self._ending.begun
            or up.stream.deadline is not None
            or down.stream.deadline is not None
            or up.waits_until is not None
            or down.waits_until is not None
        ):
            due = self.due()
            if due is not None:
                began = self._clock()
                left = max(0.0, due - began)
                most = left if most is None or left < most else most
        eager = (up.eager and up.reading) or (down.eager and down.reading)
        looking = down.reading
        events = self.readiness.wait(0 if eager else most, MOST)
        for fd, mask in events:
            if (flow := self._sources.get(fd)) is not None:
                looking = looking and flow is not down
                self._read(flow)
            elif (flow := self._sinks.get(fd)) is not None:
                self._write(flow, mask)
            else:
                self._take_signals()
        if eager:
            for flow in (up, down):
                if flow.eager:
                    self._read(flow)
        if due is not None and began >= due:
            self._session.expire(began)
            self._settle()
        if self._ending.begun:
            if looking:
                self._ending.found_nothing()
            self._end()
        return bool(events) or eager

    @property
    def ends(self) -> bool:
        """Whether the end of the run has begun."""
        return self._ending.begun

    def due(self) -> float | None:
        """When time alone asks something of us; None: never."""
        times = [self._session.next_deadline(), self._up.waits_until, self._down.waits_until]
        if self._ending.begun:
            times += (self._ending.deadline, self._look_again)
        return min((at for at in times if at is not None), default=None)

    def _read(self, flow: Flow) -> None:
        if not flow.reading:
            return  # since the poll set was asked
        stream = flow.stream
        if stream.passing:
            self._read_through(flow)
            return
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
        if flow is self._down:
            self.heard_server = True
            if self._ending.begun:
                self._ending.read_something(now, len(data))
        if stream.clean and not (flow.outbox.pending or flow.lost) and flow.passes(data, now):
            if not flow.send(data):
                self._lose(flow)
        else:
            flow.receive(data, now)
            self._settle()

    def _read_through(self, flow: Flow) -> None:
        """Read more at a time, and copy nothing that can be written on at once."""
        buffer = self._buffer
        try:
            size = flow.source.read_into(buffer)
        except BlockingIOError:
            if not flow.draining:
                return
            size = 0
        except OSError:
            size = 0
        if not size:
            self._source_ended(flow)
            return
        now = self._clock()
        flow.stream.receive_lent(buffer, size, now)
        if flow is self._down and self._ending.begun:
            self._ending.read_something(now, size)
        self._settle()
        flow.outbox.copy_lent()

    def _write(self, flow: Flow, mask: int) -> None:
        if flow.lost:
            return  # since the poll set was asked
        flow.patience = None
        if mask & GONE or not flow.flush():
            self._lose(flow)
        self._settle()

    def _settle(self) -> None:
        """Write what the session has queued, pass its notes on, mind the queues' bounds."""
        session = self._session
        up, down = self._up, self._down
        if up.outbox.pending and not up.blocked and not up.flush():
            self._lose(up)
        if down.outbox.pending and not down.blocked and not down.flush():
            self._lose(down)
        notes = session.take_notes()
        if notes:
            self._journal.write(notes, self._clock())
        if up.outbox.pending or down.outbox.pending or up.paused or down.paused:
            up.press(not session.may_read(Peer.CLIENT), self._clock)
            down.press(not session.may_read(Peer.SERVER), self._clock)

    def _source_ended(self, flow: Flow) -> None:
        if flow.ended:
            return
        now = self._clock()
        flow.end()
        self._session.receive_eof(flow.sender, now)
        self._settle()
        if flow is self._up:
            self._ending.host_ended(now)
        else:
            self._ending.server_output_ended()

    def _lose(self, flow: Flow) -> None:
        """Nobody reads ``flow``'s sink any more."""
        flow.shut()
        if flow is self._down:
            self._ending.reader_lost(self._clock())
            self._up.drain()

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
                self._up.end()
                self._up.shut()

    def _end(self) -> None:
        while acts := self._ending.decide(now := self._clock(), self._view()):
            for act in acts:
                self._do(act)
            if self.code is not None:
                return
        self._look_again = now + LOOK_AGAIN if self._down.sink.busy else None

    def _view(self) -> View:
        return View(
            to_server=self._up.outbox.pending,
            to_host=self._down.outbox.pending + self._down.sink.busy,
            reading=self._down.reading,
            children=self._children,
        )

    def _do(self, act: Act) -> None:
        match act:
            case Act.CLOSE_SERVER_STDIN:
                self._up.shut()
            case Act.INTERRUPT:
                self._tree.interrupt()
            case Act.TERMINATE:
                self._tree.signal(SIGTERM)
            case Act.KILL:
                self._tree.signal(SIGKILL)
            case Act.STOP_READING:
                self._source_ended(self._down)
            case Act.CLOSE_STDOUT:
                self._down.shut()
            case Act.LEAVE:
                self.code = self._ending.code


def _flow(session: Session, sender: Peer, source: Source, sink: Sink, readiness: Readiness) -> Flow:
    outbox = session.outbox[sender.other]
    return Flow(sender, source, sink, session.stream(sender), outbox, readiness)
