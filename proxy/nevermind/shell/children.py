"""The server processes of a listening proxy: one for each connection.

Each leads a session and a process group of its own, for here no host ends it by ours; it
is ended by its group.  Everything else is as ``spawn`` has it: no shell; stderr,
environment, working directory, signal dispositions as they were found; and when we are
killed it is killed with us.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import warnings
from collections.abc import Callable, Sequence

import trio

from nevermind.shell.linux import die_with_parent
from nevermind.shell.spawn import (
    NOT_EXECUTABLE,
    CannotStart,
    environment_as_found,
    exit_code_of,
    locate,
)

NEVER = float("inf")


class Child:
    """One server process.  ``stdin`` (to write) and ``stdout`` (to read) are ours to use.

    ``code`` is its exit code once it is gone, 128+n if signal n ended it, and ``how`` the
    same in words; ``ended_at`` is when that was, in Trio's time.
    """

    def __init__(self, process: subprocess.Popen[bytes], stdin: int, stdout: int) -> None:
        self.pid = process.pid
        self.stdin = stdin
        self.stdout = stdout
        self.ended = trio.Event()
        self.ended_at = NEVER
        self.code: int | None = None
        self.how = ""
        self._process = process
        self._calls: list[Callable[[], None]] = []

    def when_ended(self, call: Callable[[], None]) -> None:
        """Have ``call`` called once, when it is gone."""
        self._calls.append(call)

    def signal(self, number: int) -> None:
        """Send ``number`` to its whole process group."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass  # all of it is gone, or what is left has changed its user

    def end(self, status: int) -> None:
        """It was waited for, with this status."""
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.code = exit_code_of(status)
        by = -self._process.returncode
        self.how = f"was ended by signal {by}" if by > 0 else f"exited with {self.code}"
        self.ended_at = trio.current_time()
        self.ended.set()
        for call in self._calls:
            call()


class Children:
    """All of them.  ``start`` and ``reap`` run on the main thread, whose end would kill them."""

    def __init__(self, command: Sequence[str], descriptors: tuple[int, int]) -> None:
        """``descriptors``: the soft and hard limit that servers get (getrlimit(2)).

        Raises ``CannotStart`` if ``command`` cannot be found or executed.
        """
        self._command = list(command)
        self._path = locate(command[0])
        self._environment = environment_as_found()
        self._descriptors = descriptors
        self._living: dict[int, Child] = {}

    @property
    def pids(self) -> list[int]:
        """Who is alive."""
        return list(self._living)

    def start(self) -> Child:
        """Start one more.  Raises ``CannotStart``."""
        their_stdin, stdin = os.pipe()
        stdout, their_stdout = os.pipe()
        us = os.getpid()

        def become() -> None:
            die_with_parent(signal.SIGKILL)
            resource.setrlimit(resource.RLIMIT_NOFILE, self._descriptors)
            if os.getppid() != us:
                os._exit(128 + signal.SIGKILL)

        try:
            with warnings.catch_warnings():
                # Python warns of a fork beside threads, but all that runs before exec is above
                warnings.simplefilter("ignore", DeprecationWarning)
                process = subprocess.Popen(
                    self._command,
                    executable=self._path,
                    stdin=their_stdin,
                    stdout=their_stdout,
                    env=self._environment,
                    start_new_session=True,
                    preexec_fn=become,  # noqa: PLW1509 -- it calls the kernel, no lock of ours
                )
        except OSError as error:
            os.close(stdin)
            os.close(stdout)
            raise CannotStart(NOT_EXECUTABLE, f"{self._path}: {error.strerror}") from None
        finally:
            os.close(their_stdin)
            os.close(their_stdout)
        # not widened: a user's pipes share a budget, which hundreds of sessions would use up
        os.set_blocking(stdin, False)
        os.set_blocking(stdout, False)
        child = self._living[process.pid] = Child(process, stdin, stdout)
        return child

    def reap(self) -> None:
        """Collect whoever has ended; call it on SIGCHLD."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._living.pop(pid, None)
            if child is not None:
                child.end(status)
