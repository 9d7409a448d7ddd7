"""Descriptors by their kind: what is always ready, and by which way the others do not block."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nevermind.shell.descriptors import (
    SocketSink,
    SocketSource,
    Source,
    ThreadedSink,
    ThreadedSource,
    open_sink,
    open_source,
)
from proxy.shell.far_ends import (
    Far,
    incoming_pipe,
    outgoing_pipe,
    read_when_ready,
    socket_pair,
    terminal,
    watching,
)

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="opens anew through /proc")


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
        poll = watching(sink)
        assert poll.poll(0)[0][1] & select.POLLERR
        sink.close()
