"""The journal: what a session notes, as lines on stderr or in a file.

Logging never holds up forwarding: lines wait in bounded queues that threads
of their own empty, and a reader that stalls loses lines, which are counted.
A server's diverted noise goes the same way, to stderr and byte for byte.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from nevermind.notes import Diverted, Event, Note, Statistics
from nevermind.shell.journal_file import open_log
from nevermind.shell.journal_limits import RateLimit
from nevermind.shell.journal_lines import (
    Member,
    json_line,
    note_members,
    stamp,
    summary_members,
    text_line,
)
from nevermind.shell.journal_writer import Writer

LEVELS = ("off", "error", "warning", "info", "debug")
"""From nothing to everything."""

_WARNING = LEVELS.index("warning")
_INFO = LEVELS.index("info")

STDERR = 2

ALARM = 1.0
"""Seconds after which sums are told even if nothing more happens."""


class Journal:
    """Writes notes as lines; one journal per process.

    ``level`` is one of LEVELS, ``format`` is "text" or "json".  ``file`` is
    the path of a file to append to, or a descriptor that is open for writing;
    with None, lines go to stderr.  OSError: the file cannot be opened.

    ``stderr`` is the descriptor that takes its place in tests.  Lines written to stderr as
    text carry no time: hosts put their own.
    """

    def __init__(
        self, level: str, format: str, file: str | int | None = None, *, stderr: int = STDERR
    ) -> None:
        self._level = LEVELS.index(level)
        self._json = format == "json"
        self._stamped = self._json or file is not None
        self._stderr = Writer(stderr)
        if file is None:
            self._lines = self._stderr
        else:
            self._lines = Writer(open_log(file) if isinstance(file, str) else file)
        self._limit = RateLimit()
        self._lock = threading.Lock()
        self._alarm: threading.Timer | None = None
        self._open_line = False
        self._failed = False

    def write(self, notes: Iterable[Note | Diverted], now: float, **about: Member) -> None:
        """Write ``notes`` in their order.  ``now`` is in seconds of a clock that only goes on.

        ``about`` are members that each line gets besides: of which connection it tells.
        """
        with self._lock:
            if self._limit.holds:
                self._say_all(self._limit.release(now))
            if self._lines.lost or self._stderr.lost:
                self._report_losses()
            for note in notes:
                if isinstance(note, Diverted):
                    self._divert(note.data)
                elif self._level >= _level(note.event) and self._limit.admit(note, now):
                    self._say(note_members(note) | about)
            if self._limit.holds and self._alarm is None:
                # nothing more may come, and then nobody would ever be told of the sums
                self._alarm = threading.Timer(ALARM, self._release)
                self._alarm.daemon = True
                self._alarm.start()

    def report(self, level: str, event: str, why: str = "", **about: Member) -> None:
        """Write a line about the session itself: ``event`` in a word, ``why`` in plain words."""
        with self._lock:
            if self._level >= LEVELS.index(level):
                self._say({"event": event, **about} | ({"why": why} if why else {}))

    def summary(self, statistics: Statistics, **about: Member) -> None:
        """Write the line that ends a session, after all that is still to be told."""
        with self._lock:
            self._say_all(self._limit.release(None))
            if self._level >= _INFO:
                self._say(summary_members(statistics) | about, always=True)

    def close(self, timeout: float) -> bool:
        """Write what waits, for at most ``timeout`` seconds; whether all was written."""
        with self._lock:
            self._say_all(self._limit.release(None))
            self._report_losses(even_if_full=True)
            if self._alarm is not None:
                self._alarm.cancel()
        if self._lines is self._stderr:
            return self._stderr.close(timeout)
        end = time.monotonic() + timeout
        written = self._lines.close(timeout)
        with self._lock:
            self._report_failure()
        return self._stderr.close(max(0.0, end - time.monotonic())) and written

    def _release(self) -> None:
        with self._lock:
            self._alarm = None
            self._say_all(self._limit.release(None))

    def _say_all(self, lines: list[dict[str, Member]]) -> None:
        for members in lines:
            self._say(members)

    def _say(self, members: dict[str, Member], *, always: bool = False) -> None:
        at = stamp(time.time()) if self._stamped else None
        line = json_line(members, at) if self._json else text_line(members, at)
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        if self._open_line and self._lines is self._stderr:
            data = b"\n" + data  # the noise before it had no newline
        if self._lines.put(data, always=always) and self._lines is self._stderr:
            self._open_line = False

    def _divert(self, data: bytes) -> None:
        if self._stderr.put(bytes(data)):
            self._open_line = not data.endswith(b"\n")

    def _report_losses(self, *, even_if_full: bool = False) -> None:
        lost = self._lines.take_lost(even_if_full=even_if_full)
        if self._stderr is not self._lines:
            lost += self._stderr.take_lost(even_if_full=even_if_full)
        if lost and self._level >= _WARNING:
            error = self._lines.error
            why = error.strerror if error else "whoever reads them was too slow"
            self._say({"event": "lost", "count": lost, "why": why}, always=True)
            self._report_failure()

    def _report_failure(self) -> None:
        error = self._lines.error
        if error is not None and self._lines is not self._stderr and not self._failed:
            self._failed = True  # said in the file, it would never be read
            self._stderr.put(f"nevermind: --log-file: {error.strerror}\n".encode())


def _level(event: Event) -> int:
    """Whether a note tells that something was done, or that something cannot be held back."""
    return _WARNING if event in (Event.FORGET, Event.UNTRACKED, Event.HINT) else _INFO
