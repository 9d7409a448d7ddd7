"""Starts the server's process, before anything slow is imported.

Directly, without a shell, in our own process group and session, with stderr, environment,
working directory, signal dispositions and mask as they were found.  Imports nothing but
what the interpreter has loaded anyway; knows nothing of what is said over the pipes.
"""

from __future__ import annotations

import os
import sys

from nevermind.shell.linux import adopt_orphans, die_with_parent
from nevermind.shell.signals import SIGKILL, SignalInbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_FOUND = 127
NOT_EXECUTABLE = 126
"""Exit codes as the shells and ``env`` use them."""

PIPE_UP = 128 * 1024
PIPE_DOWN = 512 * 1024
"""Bytes of the pipes to the server and to the host; the default is 64 KiB.  Large messages pass
up to 1.4 times as fast, and it is answers that are large.  A user's pipes share 64 MiB: that is
enough for fifty of us."""

_F_SETPIPE_SZ = 1031


class CannotStart(Exception):
    """The command was not started; ``str()`` is one printable line without a newline.

    ``code`` is the exit code that says so: 127 not found, 126 found but not executable.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(printable(message))
        self.code = code


class ServerProcess:
    """A server that has been started and whose pipes are ours to use.

    ``stdin`` (to write) and ``stdout`` (to read) are non-blocking descriptors of our own
    ends; the server's ends are separate and blocking.  ``adopts_orphans`` says that all
    its descendants stay below us.  ``elder`` are children that we had before it.
    """

    __slots__ = ("adopts_orphans", "elder", "pid", "signals", "stdin", "stdout")

    def __init__(
        self,
        pid: int,
        stdin: int,
        stdout: int,
        signals: SignalInbox,
        *,
        adopts_orphans: bool = False,
        elder: frozenset[int] = frozenset(),
    ) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.signals = signals
        self.adopts_orphans = adopts_orphans
        self.elder = elder


def exit_code_of(status: int) -> int:
    """The exit code that a wait status means; 128 plus its number for the end by a signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def printable(text: str) -> str:
    """``text`` on one line that any terminal and encoding can take."""
    return "".join(c if c.isprintable() else "?" for c in text)


def locate(command: str, environ: dict[str, str] | os._Environ[str] = os.environ) -> str:
    """The file that ``command`` names, as execvp(3) would find it.

    Raises ``CannotStart`` with the PATH that was searched.
    """
    path = environ.get("PATH", os.defpath)
    if "/" in command:
        if not os.path.exists(command):
            where = "" if command.startswith("/") else f" in {_here()}"
            raise CannotStart(
                NOT_FOUND, f"{command}: no such file{where} (a name with a slash; PATH={path})"
            )
        candidates = [command]
    else:
        candidates = [os.path.join(folder or ".", command) for folder in path.split(os.pathsep)]
    refused = None
    for candidate in candidates if command else []:
        if os.path.isfile(candidate) or (os.path.exists(candidate) and "/" in command):
            if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
                return candidate
            refused = refused or candidate
    if refused is not None:
        why = "a directory" if os.path.isdir(refused) else "not executable"
        raise CannotStart(NOT_EXECUTABLE, f"{refused}: {why} (PATH={path})")
    raise CannotStart(NOT_FOUND, f"{command or repr(command)}: not found in PATH={path}")


def start(command: Sequence[str]) -> ServerProcess:
    """Start ``command``; call it once, on the main thread, while it is the only one.

    The server is killed with us on Linux; the signal hangs on the thread that forks.
    Raises ``CannotStart``.
    """
    path = locate(command[0])
    environment = environment_as_found()
    _occupy_standard_descriptors()
    elder = elder_children()
    adopts = adopt_orphans()
    signals = SignalInbox()
    their_stdin, our_stdin = os.pipe()
    our_stdout, their_stdout = os.pipe()
    report, their_report = os.pipe()
    us = os.getpid()
    signals.block()
    try:
        pid = os.fork()
    except OSError as error:
        signals.release()
        raise CannotStart(NOT_EXECUTABLE, f"{path}: cannot be started: {error.strerror}") from None
    if pid == 0:
        _become(path, command, environment, their_stdin, their_stdout, their_report, signals, us)
    signals.unblock()
    for fd in (their_stdin, their_stdout, their_report):
        os.close(fd)
    failure = os.read(report, 64)
    os.close(report)
    if failure:
        os.waitpid(pid, 0)
        os.close(our_stdin)
        os.close(our_stdout)
        signals.release()
        raise CannotStart(NOT_EXECUTABLE, f"{path}: {_reason(int(failure))}")
    os.set_blocking(our_stdin, False)
    os.set_blocking(our_stdout, False)
    widen(our_stdin, PIPE_UP)
    widen(our_stdout, PIPE_DOWN)
    return ServerProcess(pid, our_stdin, our_stdout, signals, adopts_orphans=adopts, elder=elder)


def widen(fd: int, size: int) -> None:
    """Raise the capacity of the pipe ``fd`` to ``size`` bytes where that is allowed."""
    if sys.platform == "linux":
        import fcntl

        try:
            if fcntl.fcntl(fd, _F_SETPIPE_SZ + 1) < size:
                fcntl.fcntl(fd, _F_SETPIPE_SZ, size)
        except OSError:
            pass  # no pipe, or the user's share of pipe memory is used up


def elder_children() -> frozenset[int]:
    """Processes that are our children already: a script started them, and then became us.

    They are the script's (``watcher & exec nevermind run ...``), not the server's.
    """
    us = os.getpid()
    try:
        with open(f"/proc/{us}/task/{us}/children", "rb") as file:
            return frozenset(map(int, file.read().split()))
    except OSError:
        return frozenset()


def environment_as_found() -> dict[bytes, bytes]:
    """The environment that we were started with.

    Under the C locale, which is what hosts that filter the environment give us, the
    interpreter adds LC_CTYPE to its own (PEP 538); the server must not see that.
    """
    found = dict(os.environb)
    if b"LC_CTYPE" in found:
        try:
            with open("/proc/self/environ", "rb") as file:
                entries = file.read().split(b"\0")
        except OSError:
            return found
        if entries != [b""] and not any(entry.startswith(b"LC_CTYPE=") for entry in entries):
            del found[b"LC_CTYPE"]
    return found


def _become(
    path: str,
    command: Sequence[str],
    environment: dict[bytes, bytes],
    stdin: int,
    stdout: int,
    report: int,
    signals: SignalInbox,
    parent: int,
) -> None:
    try:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        die_with_parent(SIGKILL)
        if os.getppid() != parent:
            os._exit(128 + SIGKILL)
        signals.as_found()
        os.execve(path, list(command), environment)
    except OSError as error:
        os.write(report, b"%d" % (error.errno or 0))
    finally:
        os._exit(NOT_EXECUTABLE)


def _occupy_standard_descriptors() -> None:
    """Put /dev/null where 0, 1 or 2 is closed, or a pipe of ours would take its number."""
    while True:
        fd = os.open(os.devnull, os.O_RDWR)
        if fd > 2:
            os.close(fd)
            return
        os.set_inheritable(fd, True)


def _reason(number: int) -> str:
    import errno

    if number == errno.ENOENT:
        return "cannot be executed: the interpreter that its first line names was not found"
    if number == errno.ENOEXEC:
        return "cannot be executed: neither a program nor a script with a #! line"
    return f"cannot be executed: {os.strerror(number)}"


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "."
