"""Far ends of what we inherit as stdin and stdout: pipes, sockets, terminals."""

from __future__ import annotations

import os
import pty
import select
import socket
import tty

from nevermind.shell.descriptors import Sink, Source


class Far:
    """The far end of something that we inherited as ``fd``, with blocking descriptors."""

    def __init__(self, fd: int, shared: int, far: int) -> None:
        self.fd = fd
        self.shared = shared
        """Another descriptor of the very description that was inherited."""
        self.far = far

    def says(self, data: bytes) -> None:
        os.write(self.far, data)

    def hears(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = os.read(self.far, count - len(data))
            assert piece, f"the end came after {data!r}"
            data += piece
        return data

    def leaves(self) -> None:
        os.close(self.far)
        self.far = -1

    def close(self) -> None:
        for fd in (self.fd, self.shared, self.far):
            if fd >= 0:
                os.close(fd)


def incoming_pipe() -> Far:
    source, sink = os.pipe()
    return Far(source, os.dup(source), sink)


def outgoing_pipe() -> Far:
    source, sink = os.pipe()
    return Far(sink, os.dup(sink), source)


def socket_pair() -> Far:
    ours, theirs = socket.socketpair()
    fd = ours.detach()
    return Far(fd, os.dup(fd), theirs.detach())


def terminal() -> Far:
    master, slave = pty.openpty()
    tty.setraw(slave)
    return Far(slave, os.dup(slave), master)


INCOMING = {"pipe": incoming_pipe, "socket": socket_pair, "terminal": terminal}
OUTGOING = {"pipe": outgoing_pipe, "socket": socket_pair, "terminal": terminal}


def read_when_ready(source: Source) -> bytes:
    assert source.fd is not None
    assert select.select([source.fd], [], [], 30)[0], "nothing came in 30 s"
    return source.read()


def write_all(sink: Sink, data: bytes) -> None:
    assert sink.fd is not None
    view = memoryview(data)
    while view:
        assert select.select([], [sink.fd], [], 30)[1], "no room in 30 s"
        view = view[sink.write([view]) :]


def fill(sink: Sink) -> int:
    """Write until there is no room; how much that was."""
    filled = 0
    try:
        while True:
            filled += sink.write([bytes(4096)])
    except BlockingIOError:
        return filled


def watching(sink: Sink) -> select.poll:
    """Polls for what ``sink`` shows without a write."""
    assert sink.watched is not None
    poll = select.poll()
    poll.register(sink.watched, 0)
    return poll
