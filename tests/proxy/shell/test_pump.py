"""The pump: bytes through a session, and pressure; without a process or a real clock."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nevermind.notes import Diverted
from nevermind.peers import Peer
from nevermind.shell.descriptors import CHUNK, LOOK_AGAIN, Sink, Source
from proxy.shell.stage import Stage


class TestBytes:
    def test_there_and_back(self, stage: Stage) -> None:
        stage.host_writes(b"question\n")
        assert stage.server_reads() == b"question\n"
        stage.server_writes(b"answer\n")
        assert stage.host_reads() == b"answer\n"

    def test_the_session_is_told_who_spoke_and_when(self, stage: Stage) -> None:
        stage.host_writes(b"a")
        stage.now += 1.5
        stage.server_writes(b"b")
        assert stage.session.heard == [
            (Peer.CLIENT, b"a", 1000.0),
            (Peer.SERVER, b"b", 1001.5),
        ]

    def test_what_the_session_adds_for_either_peer_goes_out(self, stage: Stage) -> None:
        def both(sender: Peer, data: bytes) -> None:
            stage.session.outbox[sender].append(b"refused\n")

        stage.session.on_data = both
        stage.host_writes(b"question\n")
        assert stage.host_reads() == b"refused\n"
        assert stage.server_reads() == b"question\n"

    def test_many_parts_are_written_in_their_order(self, stage: Stage) -> None:
        parts = [b"%d," % n for n in range(1000)]

        def many(sender: Peer, data: bytes) -> None:
            for part in parts:
                stage.session.outbox[sender.other].append(part)

        stage.session.on_data = many
        stage.host_writes(b"end")
        assert stage.server_reads() == b"".join(parts) + b"end"

    def test_a_turn_takes_a_chunk_of_each_side(self, stage: Stage) -> None:
        """A flood from one peer does not keep the other waiting."""
        flood = stage.server_stdout.fill()
        os.write(stage.host_stdin.sink, b"question\n")
        stage.pump.turn(0)
        assert [len(data) for _, data, _ in stage.session.heard] in (
            [min(flood, CHUNK), 9],
            [9, min(flood, CHUNK)],
        )

    def test_it_knows_when_the_server_has_spoken(self, stage: Stage) -> None:
        stage.host_writes(b"hello?")
        assert not stage.pump.heard_server
        stage.server_writes(b"hello")
        assert stage.pump.heard_server

    def test_notes_are_passed_on(self, stage: Stage) -> None:
        stage.session.notes = [Diverted(b"noise\n")]
        stage.server_writes(b"x")
        stage.server_writes(b"y")
        assert stage.journal.written == [Diverted(b"noise\n")]


class TestTime:
    def test_without_a_deadline_it_waits_for_ever(self, stage: Stage) -> None:
        assert stage.pump.due() is None

    def test_a_deadline_that_passes_is_told_to_the_session(self, stage: Stage) -> None:
        stage.session.deadline = stage.now + 0.1
        stage.session.at_deadline = {Peer.SERVER: b'{"rest":1}', Peer.CLIENT: b"late"}
        assert stage.pump.due() == stage.now + 0.1
        stage.settle()
        assert stage.session.heard == []
        stage.wait(0.1)
        assert stage.session.heard == [("expire", stage.now)]
        assert stage.server_reads() == b'{"rest":1}'
        assert stage.host_reads() == b"late"

    def test_bytes_that_came_in_time_are_told_first(self, stage: Stage) -> None:
        """We were stopped for a while; what was still is our own, not the peer's."""
        stage.session.deadline = stage.now + 0.1
        os.write(stage.host_stdin.sink, b"in time")
        stage.wait(5)
        assert stage.session.heard == [
            (Peer.CLIENT, b"in time", stage.now),
            ("expire", stage.now),
        ]

    def test_it_sleeps_no_longer_than_the_deadline(self, stage: Stage) -> None:
        slept: list[float | None] = []
        wait = stage.pump.readiness.wait

        def spied(timeout: float | None, _most: int) -> list[tuple[int, int]]:
            slept.append(timeout)
            return wait(0)

        stage.pump.readiness.wait = spied
        stage.pump.turn(None)
        stage.session.deadline = stage.now + 0.25
        stage.pump.turn(None)
        stage.pump.turn(0.125)
        stage.session.deadline = stage.now - 1
        stage.pump.turn(0.125)
        assert slept == [None, 0.25, 0.125, 0]


