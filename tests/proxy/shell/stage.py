"""A pump between a host and a server that are nothing but the far ends of pipes.

The clock is moved by hand and no poll waits: ``settle`` turns the pump until it has
nothing to do any more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, ClassVar, cast

from nevermind.notes import Diverted, Note
from nevermind.session import Session
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.ending import Ending
from nevermind.shell.pump import Pump
from nevermind.shell.readiness import Readiness
from nevermind.shell.signals import SIGCHLD, SignalInbox
from nevermind.shell.tree import ServerTree
from proxy.shell.scripted_session import ScriptedSession
from proxy.shell.slow_pipe import fill

GRACE = 5.0


class Pipe:
    """A pipe between the pump and a far end, which never blocks either."""

    def __init__(self) -> None:
        self.source, self.sink = os.pipe()
        os.set_blocking(self.source, False)
        os.set_blocking(self.sink, False)

    def close_sink(self) -> None:
        if self.sink >= 0:
            os.close(self.sink)
            self.sink = -1

    def close_source(self) -> None:
        if self.source >= 0:
            os.close(self.source)
            self.source = -1

    def fill(self) -> int:
        """Write until there is no room; how much that was."""
        return fill(self.sink)

    def read(self) -> bytes | None:
        """All that is there; None: nothing but the end."""
        data = b""
        try:
            while piece := os.read(self.source, 1 << 20):
                data += piece
        except BlockingIOError:
            return data
        return data or None


class FakeTree:
    """What was signalled, and the exit code that the next reaping finds."""

    def __init__(self) -> None:
        self.signalled: list[int | str] = []
        self.code: int | None = None
        self.children = True

    def signal(self, number: int) -> None:
        self.signalled.append(number)

    def interrupt(self) -> None:
        self.signalled.append("interrupt")

    def reap(self) -> tuple[int | None, bool]:
        code, self.code = self.code, None
        return code, self.children


class FakeSignals:
    """Signals that a test sends."""

    def __init__(self) -> None:
        self.fd, self._wake = os.pipe()
        self.sent: list[int] = []

    def send(self, number: int) -> None:
        self.sent.append(number)
        os.write(self._wake, b"\0")

    def close(self) -> None:
        os.close(self.fd)
        os.close(self._wake)

    def take(self) -> list[int]:
        os.read(self.fd, 100)
        sent, self.sent = self.sent, []
        return sent


class FakeJournal:
    """The notes that were written."""

    def __init__(self) -> None:
        self.written: list[Note | Diverted] = []

    def write(self, notes: Iterable[Note | Diverted], now: float) -> None:
        self.written += notes


class Stage:
    """The pump, its two neighbours, and the time."""

    up: ClassVar[list[Stage]] = []
    """All that have not been taken down; the tests' fixture does that."""

    def __init__(self, *, nested: bool = True, **ends: Any) -> None:
        self.now = 1000.0
        self.session = ScriptedSession(limit=ends.pop("limit", 1 << 20))
        session: Session = ends.pop("session", self.session)
        self.host_stdin, self.host_stdout = Pipe(), Pipe()
        self.server_stdin, self.server_stdout = Pipe(), Pipe()
        self.tree, self.signals, self.journal = FakeTree(), FakeSignals(), FakeJournal()
        self.pump = Pump(
            session,
            (
                ends.get("host_source") or Source(self.host_stdin.source),
                ends.get("host_sink") or Sink(self.host_stdout.sink),
            ),
            (Source(self.server_stdout.source), Sink(self.server_stdin.sink)),
            tree=cast("ServerTree", self.tree),
            ending=Ending(GRACE, lambda: session.statistics().waiting),
            signals=cast("SignalInbox", self.signals),
            journal=self.journal,
            readiness=Readiness(nested=nested),
            clock=ends.get("clock") or (lambda: self.now),
        )
        self.up.append(self)

    def take_down(self) -> None:
        """Close whatever is still open."""
        for flow in (self.pump._up, self.pump._down):
            flow.end()
            flow.shut()
        for pipe in (self.host_stdin, self.server_stdout):
            pipe.close_sink()
        for pipe in (self.host_stdout, self.server_stdin):
            pipe.close_source()
        self.signals.close()

    def settle(self) -> None:
        """Turn the pump until it is idle or done."""
        for _ in range(10_000):
            if self.pump.code is not None or not self.pump.turn(0):
                return
        raise AssertionError("the pump spins")

    def code(self) -> int | None:
        """The exit code, once the pump is done."""
        return self.pump.code

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.settle()

    def host_writes(self, data: bytes) -> None:
        os.write(self.host_stdin.sink, data)
        self.settle()

    def host_closes_stdin(self) -> None:
        self.host_stdin.close_sink()
        self.settle()

    def host_stops_reading(self) -> None:
        self.host_stdout.close_source()
        self.settle()

    def server_writes(self, data: bytes) -> None:
        os.write(self.server_stdout.sink, data)
        self.settle()

    def server_closes_stdout(self) -> None:
        self.server_stdout.close_sink()
        self.settle()

    def server_closes_stdin(self) -> None:
        self.server_stdin.close_source()
        self.settle()

    def server_exits(self, code: int) -> None:
        self.tree.code = code
        self.tree.children = False
        self.signal(SIGCHLD)

    def signal(self, number: int) -> None:
        self.signals.send(number)
        self.settle()

    def host_reads(self) -> bytes | None:
        """What has come since the last time; None: our stdout has been closed."""
        data = self.host_stdout.read()
        self.settle()
        return data

    def server_reads(self) -> bytes | None:
        """What has come since the last time; None: its stdin has been closed."""
        data = self.server_stdin.read()
        self.settle()
        return data
