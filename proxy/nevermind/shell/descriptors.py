"""The ends of pipes, terminals, sockets and files, read and written without blocking.

O_NONBLOCK belongs to the open file description, which the host, a terminal's other users
and the server's inherited stderr may share; setting it there makes *their* writes fail.
So a pipe or terminal is opened anew through /proc, a socket is asked per call, a regular
file never blocks, and for what is left a thread copies to or from a pipe of our own.
"""

from __future__ import annotations

import _socket
import _thread
import os
import select
import stat

from nevermind.shell.spawn import PIPE_DOWN, PIPE_UP, widen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from functools import partial

    Part = bytes | memoryview
else:
    # functools itself would delay the server's start; a call into C is spared with each chunk
    from _functools import partial

LOOK_AGAIN = 0.02
"""Seconds until a sink that was ``busy`` is asked again: nothing tells when it no longer is."""
CHUNK = 64 * 1024
"""Bytes per read: from 128 KiB on the allocator maps memory anew, 13 µs instead of 1."""


class Source:
    """Something to read.

    ``fd`` is what to poll; None if it is always ready.  ``read()`` gives what is there,
    at most ``CHUNK`` bytes, nothing at the end.  It raises ``BlockingIOError`` while there
    is nothing; another ``OSError`` (a reset, a terminal that hung up) is an end as well.
    ``read_into(buffer)`` likewise fills a buffer and gives the number of bytes.
    """

    read: Callable[[], bytes]
    read_into: Callable[[bytearray], int]

    def __init__(self, fd: int, *, pollable: bool = True) -> None:
        self._fd = fd
        self.fd: int | None = fd if pollable else None
        self.read = partial(os.read, fd, CHUNK)
        self.read_into = lambda buffer: os.readv(fd, (buffer,))

    def close(self) -> None:
        """Let go of it."""
        os.close(self._fd)


class Sink:
    """Something to write.

    ``fd`` is what to poll; None if it is always ready.  ``watched`` is what tells that the
    reader is gone; None if nothing does.  ``write(buffers)``, or ``send(buffer)`` for a
    single one, writes what there is room for and returns how many bytes that was.  They
    raise ``BlockingIOError`` while there is none, another ``OSError`` once nobody can read
    it any more.
    """

    write: Callable[[Sequence[Part]], int]
    send: Callable[[Part], int]

    def __init__(self, fd: int, *, pollable: bool = True) -> None:
        self._fd = fd
        self.fd: int | None = fd if pollable else None
        self.watched = self.fd
        self.write = partial(os.writev, fd)
        self.send = partial(os.write, fd)

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
        receive = self._socket.recv
        self.read = lambda: receive(CHUNK, _socket.MSG_DONTWAIT)
        into = self._socket.recv_into
        self.read_into = lambda buffer: into(buffer, 0, _socket.MSG_DONTWAIT)

    def close(self) -> None:
        """See ``Source.close``."""
        self._socket.close()


class SocketSink(Sink):
    """The same, to write."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self._socket = _socket.socket(fileno=fd)
        send = self._socket.sendmsg
        self.write = lambda buffers: send(buffers, (), _socket.MSG_DONTWAIT)
        send_one = self._socket.send
        self.send = lambda buffer: send_one(buffer, _socket.MSG_DONTWAIT)

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
        self._lock = _thread.allocate_lock()
        self._holds = False
        self._over = False

    @property
    def busy(self) -> bool:
        """Whether something has been written to the source that the sink has not got."""
        with self._lock:
            if self._over:
                return False
            return self._holds or _is_readable(self._source, 0)

    def run(self) -> None:
        try:
            while data := self._take():
                while data:
                    data = data[os.write(self._sink, data) :]
                self._holds = False
        except OSError:
            pass  # the reader is gone: closing tells the writer
        with self._lock:
            self._over = True
            os.close(self._source)
            os.close(self._sink)

    def _take(self) -> bytes:
        _is_readable(self._source, None)
        with self._lock:  # from the pipe into our hand: busy must not look between
            data = os.read(self._source, CHUNK)
            self._holds = bool(data)
            return data


def open_source(fd: int) -> Source:
    """Take over the inherited descriptor ``fd`` for reading; its number stays occupied."""
    how, taken = _take_over(fd, os.O_RDONLY)
    if how == _PER_CALL:
        return SocketSource(taken)
    if how == _IN_A_THREAD:
        return ThreadedSource(taken)
    return Source(taken, pollable=how != _NEVER_BLOCKS)


def open_sink(fd: int) -> Sink:
    """Take over the inherited descriptor ``fd`` for writing; its number stays occupied."""
    how, taken = _take_over(fd, os.O_WRONLY)
    if how == _PER_CALL:
        return SocketSink(taken)
    if how == _IN_A_THREAD:
        return ThreadedSink(taken)
    return Sink(taken, pollable=how != _NEVER_BLOCKS)


# no enum: importing that takes longer than starting the server
_PER_CALL, _NEVER_BLOCKS, _AS_IT_IS, _IN_A_THREAD = range(4)


def _take_over(fd: int, access: int) -> tuple[int, int]:
    mode = os.fstat(fd).st_mode
    if stat.S_ISSOCK(mode):
        return _PER_CALL, _move(fd)
    if not _can_be_polled(fd):
        return _NEVER_BLOCKS, _move(fd)
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        try:
            anew = os.open(f"/proc/self/fd/{fd}", access | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            pass  # another user's (a container's stdio), or a pipe that nobody reads
        else:
            os.close(_move(fd))
            widen(anew, PIPE_UP if access == os.O_RDONLY else PIPE_DOWN)
            return _AS_IT_IS, anew
    how = _IN_A_THREAD if os.get_blocking(fd) else _AS_IT_IS
    return how, _move(fd)


def _can_be_polled(fd: int) -> bool:
    """Regular files, /dev/null and the like are always ready, and epoll refuses them."""
    if not hasattr(select, "epoll"):
        mode = os.fstat(fd).st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
    with select.epoll(1) as probe:
        try:
            probe.register(fd, 0)
        except PermissionError:
            return False
    return True


def _is_readable(fd: int, timeout: int | None) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(timeout))


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
