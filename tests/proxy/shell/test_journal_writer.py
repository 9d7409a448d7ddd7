"""The writer's thread: what is put is written, whoever reads cannot hold up whoever puts."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nevermind.shell.journal_writer import ROOM, Writer
from proxy.shell.slow_pipe import SlowPipe

PATIENCE = 30.0
"""Seconds after which a test gives up; nothing here takes a thousandth of it."""


class Reader(SlowPipe):
    """A pipe with a writer at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.writer = Writer(self.sink)

    def fill(self, piece: bytes) -> int:
        """Put ``piece`` until there is no room for another; how many were taken."""
        taken = 0
        while self.writer.put(piece):
            taken += 1
        return taken


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    reader.hang_up()
    reader.writer.close(PATIENCE)
    reader.close()


def test_pieces_are_written_in_their_order(reader: Reader) -> None:
    for n in range(100):
        assert reader.writer.put(b"%d\n" % n)
    assert reader.writer.close(PATIENCE)
    assert reader.rest() == b"".join(b"%d\n" % n for n in range(100))


def test_nothing_put_is_nothing_written(reader: Reader) -> None:
    assert reader.writer.close(0)
    assert reader.rest() == b""


def test_a_stalled_reader_loses_pieces_and_they_are_counted(reader: Reader) -> None:
    clogged = reader.clog()
    taken = reader.fill(b"x" * 1000)
    assert taken == ROOM // 1000
    for _ in range(4):
        assert not reader.writer.put(b"y" * 1000)
    assert reader.writer.take_lost() == 0, "there is no room to say so yet"
    assert reader.writer.take_lost(even_if_full=True) == 5
    assert reader.writer.take_lost(even_if_full=True) == 0
    assert reader.read(clogged + taken * 1000).endswith(b"#" + b"x" * taken * 1000)


def test_the_loss_can_be_told_once_there_is_room(reader: Reader) -> None:
    clogged = reader.clog()
    taken = reader.fill(b"x" * 1000)
    reader.read(clogged + taken * 1000)
    assert reader.writer.close(PATIENCE)
    assert reader.writer.take_lost() == 1


def test_there_is_always_room_for_a_last_word(reader: Reader) -> None:
    clogged = reader.clog()
    taken = reader.fill(b"x" * 1000)
    assert reader.writer.put(b"last", always=True)
    assert reader.read(clogged + taken * 1000 + 4).endswith(b"xlast")


def test_one_piece_may_exceed_the_room(reader: Reader) -> None:
    piece = b"z" * (2 * ROOM)
    assert reader.writer.put(piece)
    assert reader.read(len(piece)) == piece


def test_closing_gives_a_stalled_reader_only_so_much_time(reader: Reader) -> None:
    reader.clog()
    reader.fill(b"x" * 1000)
    assert not reader.writer.close(0.01)


def test_a_descriptor_that_others_made_non_blocking_is_waited_for(reader: Reader) -> None:
    os.set_blocking(reader.sink, False)
    piece = b"z" * (ROOM // 2)  # more than a pipe takes at once
    assert reader.writer.put(piece)
    assert reader.read(len(piece)) == piece
    assert reader.writer.close(PATIENCE)
    assert not os.get_blocking(reader.sink), "and stays as it was"


def test_a_reader_that_is_gone_is_no_reason_to_stop() -> None:
    source, sink = os.pipe()
    os.close(source)
    writer = Writer(sink)
    for _ in range(3):
        assert writer.put(b"x\n")
    assert writer.close(PATIENCE)
    assert writer.error is not None
    assert writer.error.errno == errno.EPIPE
    assert writer.take_lost() == 3
    os.close(sink)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_no_reason_to_stop() -> None:
    sink = os.open("/dev/full", os.O_WRONLY)
    writer = Writer(sink)
    assert writer.put(b"x\n")
    assert writer.close(PATIENCE)
    assert writer.error is not None
    assert writer.error.errno == errno.ENOSPC
    os.close(sink)
