"""The pump when it ends: by the host, by the server, by signals."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nevermind.peers import Peer
from nevermind.shell import pump as pump_module
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.ending import LAST_WORDS, PATIENCE, QUIET
from nevermind.shell.signals import SIGCHLD, SIGINT, SIGKILL, SIGTERM
from proxy.shell.stage import GRACE, Stage


class TestTheHostEnds:
    def test_the_server_sees_the_end_after_all_that_was_written(self, stage: Stage) -> None:
        os.write(stage.host_stdin.sink, b"last question\n")
        stage.host_closes_stdin()
        assert stage.server_reads() == b"last question\n"
        assert stage.server_reads() is None
        assert stage.session.heard[-1][:2] == (Peer.CLIENT, "eof")

    def test_what_the_session_held_goes_out_before_the_end(self, stage: Stage) -> None:
        stage.session.at_eof[Peer.CLIENT] = b"unterminated rest"
        stage.host_closes_stdin()
        assert stage.server_reads() == b"unterminated rest"
        assert stage.server_reads() is None

    def test_the_answers_are_still_delivered(self, stage: Stage) -> None:
        stage.host_closes_stdin()
        stage.server_writes(b"answer\n")
        assert stage.host_reads() == b"answer\n"
        stage.server_exits(0)
        stage.server_closes_stdout()
        assert stage.code() == 0

    def test_a_server_that_stays_is_ended(self, stage: Stage) -> None:
        stage.host_closes_stdin()
        assert stage.pump.due() == stage.now + GRACE
        stage.wait(GRACE)
        assert stage.tree.signalled == [SIGTERM]
        stage.wait(PATIENCE)
        assert stage.tree.signalled == [SIGTERM, SIGKILL]
        stage.server_closes_stdout()
        stage.server_exits(137)
        assert stage.code() == 137

    def test_not_while_it_owes_an_answer(self, stage: Stage) -> None:
        stage.session.waiting = 1
        stage.host_closes_stdin()
        stage.wait(GRACE + 1)
        assert stage.tree.signalled == []

    def test_a_read_error_is_an_end(self, tmp_path: Path) -> None:
        fd = os.open(tmp_path, os.O_RDONLY)
        stage = Stage(host_source=Source(fd, pollable=False))
        stage.settle()
        assert stage.server_reads() is None


class TestTheHostNoLongerReads:
    def test_it_is_noticed_without_writing(self, stage: Stage) -> None:
        stage.host_stops_reading()
        assert stage.server_reads() is None
        stage.wait(GRACE)
        assert stage.tree.signalled == [SIGTERM]

    def test_also_while_a_full_queue_keeps_us_from_reading(self) -> None:
        stage = Stage(limit=1000)
        stage.host_stdout.fill()
        stage.server_writes(b"x" * 2000)
        assert not stage.session.may_read(Peer.SERVER)
        stage.host_stops_reading()
        assert stage.server_reads() is None
        assert stage.session.may_read(Peer.SERVER)

    def test_what_the_host_had_written_is_still_delivered(self, stage: Stage) -> None:
        os.write(stage.host_stdin.sink, b"notification\n")
        stage.host_stops_reading()
        assert stage.server_reads() == b"notification\n"
        assert stage.server_reads() is None

    def test_even_if_the_server_was_slow_to_take_it(self) -> None:
        stage = Stage(limit=1000)
        filled = stage.server_stdin.fill()
        stage.host_writes(b"a" * 2000)
        os.write(stage.host_stdin.sink, b"b" * 2000)
        stage.host_stops_reading()
        data = b""
        while (piece := stage.server_reads()) is not None:
            data += piece
        assert data[filled:] == b"a" * 2000 + b"b" * 2000

    def test_the_server_may_go_on_writing_meanwhile(self, stage: Stage) -> None:
        """It is not to block, or it would not see the end of its stdin."""
        stage.host_stops_reading()
        for _ in range(50):
            stage.server_stdout.fill()
            stage.settle()
        assert stage.session.outbox[Peer.CLIENT].pending == 0

    def test_a_failing_write_says_it_too(self, tmp_path: Path) -> None:
        (tmp_path / "full").touch()
        fd = os.open(tmp_path / "full", os.O_RDONLY)  # every write to it fails
        stage = Stage(host_sink=Sink(fd, pollable=False))
        stage.server_writes(b"answer")
        assert stage.server_reads() is None


class TestTheServerEnds:
    def test_what_it_wrote_is_delivered_and_its_code_is_ours(self, stage: Stage) -> None:
        os.write(stage.server_stdout.sink, b"last words\n")
        stage.server_stdout.close_sink()
        stage.server_exits(3)
        assert stage.host_stdout.read() == b"last words\n"
        assert stage.host_stdout.read() is None
        assert stage.code() == 3

    def test_what_the_session_held_of_it_too(self, stage: Stage) -> None:
        stage.session.at_eof[Peer.SERVER] = b"cut off"
        stage.server_stdout.close_sink()
        stage.server_exits(1)
        assert stage.host_stdout.read() == b"cut off"

    def test_to_a_slow_reader_however_long_it_takes(self) -> None:
        stage = Stage(limit=50_000)
        filled = stage.host_stdout.fill()
        written = stage.server_stdout.fill()
        stage.server_closes_stdout()
        stage.server_exits(0)
        stage.wait(3600)
        assert stage.code() is None
        received = 0
        while (data := stage.host_reads()) is not None:
            received += len(data)
        assert received == filled + written
        assert stage.code() == 0

    def test_a_helper_that_holds_the_pipe_does_not_hold_us(self, stage: Stage) -> None:
        stage.session.at_eof[Peer.SERVER] = b"cut off"
        os.write(stage.server_stdout.sink, b"words")
        stage.server_exits(0)
        assert stage.code() is None
        stage.wait(QUIET)
        assert stage.host_stdout.read() == b"wordscut off"
        assert stage.code() == 0

    def test_what_the_session_held_is_delivered_to_a_slow_reader_too(self, stage: Stage) -> None:
        stage.session.at_eof[Peer.SERVER] = b"cut off"
        filled = stage.host_stdout.fill()
        stage.server_exits(0)
        stage.wait(QUIET)
        assert stage.code() is None
        received = b""
        while (data := stage.host_reads()) is not None:
            received += data
        assert received[filled:] == b"cut off"
        assert stage.code() == 0

    def test_the_host_is_told_that_nobody_listens(self, stage: Stage) -> None:
        stage.host_stdout.fill()
        stage.server_writes(b"unread")
        stage.server_exits(0)
        with pytest.raises(BrokenPipeError):
            os.write(stage.host_stdin.sink, b"question")

    def test_a_server_that_closes_its_stdout_is_still_fed(self, stage: Stage) -> None:
        stage.server_writes(b"bye\n")
        stage.server_closes_stdout()
        assert stage.host_reads() == b"bye\n"
        assert stage.host_reads() is None
        stage.host_writes(b"notification\n")
        assert stage.server_reads() == b"notification\n"
        stage.host_closes_stdin()
        assert stage.server_reads() is None
        stage.server_exits(0)
        assert stage.code() == 0

    def test_a_server_that_closes_its_stdin_is_still_heard(self, stage: Stage) -> None:
        stage.server_closes_stdin()
        stage.host_writes(b"into the void\n")
        stage.host_writes(b"again\n")
        stage.server_writes(b"news\n")
        assert stage.host_reads() == b"news\n"
        assert stage.session.outbox[Peer.SERVER].pending == 0
        assert stage.code() is None

    def test_the_end_of_another_child_is_not_the_servers(self, stage: Stage) -> None:
        stage.signal(SIGCHLD)
        assert stage.code() is None
        stage.host_writes(b"still there?\n")
        assert stage.server_reads() == b"still there?\n"


class TestSignals:
    def test_sigterm_ends_the_tree_and_us(self, stage: Stage) -> None:
        stage.signal(SIGTERM)
        assert stage.tree.signalled == [SIGTERM]
        stage.server_closes_stdout()
        stage.server_exits(0)
        assert stage.code() == 143

    def test_what_the_server_still_says_is_delivered(self, stage: Stage) -> None:
        stage.signal(SIGTERM)
        stage.server_writes(b"stopping\n")
        assert stage.host_reads() == b"stopping\n"

    def test_a_host_that_does_not_read_does_not_hold_us(self, stage: Stage) -> None:
        stage.host_stdout.fill()
        stage.server_writes(b"unread")
        stage.signal(SIGTERM)
        stage.server_closes_stdout()
        stage.server_exits(0)
        assert stage.code() is None
        stage.wait(LAST_WORDS)
        assert stage.code() == 143

    @pytest.mark.parametrize(("in_front", "signalled"), [(False, ["interrupt"]), (True, [])])
    def test_sigint_is_the_servers_unless_the_terminal_gave_it_one(
        self,
        stage: Stage,
        monkeypatch: pytest.MonkeyPatch,
        in_front: bool,
        signalled: list[str],
    ) -> None:
        monkeypatch.setattr(pump_module, "in_foreground", lambda: in_front)
        stage.signal(SIGINT)
        assert stage.tree.signalled == signalled
        assert stage.code() is None
        stage.server_writes(b"I survive\n")
        assert stage.host_reads() == b"I survive\n"
