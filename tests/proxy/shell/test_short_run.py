"""Runs that are over before the engine is there: what they may be, and how they end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from nevermind.notes import Statistics
from nevermind.shell import prelude as prelude_module
from nevermind.shell.journal_lines import summary_members, text_line
from nevermind.shell.short_run import code_at_the_end, say_summary, tells_nothing
from nevermind.shell.signals import SIGCHLD, SIGTERM, SignalInbox
from nevermind.shell.spawn import ServerProcess
from proxy.shell.in_process import told
from proxy.shell.overture import ANSWER, CANCEL, REQUEST, Overture

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

NOTIFICATION = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


class TestWhatTheEngineWouldNotSpeakOf:
    @pytest.mark.parametrize(
        "lines",
        [
            b"",
            b"\n\r\n",
            REQUEST + NOTIFICATION + ANSWER,
            b'  {"id":1,"error":{"code":1}}\n',
            b"Server listening\n\xff\x00\n",
        ],
    )
    def test_messages_one_by_one_and_noise(self, lines: bytes) -> None:
        assert tells_nothing(lines)

    @pytest.mark.parametrize(
        "line",
        [
            b'[{"id":1,"method":"a"},{"id":2,"method":"b"}]\n',
            b'{"id":1}\n',
            b'{"id":1,"method":"a","result":1}\n',
            b'\xef\xbb\xbf{"id":1,"method":"a"}\n',
            b'ready {"id":1,"method":"a"}\n',
        ],
    )
    def test_what_may_be_several_or_something_else(self, line: bytes) -> None:
        assert not tells_nothing(REQUEST + line)


class TestThePrelude:
    """It goes on after an end, in case that it is the end of all."""

    @pytest.fixture
    def ended(self, monkeypatch: pytest.MonkeyPatch) -> list[ServerProcess]:
        """The server ends with 7; who has been asked about."""
        asked: list[ServerProcess] = []

        def code(server: ServerProcess) -> int:
            asked.append(server)
            return 7

        monkeypatch.setattr(prelude_module, "code_at_the_end", code)
        return asked

    def play(self, overture: Overture, conversation: Callable[[], object]) -> int | None:
        """The code with which ``overture`` ends."""
        prelude = overture.prelude
        in_the_thread = prelude._load
        done = threading.Event()
        self.over = threading.Event()
        failures: list[BaseException] = []

        def load() -> None:
            try:
                conversation()
            except BaseException as error:  # noqa: BLE001 -- raised again below
                failures.append(error)

        def watched(*arguments: Any) -> None:
            in_the_thread(*arguments)
            done.set()

        with mock.patch.object(prelude, "_load", watched):
            code = prelude.play(load, brief=True)
        self.over.set()
        # a run would end here; the stage must stand until the thread has used its last descriptor
        assert done.wait(30)
        with contextlib.suppress(FileExistsError):
            # the stage's own pump takes it down, and knew it before it was let go of
            overture.stage.pump.readiness.add(overture.stage.server_stdin.sink, 0)
        if failures:
            raise failures[0]
        return code

    def dies(self, overture: Overture) -> None:
        """The server ends, and its signal comes; the engine is not there yet."""
        overture.stage.server_stdout.close_sink()
        os.kill(os.getpid(), SIGCHLD)

    def test_the_host_ends_and_then_the_server(
        self, overture: Overture, ended: list[ServerProcess]
    ) -> None:
        def conversation() -> None:
            overture.question_and_answer()
            overture.stage.host_stdin.close_sink()
            overture.server_hears_the_end()
            overture.server_says(ANSWER)
            overture.host_hears(ANSWER)
            self.dies(overture)
            assert self.over.wait(30), "the engine was waited for"

        assert self.play(overture, conversation) == 7
        assert [server.pid for server in ended] == [0]
        assert overture.prelude.lines == 3

    def test_the_server_ends_by_itself(
        self, overture: Overture, ended: list[ServerProcess]
    ) -> None:
        """What it had left in its pipe is read first."""

        def conversation() -> None:
            overture.server_says(NOTIFICATION)
            self.dies(overture)
            overture.host_hears(NOTIFICATION)
            assert self.over.wait(30), "the engine was waited for"

        assert self.play(overture, conversation) == 7
        assert overture.prelude.lines == 1

    @pytest.mark.parametrize("said", [CANCEL, b'{"id":1}\n', b"[]\n", b"no line end"])
    def test_not_if_the_engine_has_to_hear_something(
        self, overture: Overture, ended: list[ServerProcess], said: bytes
    ) -> None:
        def conversation() -> None:
            overture.host_says(said)
            overture.until_taken(overture.stage.host_stdin)
            overture.stage.host_stdin.close_sink()
            self.dies(overture)

        assert self.play(overture, conversation) is None
        assert ended == []
        assert b"".join(piece.data for piece in overture.prelude.heard) == said

    def test_not_if_another_signal_came(
        self, overture: Overture, ended: list[ServerProcess]
    ) -> None:
        def conversation() -> None:
            overture.stage.server_stdout.close_sink()
            os.kill(os.getpid(), SIGTERM)
            os.kill(os.getpid(), SIGCHLD)

        assert self.play(overture, conversation) is None
        assert ended == []

    def test_not_while_something_holds_its_output(
        self, overture: Overture, ended: list[ServerProcess]
    ) -> None:
        """A helper of the server's may go on writing; half a line is kept for the engine."""

        def conversation() -> None:
            overture.server_says(ANSWER + b"half")
            os.kill(os.getpid(), SIGCHLD)
            overture.host_hears(ANSWER)

        assert self.play(overture, conversation) is None
        assert ended == []
        assert b"".join(piece.data for piece in overture.prelude.heard) == ANSWER + b"half"

    def test_not_if_nobody_asked_for_it(
        self, overture: Overture, ended: list[ServerProcess]
    ) -> None:
        """The log has to say more than a line."""

        def conversation() -> None:
            overture.stage.host_stdin.close_sink()
            self.dies(overture)

        overture.play(conversation)
        assert ended == []


@linux_only
class TestTheServer:
    """Real children, of a process apart."""

    PROLOGUE = """
        import json, os, sys, time
        from nevermind.shell.short_run import code_at_the_end
        from nevermind.shell.spawn import start
        server = start(["sh", "-c", sys.argv[1]])
        time.sleep(0.3)
        print(json.dumps([code_at_the_end(server), code_at_the_end(server)]))
        """

    @pytest.mark.parametrize(
        ("script", "code"),
        [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("exec sleep 5", None)],
    )
    def test_its_code_once_it_has_ended(self, script: str, code: int | None) -> None:
        assert told(self.PROLOGUE, script) == [code, None]

    def test_not_while_a_helper_is_left(self) -> None:
        """The engine knows what to do about it."""
        assert told(self.PROLOGUE, "sleep 5 & exit 3") == [None, None]

    def test_where_children_cannot_be_known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def nothing(_path: str) -> list[str]:
            raise FileNotFoundError

        monkeypatch.setattr(os, "listdir", nothing)
        signals = SignalInbox()
        assert code_at_the_end(ServerProcess(1, -1, -1, signals)) is None
        signals.release()


class TestTheSummary:
    def test_it_is_written_if_there_is_room(self) -> None:
        script = "from nevermind.shell.short_run import say_summary\nsay_summary(3)"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert done.stderr == text_line(summary_members(Statistics(forwarded=3)), None) + "\n"

    def test_a_reader_that_is_gone_or_stuck_holds_nobody(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuses(_fd: int, _data: bytes) -> int:
            raise BrokenPipeError

        monkeypatch.setattr(os, "write", refuses)
        say_summary(3)
