"""The ends of pipes, terminals, sockets and files, read and written without blocking.

O_NONBLOCK belongs to the open file description, which the host, a terminal's other users
and the server's inherited stderr may share; setting it there makes *their* writes fail.
So a pipe or terminal is opened anew through /proc, a socket is asked per call, a regular
file never blocks, and for what is left a thread copies to or from a pipe of our own.
"""

from __future__ import annotations

import _socket
import _thread
import enum
import os
import select
import stat
from collections.abc import Callable, Sequence
from functools import partial

from nevermind.shell.spawn import widen

Part = bytes | memoryview

CHUNK = 64 * 1024
"""Bytes per read: from 128 KiB on the allocator maps memory anew, 13 µs instead of 1."""


class Source:
    """Something to read.

    ``fd`` is what to poll; None if it is always ready.  ``read()`` gives what is there,
    at most ``CHUNK`` bytes, nothing at the end.  It raises ``BlockingIOError`` while there
    is nothing; another ``OSError`` (a reset, a terminal that hung up) is an end as well.
    """

    # a bound C function, not a method: it is called for every chunk
    read: Callable[[], bytes]

    def __init__(self, fd: int, *, pollable: bool = True) -> None:
        self._fd = fd
        self.fd: int | None = fd if pollable else None
        self.read = partial(os.read, fd, CHUNK)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._fd)


class Sink:
    """Something to write.

    ``fd`` is what to poll; None if it is always ready.  ``watched`` is what tells that the
    reader is gone; None if nothing does.  ``write(buffers)`` writes what there is room for
    and returns how many bytes that was.  It raises ``BlockingIOError`` while there is
    none, another ``OSError`` once nobody can read it any more.
    """

    write: Callable[[Sequence[Part]], int]

    def __init__(self, fd: int, *, pollable: bool = True) -> None:
        self._fd = fd
        self.fd: int | None = fd if pollable else None
        self.watched = self.fd
        self.write = partial(os.writev, fd)

    def close(self) -> None:
        """Let go of it; its reader sees the end."""
        os.close(self._fd)

    @property
    def busy(self) -> bool:
        """Whether written bytes have not reached the description: our end would lose them."""
        return False


class SocketSource(Source):
    """A socket, as Node makes them for its children's stdio."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self._socket = _socket.socket(fileno=fd)
        self.read = partial(self._socket.recv, CHUNK, _socket.MSG_DONTWAIT)

    def close(self) -> None:
        """See ``Source.close``."""
        self._socket.close()


class SocketSink(Sink):
    """The same, to write."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self._socket = _socket.socket(fileno=fd)
        self.write = self._send

    def _send(self, buffers: Sequence[Part]) -> int:
        return self._socket.sendmsg(buffers, (), _socket.MSG_DONTWAIT)

    def close(self) -> None:
        """See ``Sink.close``."""
        self._socket.close()


class ThreadedSource(Source):
    """A pipe of our own, filled by a thread that may block on the real thing."""

    def __init__(self, fd: int) -> None:
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        super().__init__(ours)
        _thread.start_new_thread(_Copier(fd, theirs).run, ())


class ThreadedSink(Sink):
    """A pipe of our own, emptied by a thread that may block on the real thing."""

    def __init__(self, fd: int) -> None:
        theirs, ours = os.pipe()
        os.set_blocking(ours, False)
        super().__init__(ours)
        self.watched = os.dup(fd)
        self._copier = _Copier(theirs, fd)
        _thread.start_new_thread(self._copier.run, ())

    @property
    def busy(self) -> bool:
        """See ``Sink.busy``."""
        return self._copier.busy

    def close(self) -> None:
        """See ``Sink.close``."""
        super().close()
        if self.watched is not None:
            os.close(self.watched)


class _Copier:
    """Copies one blocking descriptor to another until either ends, then closes both."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._holds = False
        self._over = False

    @property
    def busy(self) -> bool:
        """Whether something has been written to the source that the sink has not got."""
        if self._over:
            return False
        # in this order: what leaves the pipe meanwhile is then seen as held
        readable = bool(select.select([self._source], [], [], 0)[0])
        return readable or self._holds

    def run(self) -> None:
        try:
            while True:
                select.select([self._source], [], [])
                self._holds = True
                data = os.read(self._source, CHUNK)
                if not data:
                    break
                while data:
                    data = data[os.write(self._sink, data) :]
                self._holds = False
        except OSError:
            pass  # one side is gone: closing tells the other
        finally:
            self._over = True
            os.close(self._source)
            os.close(self._sink)


def open_source(fd: int) -> Source:
    """Take over the inherited descriptor ``fd`` for reading; its number stays occupied."""
    kind, taken = _take_over(fd, os.O_RDONLY)
    match kind:
        case _Kind.SOCKET:
            return SocketSource(taken)
        case _Kind.BLOCKING:
            return ThreadedSource(taken)
        case _Kind.ALWAYS_READY:
            return Source(taken, pollable=False)
        case _Kind.NON_BLOCKING:
            return Source(taken)


def open_sink(fd: int) -> Sink:
    """Take over the inherited descriptor ``fd`` for writing; its number stays occupied."""
    kind, taken = _take_over(fd, os.O_WRONLY)
    match kind:
        case _Kind.SOCKET:
            return SocketSink(taken)
        case _Kind.BLOCKING:
            return ThreadedSink(taken)
        case _Kind.ALWAYS_READY:
            return Sink(taken, pollable=False)
        case _Kind.NON_BLOCKING:
            return Sink(taken)


class _Kind(enum.Enum):
    SOCKET = enum.auto()
    ALWAYS_READY = enum.auto()
    NON_BLOCKING = enum.auto()
    BLOCKING = enum.auto()


def _take_over(fd: int, access: int) -> tuple[_Kind, int]:
    mode = os.fstat(fd).st_mode
    if stat.S_ISSOCK(mode):
        return _Kind.SOCKET, _move(fd)
    if not _can_be_polled(fd):
        return _Kind.ALWAYS_READY, _move(fd)
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        try:
            anew = os.open(f"/proc/self/fd/{fd}", access | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            pass  # another user's (a container's stdio), or a pipe that nobody reads
        else:
            os.close(_move(fd))
            widen(anew)
            return _Kind.NON_BLOCKING, anew
    found = _Kind.BLOCKING if os.get_blocking(fd) else _Kind.NON_BLOCKING
    return found, _move(fd)


def _can_be_polled(fd: int) -> bool:
    """Regular files, /dev/null and the like are always ready, and epoll refuses them."""
    with select.epoll(1) as probe:
        try:
            probe.register(fd, 0)
        except PermissionError:
            return False
    return True


def _move(fd: int) -> int:
    """Give the description another number and put /dev/null in its place.

    No stray write can then reach the host, and closing the new number is what the host
    sees.
    """
    moved = os.dup(fd)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)
    return moved
