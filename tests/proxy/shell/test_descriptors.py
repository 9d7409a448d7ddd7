"""Reading and writing what we inherit: never blocking, never changing what others share."""

from __future__ import annotations

import os
import pty
import select
import socket
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nevermind.shell import descriptors
from nevermind.shell.descriptors import (
    CHUNK,
    Sink,
    SocketSink,
    SocketSource,
    Source,
    ThreadedSink,
    ThreadedSource,
    open_sink,
    open_source,
)

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="opens anew through /proc")


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


@pytest.fixture
def closing() -> Iterator[list[Far]]:
    fars: list[Far] = []
    yield fars
    for far in fars:
        far.close()


@pytest.fixture
def only_blocking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be opened anew: the host is another user, as with containers."""
    real = os.open

    def refusing(path: str, flags: int, mode: int = 0o777) -> int:
        if str(path).startswith("/proc/self/fd/"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, mode)

    monkeypatch.setattr("os.open", refusing)


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


class TestSources:
    @pytest.fixture(params=INCOMING)
    def far(self, request: pytest.FixtureRequest, closing: list[Far]) -> Far:
        far = INCOMING[request.param]()
        closing.append(far)
        return far

    @pytest.fixture
    def source(self, far: Far) -> Iterator[Source]:
        source = open_source(far.fd)
        yield source
        source.close()

    def test_nothing_to_read_does_not_block(self, source: Source) -> None:
        with pytest.raises(BlockingIOError):
            source.read()

    def test_what_is_there_is_read_at_once(self, source: Source, far: Far) -> None:
        far.says(b"hello")
        assert read_when_ready(source) == b"hello"

    def test_at_most_a_chunk_at_a_time(self, source: Source, far: Far) -> None:
        def talk() -> None:
            left = memoryview(bytes(3 * CHUNK))
            while left:
                left = left[os.write(far.far, left) :]

        talking = threading.Thread(target=talk)
        talking.start()
        total = 0
        while total < 3 * CHUNK:
            piece = read_when_ready(source)
            assert 0 < len(piece) <= CHUNK
            total += len(piece)
        talking.join()

    def test_others_who_share_it_still_block(self, source: Source, far: Far) -> None:
        assert os.get_blocking(far.shared)

    def test_its_number_is_occupied_by_something_harmless(self, source: Source, far: Far) -> None:
        assert os.path.samestat(os.fstat(far.fd), os.stat(os.devnull))


class TestTheEndOfASource:
    @pytest.mark.parametrize("kind", ["pipe", "socket"])
    def test_the_end(self, kind: str, closing: list[Far]) -> None:
        far = INCOMING[kind]()
        closing.append(far)
        source = open_source(far.fd)
        far.says(b"last words")
        far.leaves()
        assert read_when_ready(source) == b"last words"
        assert read_when_ready(source) == b""
        source.close()

    def test_a_terminal_that_hangs_up(self, closing: list[Far]) -> None:
        far = terminal()
        closing.append(far)
        source = open_source(far.fd)
        far.leaves()
        assert read_when_ready(source) == b""
        source.close()

    def test_a_reset_is_an_error_that_says_end(self, closing: list[Far]) -> None:
        """The host died with something of ours unread."""
        far = socket_pair()
        closing.append(far)
        os.write(far.shared, b"never read")
        source = open_source(far.fd)
        far.leaves()
        with pytest.raises(ConnectionResetError):
            read_when_ready(source)
        source.close()


class TestSinks:
    @pytest.fixture(params=OUTGOING)
    def far(self, request: pytest.FixtureRequest, closing: list[Far]) -> Far:
        far = OUTGOING[request.param]()
        closing.append(far)
        return far

    @pytest.fixture
    def sink(self, far: Far) -> Iterator[Sink]:
        sink = open_sink(far.fd)
        yield sink
        sink.close()

    def test_all_buffers_go_out_in_their_order(self, sink: Sink, far: Far) -> None:
        assert sink.write([b"one ", memoryview(b"two "), b"three"]) == 13
        assert far.hears(13) == b"one two three"

    def test_no_room_does_not_block(self, sink: Sink) -> None:
        assert fill(sink) > 0

    def test_everything_arrives_however_much_it_is(self, sink: Sink, far: Far) -> None:
        sent = bytes(range(1, 128)) * 8000
        heard: list[bytes] = []
        listening = threading.Thread(target=lambda: heard.append(far.hears(len(sent))))
        listening.start()
        write_all(sink, sent)
        listening.join(30)
        assert heard == [sent]

    def test_others_who_share_it_still_block(self, sink: Sink, far: Far) -> None:
        """The server's stderr may be the same description (2>&1)."""
        assert os.get_blocking(far.shared)

    def test_what_is_written_has_left_us(self, sink: Sink) -> None:
        sink.write([b"gone"])
        assert not sink.busy

    def test_a_stray_write_cannot_reach_the_host(self, sink: Sink, far: Far) -> None:
        os.write(far.fd, b"a stray print")
        sink.write([b"message"])
        assert far.hears(7) == b"message"


