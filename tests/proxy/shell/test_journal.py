"""The journal as a whole: notes in, lines out, on stderr or in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nevermind.notes import Diverted, Event, Note, Statistics, What
from nevermind.shell.journal import LEVELS, Journal
from nevermind.shell.journal_writer import ROOM
from proxy.shell.slow_pipe import SlowPipe

PATIENCE = 30.0
"""Seconds after which a test gives up; nothing here takes a thousandth of it."""

CANCEL = Note(event=Event.CANCEL, id=1)
DROP = Note(event=Event.DROP, what=What.LATE_PROGRESS, id=1, bytes=10)
FORGET = Note(event=Event.FORGET, why="asked unseen")
HINT = Note(event=Event.HINT, why="another may be meant")


class Stderr(SlowPipe):
    """What stands in for stderr."""

    def lines(self) -> list[str]:
        return self.rest().decode().splitlines()

    def objects(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.lines()]


@pytest.fixture
def stderr() -> Iterator[Stderr]:
    stderr = Stderr()
    yield stderr
    stderr.close()


def journal(
    stderr: Stderr, level: str = "info", format: str = "text", file: str | int | None = None
) -> Journal:
    return Journal(level, format, file, stderr=stderr.sink)


class TestLines:
    def test_one_line_a_note_and_a_summary(self, stderr: Stderr) -> None:
        log = journal(stderr)
        log.write([CANCEL, DROP], now=1.0)
        log.summary(Statistics(forwarded=5, dropped={What.LATE_PROGRESS: 1}, cancelled=1))
        assert log.close(PATIENCE)
        assert stderr.lines() == [
            "nevermind: cancel: id 1",
            "nevermind: drop late-progress: id 1, 10 bytes",
            (
                "nevermind: summary: forwarded 5, dropped 1 (late-progress 1), cancelled 1,"
                " never answered 0"
            ),
        ]

    def test_json_lines_say_when(self, stderr: Stderr) -> None:
        log = journal(stderr, format="json")
        log.write([CANCEL], now=1.0)
        log.summary(Statistics())
        assert log.close(PATIENCE)
        cancel, summary = stderr.objects()
        time = cancel.pop("time")
        assert cancel == {"event": "cancel", "id": 1}
        assert isinstance(time, str)
        assert len(time) == len("2026-11-30T14:47:01.123Z")
        assert summary["event"] == "summary"

    def test_what_cannot_be_spelled_in_utf8_is_written_all_the_same(self, stderr: Stderr) -> None:
        log = journal(stderr)
        log.write([Note(event=Event.CANCEL, id="\ud83d", reason="\udcff")], now=0)
        assert log.close(PATIENCE)
        assert stderr.rest() == b'nevermind: cancel: id "\\ud83d", reason "\\udcff"\n'

    def test_a_session_that_says_nothing_starts_no_thread(self, stderr: Stderr) -> None:
        log = journal(stderr)
        log.write([], now=0)
        assert log.close(0)
        assert stderr.rest() == b""


class TestLevels:
    @pytest.mark.parametrize(
        ("level", "events"),
        [
            ("off", []),
            ("error", ["stop"]),
            ("warning", ["forget", "hint", "stop", "kill"]),
            ("info", ["cancel", "drop", "forget", "hint", "stop", "kill", "summary"]),
            ("debug", ["cancel", "drop", "forget", "hint", "stop", "kill", "start", "summary"]),
        ],
    )
    def test_each_tells_more_than_the_one_before(
        self, stderr: Stderr, level: str, events: list[str]
    ) -> None:
        log = journal(stderr, level, "json")
        log.write([CANCEL, DROP, FORGET, HINT], now=0)
        log.report("error", "stop", "we broke")
        log.report("warning", "kill", "it would not end")
        log.report("debug", "start", "pid 7")
        log.summary(Statistics())
        assert log.close(PATIENCE)
        assert [line["event"] for line in stderr.objects()] == events

    def test_the_table_of_options_offers_these(self) -> None:
        assert LEVELS == ("off", "error", "warning", "info", "debug")


class TestNoise:
    def test_noise_is_written_byte_for_byte_between_the_lines(self, stderr: Stderr) -> None:
        log = journal(stderr)
        log.write([CANCEL, Diverted(b"\xffListening\x1b[0m\r\n"), DROP], now=0)
        assert log.close(PATIENCE)
        first, noise, second, end = stderr.rest().split(b"\n")
        assert first == b"nevermind: cancel: id 1"
        assert noise == b"\xffListening\x1b[0m\r"
        assert second.startswith(b"nevermind: drop")
        assert end == b""

    def test_a_line_of_ours_begins_a_line(self, stderr: Stderr) -> None:
        log = journal(stderr)
        log.write([Diverted(b"no newline"), CANCEL, DROP], now=0)
        assert log.close(PATIENCE)
        assert stderr.lines()[:2] == ["no newline", "nevermind: cancel: id 1"]

    def test_noise_is_no_line_of_the_log(self, stderr: Stderr) -> None:
        log = journal(stderr, "off")
        log.write([Diverted(b"x\n")] * 300, now=0)
        assert log.close(PATIENCE)
        assert stderr.rest() == b"x\n" * 300


class TestTheFile:
    def test_it_takes_the_lines_and_stderr_keeps_the_noise(
        self, stderr: Stderr, tmp_path: Path
    ) -> None:
        path = tmp_path / "log"
        log = journal(stderr, file=str(path))
        log.write([CANCEL, Diverted(b"no newline"), DROP], now=0)
        assert log.close(PATIENCE)
        assert stderr.rest() == b"no newline"
        first, second = path.read_text().splitlines()
        stamp, words = first.split(" ", 1)
        assert words == "nevermind: cancel: id 1"
        assert stamp.endswith("Z")
        assert "nevermind: drop" in second

    def test_it_may_have_been_opened_before(self, stderr: Stderr, tmp_path: Path) -> None:
        path = tmp_path / "log"
        log = journal(stderr, format="json", file=os.open(path, os.O_WRONLY | os.O_CREAT))
        log.write([CANCEL], now=0)
        assert log.close(PATIENCE)
        assert json.loads(path.read_text())["event"] == "cancel"

    def test_it_must_be_there_to_be_opened(self, stderr: Stderr, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            journal(stderr, file=str(tmp_path / "none" / "log"))

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
    def test_when_it_cannot_be_written_stderr_is_told_once(self, stderr: Stderr) -> None:
        log = journal(stderr, file="/dev/full")
        for second in range(3):
            log.write([CANCEL, CANCEL], now=second)
        assert log.close(PATIENCE)
        assert stderr.lines() == ["nevermind: --log-file: No space left on device"]


class TestFloods:
    def test_beyond_a_hundred_a_second_kinds_are_summed_up(self, stderr: Stderr) -> None:
        log = journal(stderr, format="json")
        log.write([DROP] * 1000, now=0)
        log.write([CANCEL], now=1)
        assert log.close(PATIENCE)
        lines = stderr.objects()
        assert [line["event"] for line in lines] == ["drop"] * 101 + ["cancel"]
        assert (lines[100]["count"], lines[100]["bytes"]) == (900, 9000)

    def test_the_sum_is_told_before_the_summary(self, stderr: Stderr) -> None:
        log = journal(stderr, format="json")
        log.write([DROP] * 101, now=0)
        log.summary(Statistics())
        assert log.close(PATIENCE)
        assert [line.get("count") for line in stderr.objects()[-2:]] == [1, None]

    def test_the_sum_is_told_at_the_end(self, stderr: Stderr) -> None:
        log = journal(stderr, format="json")
        log.write([DROP] * 101, now=0)
        assert log.close(PATIENCE)
        assert stderr.objects()[-1]["count"] == 1

    def test_the_sum_is_told_although_nothing_more_happens(
        self, stderr: Stderr, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("nevermind.shell.journal.ALARM", 0)
        log = journal(stderr)
        log.write([DROP] * 101, now=0)
        seen = b""
        while b"1 more" not in seen:  # or the time limit ends the test
            seen += os.read(stderr.source, 65536)
        assert log.close(PATIENCE)


class TestStalledReaders:
    def test_lines_are_lost_and_the_loss_is_told(self, stderr: Stderr) -> None:
        clogged = stderr.clog()
        log = journal(stderr, format="json")
        noise = Diverted(b"x" * 1023 + b"\n")
        log.write([noise] * (ROOM // 1024), now=0)
        log.write([noise, CANCEL, CANCEL], now=1)
        stderr.read(clogged + ROOM)
        log.write([CANCEL], now=2)
        assert log.close(PATIENCE)
        lost, cancel = stderr.objects()
        assert (lost["event"], lost["count"]) == ("lost", 3)
        assert lost["why"] == "whoever reads them was too slow"
        assert cancel["event"] == "cancel"

    def test_what_was_lost_last_is_told_at_the_end(self, stderr: Stderr) -> None:
        clogged = stderr.clog()
        log = journal(stderr, format="json")
        log.write([Diverted(b"x" * (ROOM - 1) + b"\n"), CANCEL], now=0)
        log.summary(Statistics())
        with ThreadPoolExecutor() as pool:
            closed = pool.submit(log.close, PATIENCE)
            stderr.read(clogged + ROOM)
            assert closed.result()
        assert [line["event"] for line in stderr.objects()] == ["summary", "lost"]

    def test_the_end_does_not_wait_for_ever(self, stderr: Stderr) -> None:
        stderr.clog()
        log = journal(stderr)
        log.summary(Statistics())
        assert not log.close(0.01)
        stderr.hang_up()
