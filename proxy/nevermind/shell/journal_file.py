"""Opens the file that the journal is written to, before the server is started.

Imports nothing slow: a bad ``--log-file`` must be known while nothing runs yet.
"""

from __future__ import annotations

import errno
import os
import stat


def open_log(path: str) -> int:
    """Open the file at ``path`` to append to; a descriptor above the standard ones.

    A new file is its owner's alone.  OSError: it cannot be opened, is a named
    pipe that nobody reads, or is our own stdout.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    # non-blocking, or a pipe without a reader would hang us; nobody shares the description,
    # so the mode may stay: the journal's writer waits where it has to
    descriptor = os.open(os.path.expanduser(path), flags, 0o600)
    # with stdout closed, the file itself may have got its number
    if descriptor != 1 and _is_stdout(descriptor):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "this is our own stdout, where lines would pass for messages")
    if descriptor > 2:
        return descriptor
    import fcntl  # whoever started us had a standard descriptor closed

    above = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return above


def _is_stdout(descriptor: int) -> bool:
    try:
        ours, theirs = os.fstat(1), os.fstat(descriptor)
    except OSError:
        return False
    return os.path.samestat(ours, theirs) and not stat.S_ISCHR(ours.st_mode)
