"""Descriptors that only a thread can read and write without blocking us."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

import pytest

from nevermind.shell.descriptors import open_sink, open_source
from proxy.shell.far_ends import Far, fill, incoming_pipe, outgoing_pipe, read_when_ready, watching


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
        assert sink.watched != sink.fd
        poll = watching(sink)
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
