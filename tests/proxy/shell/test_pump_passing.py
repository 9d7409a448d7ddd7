"""The pump, where a line passes as it is: it is written at once, and no queue sees it."""

from __future__ import annotations

import os

import pytest

from nevermind.peers import Peer
from proxy.shell.stage import Stage


@pytest.fixture
def stage() -> Stage:
    """Both streams may be asked; what begins with "plain" passes."""
    stage = Stage()
    stage.session.clean = True
    return stage


def everything(stage: Stage) -> bytes:
    """What the server gets once it reads: what was in its pipe, and what waited for room."""
    return (stage.server_reads() or b"") + (stage.server_reads() or b"")


def test_there_and_back(stage: Stage) -> None:
    stage.host_writes(b"plain question\n")
    assert stage.server_reads() == b"plain question\n"
    stage.now += 1
    stage.server_writes(b"plain answer\n")
    assert stage.host_reads() == b"plain answer\n"
    assert stage.session.heard == [
        (Peer.CLIENT, "passes", b"plain question\n", 1000.0),
        (Peer.SERVER, "passes", b"plain answer\n", 1001.0),
    ]
    assert stage.pump.heard_server


def test_what_does_not_pass_is_received(stage: Stage) -> None:
    stage.host_writes(b"special\n")
    assert stage.server_reads() == b"special\n"
    assert stage.session.heard == [(Peer.CLIENT, b"special\n", 1000.0)]


def test_nothing_is_asked_while_something_is_held(stage: Stage) -> None:
    stage.session.clean = False
    stage.host_writes(b"plain\n")
    assert stage.session.heard == [(Peer.CLIENT, b"plain\n", 1000.0)]


def test_nothing_overtakes_what_is_queued(stage: Stage) -> None:
    stage.server_stdin.fill()
    stage.host_writes(b"special\n")
    stage.host_writes(b"plain\n")
    assert [heard[1] for heard in stage.session.heard] == [b"special\n", b"plain\n"]
    assert everything(stage).endswith(b"special\nplain\n")


def test_what_there_is_no_room_for_is_queued(stage: Stage) -> None:
    """All of it."""
    filled = stage.server_stdin.fill()
    stage.host_writes(b"plain one\n")
    assert stage.session.heard == [(Peer.CLIENT, "passes", b"plain one\n", 1000.0)]
    assert stage.session.outbox[Peer.SERVER].pending == 10
    assert everything(stage)[filled:] == b"plain one\n"


def test_or_its_rest(stage: Stage) -> None:
    """A pipe takes what it has room for of a line that is longer than a page."""
    line = b"plain " + b"y" * 50_000 + b"\n"
    filled = stage.server_stdin.fill()
    os.read(stage.server_stdin.source, 8192)
    stage.host_writes(line)
    assert 0 < stage.session.outbox[Peer.SERVER].pending < len(line)
    assert everything(stage)[filled - 8192 :] == line


def test_a_reader_that_is_gone(stage: Stage) -> None:
    """As with what is queued: the run ends."""
    stage.host_stdout.close_source()
    os.write(stage.server_stdout.sink, b"plain\n")
    stage.pump.turn(0)
    stage.settle()
    assert stage.session.outbox[Peer.CLIENT].pending == 0
    assert stage.pump.due() is not None


def test_a_sink_that_is_closed_gets_nothing(stage: Stage) -> None:
    """The host reads no more; what the server still says goes nowhere."""
    stage.host_stops_reading()
    stage.server_writes(b"plain\n")
    assert stage.session.heard[-1] == (Peer.SERVER, b"plain\n", 1000.0)
    assert stage.session.outbox[Peer.CLIENT].pending == 0
