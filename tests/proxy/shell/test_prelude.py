"""The prelude: what passes before the engine is there, and what ends it.

What is "being imported" meanwhile is the test's own conversation: it runs in the thread
that the prelude gives to the import.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from pathlib import Path

import pytest

from nevermind.shell.descriptors import CHUNK, Sink, Source
from nevermind.shell.prelude import DOWN, LIVELY, UP, Prelude
from nevermind.shell.signals import SIGTERM, SignalInbox
from nevermind.shell.spawn import ServerProcess
from proxy.shell.in_process import told
from proxy.shell.overture import ANSWER, CANCEL, REQUEST, Overture
from proxy.shell.stage import Stage

NEEDED = ("descriptors", "linux", "prelude", "readiness", "short_run", "signals", "spawn")


class TestWhatPasses:
    def test_whole_lines_pass_at_once_and_are_remembered(self, overture: Overture) -> None:
        overture.play(overture.question_and_answer)
        assert overture.heard() == [
            (UP, REQUEST, len(REQUEST)),
            (DOWN, ANSWER, len(ANSWER)),
        ]

    def test_the_time_is_that_of_the_reading(self, overture: Overture) -> None:
        overture.play(overture.question_and_answer)
        first, second = overture.prelude.heard
        assert 0 < first.now <= second.now

    def test_a_line_passes_when_it_is_whole(self, overture: Overture) -> None:
        def conversation() -> None:
            overture.host_says(b"\n" + REQUEST[:10])
            overture.server_hears(b"\n")
            overture.host_says(REQUEST[10:] + b"rest")
            overture.server_hears(REQUEST)

        overture.play(conversation)
        assert overture.heard() == [
            (UP, b"\n", 1),
            (UP, REQUEST, len(REQUEST)),
            (UP, b"rest", 0),
        ]

    def test_noise_passes(self, overture: Overture) -> None:
        def conversation() -> None:
            overture.server_says(b"Server listening\n\xff\x00\n")
            overture.host_hears(b"Server listening\n\xff\x00\n")

        overture.play(conversation)

    def test_what_there_was_no_room_for_is_left_to_the_pump(self, overture: Overture) -> None:
        filled = overture.stage.server_stdin.fill()

        def conversation() -> None:
            overture.host_says(REQUEST)
            overture.until_heard((UP, REQUEST, 0))

        overture.play(conversation)
        assert overture.stage.server_stdin.read() == b"#" * filled


class TestWhatEndsIt:
    """From the first byte that may matter on, everything waits for the engine."""

    @pytest.mark.parametrize(
        "line",
        [
            CANCEL,
            CANCEL.replace(b"/", b"\\/"),
            CANCEL.replace(b"c", b"\\u0063"),
            b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}\n',
            b"CONTENT-Length: 2\r\n\r\n{}",
            b"x" * (CHUNK + 1),
        ],
    )
    @pytest.mark.parametrize("way", [UP, DOWN])
    def test_a_word_that_matters(self, overture: Overture, line: bytes, way: int) -> None:
        def conversation() -> None:
            overture.host_says(REQUEST)
            overture.server_hears(REQUEST)
            pipe = overture.stage.host_stdin if way == UP else overture.stage.server_stdout
            view = memoryview(line)
            while view:
                assert select.select([], [pipe.sink], [], 30)[1]
                view = view[os.write(pipe.sink, view) :]
            overture.until_heard((UP, REQUEST, len(REQUEST)), (way, line, 0))

        overture.play(conversation)

    def test_a_word_that_is_cut_in_two(self, overture: Overture) -> None:
        def conversation() -> None:
            overture.host_says(REQUEST + CANCEL[:45])
            overture.server_hears(REQUEST)
            overture.host_says(CANCEL[45:])
            overture.until_heard((UP, REQUEST, len(REQUEST)), (UP, CANCEL, 0))

        overture.play(conversation)

    def test_the_end_of_a_peer_comes_after_its_rest(self, overture: Overture) -> None:
        def conversation() -> None:
            overture.host_says(b"rest")
            overture.stage.host_stdin.close_sink()
            overture.until_heard((UP, b"rest", 0), (UP, b"", 0))

        overture.play(conversation)

    def test_a_reader_that_is_gone(self, overture: Overture) -> None:
        overture.stage.host_stdout.close_source()

        def conversation() -> None:
            overture.server_says(ANSWER)
            overture.until_heard((DOWN, ANSWER, 0))

        overture.play(conversation)

    def test_a_lively_conversation(self, overture: Overture) -> None:
        """Sharing the interpreter with the import would slow down both."""

        def conversation() -> None:
            for _ in range(LIVELY // 2):
                overture.question_and_answer()
            overture.host_says(REQUEST)

        overture.play(conversation)
        assert len(overture.heard()) == LIVELY
        assert overture.stage.host_stdin.read() == REQUEST

    def test_a_signal_waits_for_the_pump(self, overture: Overture) -> None:
        def conversation() -> None:
            overture.host_says(b"\nrest")
            overture.server_hears(b"\n")
            os.kill(os.getpid(), SIGTERM)
            overture.until_heard((UP, b"\n", 1), (UP, b"rest", 0))

        overture.play(conversation)
        assert select.select([overture.signals.fd], [], [], 0)[0]
        assert overture.signals.take() == [SIGTERM]

    def test_afterwards_all_is_as_before(self, overture: Overture) -> None:
        interval = sys.getswitchinterval()
        overture.play(lambda: None)
        assert sys.getswitchinterval() == interval
        assert signal.set_wakeup_fd(-1) == -1


class TestWhereItIsNotPlayed:
    def test_where_something_might_be_held_back_without_a_cancel(self, overture: Overture) -> None:
        """``--shield``, ``--noise drop``, another dialect."""
        threads: list[threading.Thread] = []
        overture.host_says(REQUEST)
        overture.play(lambda: threads.append(threading.current_thread()), carry=False)
        assert threads == [threading.main_thread()]
        assert overture.heard() == []

    def test_where_a_descriptor_cannot_be_polled(self, tmp_path: Path) -> None:
        (tmp_path / "in").write_bytes(REQUEST)
        fd = os.open(tmp_path / "in", os.O_RDONLY)
        server = Stage()
        signals = SignalInbox()
        prelude = Prelude(
            ServerProcess(0, server.server_stdin.sink, server.server_stdout.source, signals),
            (Source(fd, pollable=False), Sink(server.host_stdout.sink)),
        )
        loaded: list[bool] = []
        prelude.play(lambda: loaded.append(True))
        signals.release()
        assert loaded == [True]
        assert prelude.heard == []


def test_next_to_nothing_is_imported_for_it() -> None:
    """Each of these would delay the first message; the engine comes meanwhile."""
    modules = told(
        """
        import json, sys
        before = set(sys.modules)
        import nevermind.shell.prelude
        print(json.dumps(sorted(set(sys.modules) - before)))
        """
    )
    slow = {"enum", "typing", "dataclasses", "re", "functools", "collections", "threading", "trio"}
    assert slow.isdisjoint(modules)
    assert not {name for name in modules if name.startswith("nevermind.")} - {
        f"nevermind.shell{name}" for name in ["", *(f".{name}" for name in NEEDED)]
    }
