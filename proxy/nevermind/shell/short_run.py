"""The end of a run that is over before the engine is there.

A probe, a wrong argument, a host that asks one thing and goes: to import the engine only for
the farewell would take longer than all the rest.  Where nothing that was heard could have been
held back or told of, the end is the same without it.  Whatever is doubtful is left to it.

Imports next to nothing: it is there before the server is.
"""

from __future__ import annotations

import os
import select

from nevermind.shell.spawn import exit_code_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nevermind.shell.spawn import ServerProcess

_ANSWERS = (b'"result"', b'"error"')


def tells_nothing(lines: bytes) -> bool:
    """Whether the engine would pass these whole lines as one message each, and log nothing.

    That is noise, requests, notifications and answers; no batches, and no object that may be
    something else.
    """
    for line in lines.split(b"\n"):
        text = line.lstrip()
        if text[:1] == b"{":
            asks = b'"method"' in text
            if asks is any(word in text for word in _ANSWERS):
                return False
        elif b"{" in text or b"[" in text:
            return False
    return True


def let_go_of_stdin(server: ServerProcess) -> None:
    """Close the server's stdin: it sees the end.

    Its descriptor stays valid, for the engine to close if it is there in time.
    """
    # the end to read stays open, though nothing is ever written: without it the poll set
    # would report a reader that is gone
    _, ours = os.pipe()
    os.set_blocking(ours, False)
    os.dup2(ours, server.stdin, inheritable=False)
    os.close(ours)


def code_at_the_end(server: ServerProcess) -> int | None:
    """The exit code, if the server has ended and left no process behind; it is reaped then."""
    if _children() - server.elder != {server.pid}:
        return None
    try:
        pid, status = os.waitpid(server.pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return exit_code_of(status) if pid else None


def say_summary(lines: int) -> None:
    """The line that ends the log, as the journal would write it; only if there is room for it."""
    text = f"nevermind: summary: forwarded {lines}, dropped 0, cancelled 0, never answered 0\n"
    poll = select.poll()
    poll.register(2, select.POLLOUT)
    try:
        if any(mask & select.POLLOUT for _, mask in poll.poll(0)):
            os.write(2, text.encode("ascii"))
    except OSError:
        return  # nobody reads it


def _children() -> set[int]:
    """The children of this process, ended ones too; none where that can't be known."""
    found: set[int] = set()
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", "rb") as file:
                found.update(map(int, file.read().split()))
    except OSError:
        return set()
    return found
