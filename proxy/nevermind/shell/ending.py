"""How a run ends: what to close, whom to signal, when to leave and with which code.

Sans-I/O: what happened comes in with its time, ``decide`` says what to do now and sets
``deadline``, when to ask again.  Knows nothing of descriptors or messages.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import msgspec

from nevermind.shell.signals import SIGINT, SIGKILL

GRACE_WHILE_WAITING = 30.0
"""Seconds from the host's EOF while an answer is still owed to a host that can read it."""

PATIENCE = 1.0
"""Seconds from SIGTERM to SIGKILL: a host gives the two of us 2 s together."""

LAST_WORDS = 1.5
"""Seconds from a signal to our end, delivered or not: the host's own SIGKILL is near."""

QUIET = 0.2
"""Seconds without a byte after which the output of a server that ended is complete,
though a helper of its may hold the pipe."""

READING = 2.0
"""Seconds of reading after the server's end: a helper that goes on writing is not it."""

AGAIN = 0.1
"""Seconds between SIGKILLs to what keeps appearing."""

PIPE_CAPACITY = 1024 * 1024
"""Bytes: the most that a server that ended can have left behind in its pipe."""

UNKILLABLE = 0.5
"""Seconds from SIGKILL after which we no longer wait for what did not go."""


class Act(enum.Enum):
    """Something for the shell to do now."""

    CLOSE_SERVER_STDIN = enum.auto()
    INTERRUPT = enum.auto()
    TERMINATE = enum.auto()
    KILL = enum.auto()
    STOP_READING = enum.auto()
    """What could still be read is not the server's; say ``server_output_ended`` then."""
    CLOSE_STDOUT = enum.auto()
    LEAVE = enum.auto()


class View(msgspec.Struct, frozen=True):
    """What the shell sees when it asks.

    ``to_server`` and ``to_host`` are bytes that wait to be written.  ``reading`` is false
    while a full queue keeps us from reading the server.  ``children`` says whether any
    process of the tree may be left.
    """

    to_server: int = 0
    to_host: int = 0
    reading: bool = True
    children: bool = True