class TestTheEndOfASink:
    @pytest.mark.parametrize("kind", ["pipe", "socket"])
    def test_a_reader_that_leaves_shows_without_writing(
        self, kind: str, closing: list[Far]
    ) -> None:
        far = OUTGOING[kind]()
        closing.append(far)
        sink = open_sink(far.fd)
        assert sink.watched is not None
        poll = select.poll()
        poll.register(sink.watched, 0)
        assert poll.poll(0) == []
        far.leaves()
        assert poll.poll(30_000)[0][1] & (select.POLLERR | select.POLLHUP)
        with pytest.raises(BrokenPipeError):
            sink.write([b"too late"])
        sink.close()

    @pytest.mark.parametrize("kind", ["pipe", "socket"])
    def test_closing_is_what_the_reader_sees(self, kind: str, closing: list[Far]) -> None:
        far = OUTGOING[kind]()
        closing.append(far)
        os.close(far.shared)
        far.shared = -1
        sink = open_sink(far.fd)
        sink.write([b"bye"])
        sink.close()
        assert far.hears(3) == b"bye"
        assert os.read(far.far, 1) == b""


class TestWhatIsAlwaysReady:
    def test_a_file_is_read_from_where_it_stands(self, tmp_path: Path) -> None:
        (tmp_path / "in").write_bytes(b"read already, to be read")
        fd = os.open(tmp_path / "in", os.O_RDONLY)
        os.read(fd, len(b"read already, "))
        source = open_source(fd)
        assert source.fd is None
        assert source.read() == b"to be read"
        assert source.read() == b""
        source.close()
        os.close(fd)

    def test_a_file_is_written_where_it_stands(self, tmp_path: Path) -> None:
        fd = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"head ")
        sink = open_sink(fd)
        assert (sink.fd, sink.watched) == (None, None)
        assert sink.write([b"a", b"b"]) == 2
        sink.close()
        os.close(fd)
        assert (tmp_path / "out").read_bytes() == b"head ab"

    def test_dev_null(self) -> None:
        fd = os.open(os.devnull, os.O_RDWR)
        source, sink = open_source(fd), open_sink(fd)
        assert (source.fd, sink.fd) == (None, None)
        assert source.read() == b""
        assert sink.write([b"x" * 100_000]) == 100_000
        source.close()
        sink.close()
        os.close(fd)

    def test_a_folder_is_an_error_that_says_end(self, tmp_path: Path) -> None:
        fd = os.open(tmp_path, os.O_RDONLY)
        source = open_source(fd)
        with pytest.raises(IsADirectoryError):
            source.read()
        source.close()
        os.close(fd)

    def test_without_epoll_the_kind_of_file_tells(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closing: list[Far]
    ) -> None:
        monkeypatch.delattr(select, "epoll", raising=False)
        (tmp_path / "in").touch()
        fd = os.open(tmp_path / "in", os.O_RDONLY)
        source = open_source(fd)
        assert source.fd is None
        source.close()
        os.close(fd)
        far = incoming_pipe()
        closing.append(far)
        piped = open_source(far.fd)
        assert piped.fd is not None
        piped.close()


