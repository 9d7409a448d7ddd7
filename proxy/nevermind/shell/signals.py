"""Signals as input: each that arrives is noted and makes one descriptor readable.

The same descriptor serves a plain poll loop and one under Trio.  Knows nothing of what a
signal means to us.  It must not import ``signal``, whose enums cost more than all else
that runs before the server is started.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType

    Disposition = Callable[[int, FrameType | None], object] | int | None
else:
    import _signal as signal

SIGINT = int(signal.SIGINT)
SIGTERM = int(signal.SIGTERM)
SIGKILL = int(signal.SIGKILL)
SIGHUP = int(signal.SIGHUP)
SIGCHLD = int(signal.SIGCHLD)

OURS = (SIGTERM, SIGHUP, SIGINT, SIGCHLD)
"""The signals that ask something of us; all others do what they did before us."""

_SET_BY_PYTHON = tuple(
    int(getattr(signal, name)) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)
)
"""What the interpreter ignores for itself at start; a program started by it must not."""


class SignalInbox:
    """Takes over the signals that are ours; construct it on the main thread.

    SIGHUP or SIGINT that was ignored when we were started (``nohup``, a shell's
    background job) stays ignored.  ``fd`` is readable while something waits in ``take``.
    """

    def __init__(self) -> None:
        self.fd, self._write_end = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write_end, False)
        self._noted: list[int] = []
        self._found: dict[int, Disposition] = {}
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        for number in OURS:
            found = signal.getsignal(number)
            if found != signal.SIG_IGN or number in (SIGTERM, SIGCHLD):
                self._found[number] = found
                signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted.append(number)
        self.wake()

    def wake(self) -> None:
        """Make ``fd`` readable, from any thread or signal handler."""
        try:
            os.write(self._write_end, b"\0")
        except BlockingIOError:
            pass  # full: it is readable already

    def take(self) -> list[int]:
        """The signals that came since the last call, in order."""
        try:
            while len(os.read(self.fd, 512)) == 512:
                pass
        except BlockingIOError:
            pass
        noted, self._noted = self._noted, []
        return noted

    def only(self, number: int) -> bool:
        """Whether ``number`` waits in ``take``, and no other signal."""
        return set(self._noted) == {number}

    def wake_a_plain_loop(self, on: bool) -> None:
        """Close the gap in which a signal comes just before a blocking poll.

        Python runs handlers only between two bytecodes, so the poll would not notice.
        Trio closes that gap itself, with the same interpreter-wide setting: turn this
        off before ``trio.run``.
        """
        signal.set_wakeup_fd(self._write_end if on else -1, warn_on_full_buffer=False)

    def block(self) -> None:
        """Hold all of ours back, around a fork: in the child the handlers are still ours."""
        signal.pthread_sigmask(signal.SIG_BLOCK, OURS)

    def unblock(self) -> None:
        """Let them come again.  SIGCHLD always comes, or no end of the server would."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask - {SIGCHLD})

    def as_found(self) -> None:
        """In a forked child: dispositions and mask as they were before Python and us."""
        for number, found in self._found.items():
            ignored = found == signal.SIG_IGN
            signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
        for number in _SET_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def release(self) -> None:
        """Give the signals back and close ``fd``: for a process that goes on without us."""
        for number, found in self._found.items():
            signal.signal(number, signal.SIG_DFL if found is None else found)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        os.close(self.fd)
        os.close(self._write_end)