class Ending:
    """One run's end.  ``code`` is the exit code once ``decide`` has said ``LEAVE``.

    ``grace`` is in seconds, all times are monotonic seconds.  ``waiting()`` counts the
    client's uncancelled requests that have no answer; it may have to look at each, so it is
    asked only once the plain grace is over.  ``begun`` is false as long as there is nothing
    to decide.
    """

    def __init__(self, grace: float, waiting: Callable[[], int]) -> None:
        self._grace = grace
        self._waiting = waiting
        self.begun = False
        self.deadline: float | None = None
        self.code = 0
        self._host_ended_at: float | None = None
        self._host_complete = False
        self._reader = True
        self._signal: int | None = None
        self._interrupted = False
        self._signalled_at = 0.0
        self._kill_at: float | None = None
        self._killed_at: float | None = None
        self._exit_code: int | None = None
        self._output_complete = False
        self._owed_bytes = PIPE_CAPACITY
        self._last_read = 0.0
        self._overtime = False
        self._was_reading = True
        self._counted_at = 0.0
        self._quiet = 0.0
        self._read_for = 0.0
        self._acts: list[Act] = []
        self._given: set[Act] = set()

    @property
    def unprompted(self) -> bool:
        """Whether the server ended with no signal from us, or from a terminal through us."""
        return self._signal is None and self._kill_at is None and not self._interrupted

    def host_ended(self, now: float) -> None:
        """The host's bytes are complete: it closed our stdin."""
        self.begun = True
        self._host_complete = True
        if self._host_ended_at is None:
            self._host_ended_at = now

    def reader_lost(self, now: float) -> None:
        """Nobody reads our stdout any more: as good as the host's EOF.

        Say ``host_ended`` too, once what it had written until then is read.
        """
        self.begun = True
        self._reader = False
        if self._host_ended_at is None:
            self._host_ended_at = now

    def signalled(self, number: int, now: float, *, terminal_had_it: bool = False) -> None:
        """SIGTERM, SIGHUP or SIGINT reached us."""
        self.begun = True
        if number == SIGINT and self._exit_code is None:
            self._interrupted = True
            if not terminal_had_it:
                self._acts.append(Act.INTERRUPT)
        elif self._signal is None:
            self._signal = number
            self._signalled_at = now
            if self._exit_code is None:
                self._terminate(now)

    def server_exited(self, code: int, now: float) -> None:
        """The direct child ended, with this exit code (128+n: by signal n)."""
        self.begun = True
        self._exit_code = code
        self._counted_at = now

    def server_output_ended(self) -> None:
        """The server's stdout reached its end, and so did what the session held of it."""
        self.begun = True
        self._output_complete = True

    def read_something(self, now: float, count: int) -> None:
        """``count`` bytes came from the server."""
        self._count(now)
        self._last_read = now
        self._quiet = 0.0
        if self._exit_code is not None:
            self._owed_bytes -= count

    def found_nothing(self) -> None:
        """The server's stdout was looked at, and nothing was there to be read."""
        if self._exit_code is not None:
            self._owed_bytes = 0

    def decide(self, now: float, view: View) -> list[Act]:
        """What to do now; do it and ask again, until that is nothing, and at ``deadline``."""
        self._count(now)
        self._was_reading = view.reading
        wake: list[float] = []
        if self._exit_code is None and self._host_ended_at is not None:
            if self._host_complete and not view.to_server:
                self._once(Act.CLOSE_SERVER_STDIN)
            if self._kill_at is None:
                wake.append(self._grace_end(self._host_ended_at, now, view))
                if now >= wake[0]:
                    self._terminate(now)
        if self._kill_at is not None and (self._exit_code is None or view.children):
            if now >= self._kill_at:
                self._acts.append(Act.KILL)
                self._killed_at = now if self._killed_at is None else self._killed_at
                self._kill_at = now + AGAIN
            wake.append(self._kill_at)
        if self._exit_code is not None and not self._output_complete and view.reading:
            left = min(QUIET - self._quiet, READING - self._read_for)
            if left <= 0 and self._owed_bytes <= 0:
                self._once(Act.STOP_READING)
            wake.append(now + max(left, 0.001))
        if self._output_complete and not view.to_host:
            self._once(Act.CLOSE_STDOUT)
        if self._may_leave(now, view, wake):
            self._once(Act.LEAVE)
        self.deadline = min((at for at in wake if at > now), default=None)
        acts, self._acts = self._acts, []
        return acts

    def _terminate(self, now: float) -> None:
        if self._kill_at is None:
            self._kill_at = now + PATIENCE
            self._acts.append(Act.TERMINATE)

    def _count(self, now: float) -> None:
        """Time counts against a server that ended only while we could read."""
        if self._exit_code is not None:
            if self._was_reading:
                self._quiet += now - self._counted_at
                self._read_for += now - self._counted_at
            self._counted_at = now

    def _grace_end(self, ended_at: float, now: float, view: View) -> float:
        """When the grace is over, as things stand.

        Past the plain grace, the last answer may have been retired by its head while its
        rest is still arriving: then the end waits until the output is quiet.
        """
        short = ended_at + self._grace
        long = ended_at + max(self._grace, GRACE_WHILE_WAITING)
        if now < short or not self._reader or self._output_complete:
            return short
        if self._waiting():
            self._overtime = True
            return long
        if self._overtime:
            return min(long, self._last_read + QUIET) if view.reading else long
        return short

    def _may_leave(self, now: float, view: View, wake: list[float]) -> bool:
        delivered = self._output_complete and not view.to_host
        gone = self._exit_code is not None
        if self._kill_at is not None:
            gone = gone and not view.children
        if self._killed_at is not None and not gone:
            wake.append(self._killed_at + UNKILLABLE)
            if now >= self._killed_at + UNKILLABLE:
                gone = True
                delivered = delivered or (self._exit_code is None and not view.to_host)
        if self._signal is not None:
            self.code = 128 + self._signal
            wake.append(self._signalled_at + LAST_WORDS)
            return (gone and delivered) or now >= self._signalled_at + LAST_WORDS
        self.code = 128 + SIGKILL if self._exit_code is None else self._exit_code
        return gone and delivered

    def _once(self, act: Act) -> None:
        if act not in self._given:
            self._given.add(act)
            self._acts.append(act)
