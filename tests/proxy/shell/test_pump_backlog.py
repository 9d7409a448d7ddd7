"""The pump, where a reader is slower than its writer: little waits in memory, if that will do."""

from __future__ import annotations

import pytest

from nevermind.peers import Peer
from nevermind.shell.descriptors import CHUNK
from nevermind.shell.flow import BACKLOG, PATIENCE
from proxy.shell.stage import Stage

LIMIT = 4 * BACKLOG


@pytest.fixture
def stage() -> Stage:
    """Whose queues hold four times a backlog."""
    return Stage(limit=LIMIT)


def floods(stage: Stage) -> int:
    """The host writes all that is taken of it, as the server reads nothing; what then waits."""
    while stage.host_stdin.fill():
        stage.settle()
    return stage.session.outbox[Peer.SERVER].pending


def test_a_backlog_makes_the_writer_wait(stage: Stage) -> None:
    stage.server_stdin.fill()
    assert BACKLOG <= floods(stage) < BACKLOG + CHUNK
    assert stage.pump.due() == stage.now + PATIENCE
    stage.server_writes(b"the other way is free")
    assert stage.host_reads() == b"the other way is free"


def test_but_not_for_ever(stage: Stage) -> None:
    """The server may be writing itself, and read only when it has been read."""
    stage.server_stdin.fill()
    floods(stage)
    stage.wait(PATIENCE)
    stage.settle()
    assert LIMIT <= floods(stage) < LIMIT + CHUNK
    assert stage.pump.due() is None


def test_a_reader_that_takes_some_is_given_time_again(stage: Stage) -> None:
    stage.server_stdin.fill()
    floods(stage)
    stage.now += PATIENCE / 2
    stage.server_reads()
    assert BACKLOG <= floods(stage) < BACKLOG + CHUNK
    assert stage.pump.due() == stage.now + PATIENCE


def test_a_reader_that_takes_all_is_given_all(stage: Stage) -> None:
    filled = stage.server_stdin.fill()
    waiting = floods(stage)
    in_the_pipe = CHUNK  # of the host's own pipe, which had been filled again
    taken = 0
    while data := stage.server_reads():
        taken += len(data)
    assert taken >= filled + waiting + in_the_pipe
    assert stage.pump.due() is None


def test_a_small_queue_is_full_before_that() -> None:
    stage = Stage(limit=100_000)
    stage.server_stdin.fill()
    assert 100_000 <= floods(stage) <= 100_000 + CHUNK
    assert stage.pump.due() is None