class TestWhichWay:
    @linux_only
    @pytest.mark.parametrize("make", [incoming_pipe, terminal])
    def test_pipes_and_terminals_are_opened_anew(
        self, make: Callable[[], Far], closing: list[Far]
    ) -> None:
        far = make()
        closing.append(far)
        source = open_source(far.fd)
        assert type(source) is Source
        source.close()

    def test_sockets_are_asked_per_call(self, closing: list[Far]) -> None:
        far = socket_pair()
        closing.append(far)
        other = os.dup(far.fd)
        source, sink = open_source(far.fd), open_sink(other)
        assert type(source) is SocketSource
        assert type(sink) is SocketSink
        source.close()
        sink.close()
        os.close(other)

    @pytest.mark.usefixtures("only_blocking")
    def test_the_rest_gets_a_thread(self, closing: list[Far]) -> None:
        up, down = incoming_pipe(), outgoing_pipe()
        closing += [up, down]
        source, sink = open_source(up.fd), open_sink(down.fd)
        assert type(source) is ThreadedSource
        assert type(sink) is ThreadedSink
        up.leaves()
        assert read_when_ready(source) == b""
        source.close()
        sink.close()

    @pytest.mark.usefixtures("only_blocking")
    def test_unless_it_does_not_block_already(self, closing: list[Far]) -> None:
        far = incoming_pipe()
        closing.append(far)
        os.set_blocking(far.fd, False)
        source = open_source(far.fd)
        assert type(source) is Source
        source.close()

    def test_a_pipe_that_nobody_reads_any_more(self, closing: list[Far]) -> None:
        far = outgoing_pipe()
        closing.append(far)
        far.leaves()
        sink = open_sink(far.fd)
        assert sink.watched is not None
        poll = select.poll()
        poll.register(sink.watched, 0)
        assert poll.poll(0)[0][1] & select.POLLERR
        sink.close()


@pytest.mark.usefixtures("only_blocking")
class TestInAThread:
    """The same behaviour, by way of a pipe of our own."""

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.001)

    def test_there_and_back(self, closing: list[Far]) -> None:
        up, down = incoming_pipe(), outgoing_pipe()
        closing += [up, down]
        source, sink = open_source(up.fd), open_sink(down.fd)
        with pytest.raises(BlockingIOError):
            source.read()
        up.says(b"question")
        assert read_when_ready(source) == b"question"
        sink.write([b"ans", b"wer"])
        assert down.hears(6) == b"answer"
        up.leaves()
        assert read_when_ready(source) == b""
        source.close()
        sink.close()

    def test_it_is_busy_until_the_description_has_it_all(self, closing: list[Far]) -> None:
        far = outgoing_pipe()
        closing.append(far)
        sink = open_sink(far.fd)
        before = sink.busy
        sent = fill(sink)
        assert (before, sink.busy) == (False, True)
        far.hears(sent)
        self.until(lambda: not sink.busy)
        sink.close()

    def test_what_was_written_before_it_was_closed_still_arrives(self, closing: list[Far]) -> None:
        far = outgoing_pipe()
        closing.append(far)
        os.close(far.shared)
        far.shared = -1
        sink = open_sink(far.fd)
        sink.write([b"last words"])
        sink.close()
        assert far.hears(10) == b"last words"
        assert os.read(far.far, 1) == b""
        self.until(lambda: not sink.busy)

    def test_a_reader_that_leaves_shows_without_writing(self, closing: list[Far]) -> None:
        far = outgoing_pipe()
        closing.append(far)
        sink = open_sink(far.fd)
        assert sink.watched is not None
        assert sink.watched != sink.fd
        poll = select.poll()
        poll.register(sink.watched, 0)
        assert poll.poll(0) == []
        far.leaves()
        assert poll.poll(30_000)[0][1] & select.POLLERR
        sink.close()

    def test_a_reader_that_leaves_in_the_middle_is_no_error_of_ours(
        self, closing: list[Far], recwarn: pytest.WarningsRecorder
    ) -> None:
        far = outgoing_pipe()
        closing.append(far)
        sink = open_sink(far.fd)
        fill(sink)
        far.leaves()

        def is_broken() -> bool:
            try:
                sink.write([b"more"])
            except BlockingIOError:
                return False
            except BrokenPipeError:
                return True
            return False

        self.until(is_broken)
        assert not sink.busy
        sink.close()


def test_little_is_imported_for_it() -> None:
    """It is there before the engine, while the host already speaks."""
    assert descriptors.__dict__.keys().isdisjoint({"enum", "socket", "threading", "functools"})
