"""Reading and writing what we inherit: never blocking, never changing what others share."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator

import pytest

from nevermind.shell import descriptors
from nevermind.shell.descriptors import CHUNK, Sink, Source, open_sink, open_source
from proxy.shell.far_ends import (
    INCOMING,
    OUTGOING,
    Far,
    fill,
    read_when_ready,
    socket_pair,
    terminal,
    watching,
    write_all,
)


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
        poll = watching(sink)
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


def test_little_is_imported_for_it() -> None:
    """It is there before the engine, while the host already speaks."""
    assert descriptors.__dict__.keys().isdisjoint({"enum", "socket", "threading", "functools"})