class TestPressure:
    """A full queue stops the peer that fills it, and nothing else."""

    @pytest.fixture
    def stage(self) -> Stage:
        return Stage(limit=100_000)

    def test_a_server_that_does_not_read_stops_the_host(self, stage: Stage) -> None:
        stage.server_stdin.fill()
        for _ in range(20):
            stage.host_stdin.fill()
            stage.settle()
        assert 100_000 <= stage.session.outbox[Peer.SERVER].pending <= 100_000 + CHUNK
        stage.server_writes(b"the other way is free")
        assert stage.host_reads() == b"the other way is free"

    def test_a_full_queue_does_not_spin_although_the_writer_hangs_up(self, stage: Stage) -> None:
        stage.server_stdin.fill()
        for _ in range(5):
            stage.host_stdin.fill()
            stage.settle()
        stage.host_stdin.close_sink()
        assert not stage.pump.turn(0)

    def test_everything_arrives_once_it_reads_again(self, stage: Stage) -> None:
        filled = stage.server_stdin.fill()
        sent = 0
        for _ in range(5):
            sent += stage.host_stdin.fill()
            stage.settle()
        stage.host_closes_stdin()
        received = 0
        while (data := stage.server_reads()) is not None:
            received += len(data)
        assert received == filled + sent

    def test_both_directions_full_at_once(self, stage: Stage) -> None:
        """Neither peer reads before it has written everything: still nothing is stuck."""
        sent = {Peer.CLIENT: 0, Peer.SERVER: 0}
        for _ in range(10):
            sent[Peer.CLIENT] += stage.host_stdin.fill()
            sent[Peer.SERVER] += stage.server_stdout.fill()
            stage.settle()
        received = {Peer.CLIENT: 0, Peer.SERVER: 0}
        for _ in range(100):
            received[Peer.SERVER] += len(stage.host_reads() or b"")
            received[Peer.CLIENT] += len(stage.server_reads() or b"")
        assert received == sent

    def test_a_cancel_is_read_while_the_write_to_the_server_is_blocked(self, stage: Stage) -> None:
        stage.server_stdin.fill()
        stage.host_writes(b"request\n")
        stage.host_writes(b"cancel\n")
        assert [data for _, data, _ in stage.session.heard] == [b"request\n", b"cancel\n"]
        assert stage.session.outbox[Peer.SERVER].pending == len(b"request\ncancel\n")

    def test_own_messages_that_a_peer_does_not_take_stop_that_peer(self, stage: Stage) -> None:
        """What decides is the session; the pump does as it says."""
        stage.session.stopped = {Peer.CLIENT}
        stage.host_stdout.fill()
        stage.server_writes(b"queued")
        os.write(stage.host_stdin.sink, b"more requests")
        stage.settle()
        assert stage.server_reads() == b""
        stage.session.stopped = set()
        while stage.host_reads():
            pass
        assert stage.server_reads() == b"more requests"


class TestWhatIsNeverPolled:
    """A regular file as stdin or stdout, and a sink that cannot say when it is done."""

    def test_a_file_is_read_to_its_end(self, tmp_path: Path) -> None:
        (tmp_path / "in").write_bytes(b"question\n" * 20_000)
        fd = os.open(tmp_path / "in", os.O_RDONLY)
        stage = Stage(host_source=Source(fd, pollable=False))
        stage.settle()
        data = b""
        while (piece := stage.server_reads()) is not None:
            data += piece
        assert data == b"question\n" * 20_000

    def test_but_no_faster_than_the_server_takes_it(self, tmp_path: Path) -> None:
        (tmp_path / "in").write_bytes(b"x" * 1_000_000)
        fd = os.open(tmp_path / "in", os.O_RDONLY)
        stage = Stage(host_source=Source(fd, pollable=False), limit=100_000)
        stage.settle()
        assert stage.session.outbox[Peer.SERVER].pending <= 100_000 + CHUNK

    def test_a_file_takes_everything_at_once(self, tmp_path: Path) -> None:
        fd = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
        stage = Stage(host_sink=Sink(fd, pollable=False))
        written = stage.server_stdout.fill()
        stage.server_closes_stdout()
        stage.server_exits(0)
        assert stage.code() == 0
        assert (tmp_path / "out").stat().st_size == written

    def test_a_sink_that_is_busy_is_asked_again(self) -> None:
        class Slow(Sink):
            still = True

            @property
            def busy(self) -> bool:
                return self.still

        source, sink = os.pipe()
        slow = Slow(sink)
        stage = Stage(host_sink=slow)
        stage.server_closes_stdout()
        stage.server_exits(0)
        assert stage.code() is None
        assert stage.pump.due() == stage.now + LOOK_AGAIN
        slow.still = False
        stage.wait(LOOK_AGAIN)
        assert stage.code() == 0
        os.close(source)
