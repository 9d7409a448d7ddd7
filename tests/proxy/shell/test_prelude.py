"""The prelude: what passes before the engine is there, and how the engine hears of it.

What is "being imported" meanwhile is the test's own conversation: it runs in the thread
that the prelude gives to the import.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nevermind.peers import Peer
from nevermind.session import Session
from nevermind.shell.descriptors import CHUNK, Sink, Source
from nevermind.shell.prelude import DOWN, UP, Heard, Prelude
from nevermind.shell.signals import SIGTERM, SignalInbox
from nevermind.shell.spawn import ServerProcess
from proxy.shell.in_process import told
from proxy.shell.stage import Pipe, Stage

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
CANCEL = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'


class Overture:
    """A stage without its pump: the prelude plays on the same pipes."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.signals = SignalInbox()
        self.prelude = Prelude(
            ServerProcess(
                0, self.stage.server_stdin.sink, self.stage.server_stdout.source, self.signals
            ),
            (Source(self.stage.host_stdin.source), Sink(self.stage.host_stdout.sink)),
        )

    def play(self, conversation: Callable[[], object], *, carry: bool = True) -> None:
        """Carry the bytes of ``conversation``, which fails the test if it fails."""
        failures: list[BaseException] = []

        def guarded() -> None:
            try:
                conversation()
            except BaseException as error:  # noqa: BLE001 -- raised again below
                failures.append(error)

        self.prelude.play(guarded, carry=carry)
        if failures:
            raise failures[0]

    def says(self, pipe: Pipe, data: bytes) -> None:
        os.write(pipe.sink, data)

    def expect(self, pipe: Pipe, data: bytes) -> None:
        """Exactly ``data`` arrives at the far end of ``pipe``."""
        received = b""
        while len(received) < len(data):
            assert select.select([pipe.source], [], [], 30)[0], f"only {received!r} came"
            received += os.read(pipe.source, len(data) - len(received))
        assert received == data

    def host_says(self, data: bytes) -> None:
        self.says(self.stage.host_stdin, data)

    def server_says(self, data: bytes) -> None:
        self.says(self.stage.server_stdout, data)

    def server_hears(self, data: bytes) -> None:
        self.expect(self.stage.server_stdin, data)

    def host_hears(self, data: bytes) -> None:
        self.expect(self.stage.host_stdout, data)

    def until_heard(self, *pieces: tuple[int, bytes, int]) -> None:
        """Wait until this is what was heard: what is kept is only there when it is over."""
        for _ in range(30_000):
            if self.heard() == list(pieces):
                return
            select.select([], [], [], 0.001)
        raise AssertionError(f"heard {self.heard()}")

    def heard(self) -> list[tuple[int, bytes, int]]:
        return [(piece.way, piece.data, piece.sent) for piece in self.prelude.heard]


@pytest.fixture
def overture() -> Iterator[Overture]:
    overture = Overture()
    yield overture
    overture.signals.release()


class TestWhatPasses:
    def test_whole_lines_pass_at_once_and_are_remembered(self, overture: Overture) -> None:
        def conversation() -> None:
            overture.host_says(REQUEST)
            overture.server_hears(REQUEST)
            overture.server_says(ANSWER)
            overture.host_hears(ANSWER)

        overture.play(conversation)
        assert overture.heard() == [
            (UP, REQUEST, len(REQUEST)),
            (DOWN, ANSWER, len(ANSWER)),
        ]

    def test_the_time_is_that_of_the_reading(self, overture: Overture) -> None:
        def conversation() -> None:
            overture.host_says(REQUEST)
            overture.server_hears(REQUEST)
            overture.server_says(ANSWER)
            overture.host_hears(ANSWER)

        overture.play(conversation)
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


class TestHowTheEngineHears:
    def recall(self, *heard: Heard) -> Stage:
        stage = Stage()
        stage.pump.recall(heard)
        return stage

    def test_in_the_same_order_and_with_its_times(self) -> None:
        stage = self.recall(
            Heard(UP, REQUEST, 1.0, len(REQUEST)), Heard(DOWN, ANSWER, 2.0, len(ANSWER))
        )
        assert stage.session.heard == [
            (Peer.CLIENT, REQUEST, 1.0),
            (Peer.SERVER, ANSWER, 2.0),
        ]
        assert stage.pump.heard_server

    def test_nothing_is_sent_twice_and_nothing_is_lost(self) -> None:
        stage = self.recall(
            Heard(UP, b"sent\n", 1.0, 5), Heard(UP, b"half sent\n", 2.0, 4), Heard(UP, b"rest", 3.0)
        )
        assert stage.server_reads() == b" sent\nrest"

    def test_an_end_is_an_end(self) -> None:
        stage = self.recall(Heard(UP, b"rest", 1.0), Heard(UP, b"", 2.0))
        stage.settle()
        assert stage.server_reads() == b"rest"
        assert stage.server_reads() is None

    def test_a_cancel_after_the_prelude_finds_its_request(self) -> None:
        """The real session: the late answer is dropped though the request was never judged."""
        session = Session()
        stage = Stage(session=session)
        stage.pump.recall([Heard(UP, REQUEST.replace(b"initialize", b"a"), 1.0, len(REQUEST) - 9)])
        stage.host_writes(CANCEL)
        assert stage.server_reads() == CANCEL
        stage.server_writes(ANSWER)
        assert stage.host_reads() == b""

    def test_an_answer_that_was_sent_is_not_taken_back(self) -> None:
        """A cancel that follows in the same prelude came too late for it."""
        request = REQUEST.replace(b"initialize", b"a")
        session = Session()
        stage = Stage(session=session)
        stage.pump.recall(
            [
                Heard(UP, request, 1.0, len(request)),
                Heard(DOWN, ANSWER, 2.0, len(ANSWER)),
                Heard(UP, CANCEL, 3.0),
            ]
        )
        stage.server_writes(ANSWER.replace(b":1", b":2"))
        assert stage.host_reads() == ANSWER.replace(b":1", b":2")
        assert stage.server_reads() == b""


def message(text: str) -> bytes:
    return b'{"jsonrpc":"2.0",' + text.encode() + b"}\n"


CONVERSATION = [
    (UP, message('"id":0,"method":"initialize"')),
    (DOWN, b"Server listening\n"),
    (DOWN, message('"id":0,"result":{}')),
    (UP, message('"method":"notifications/initialized"')),
    (UP, message('"id":1,"method":"tools/call"') + message('"id":2,"method":"tools/call"')),
    (DOWN, message('"id":1,"method":"roots/list"')),
    (DOWN, message('"id":2,"result":{"content":[]}')),
    (UP, message('"method":"notifications/cancelled","params":{"requestId":2}')),
    (UP, message('"method":"notifications/cancelled","params":{"requestId":1}')),
    (UP, message('"id":1,"result":{"roots":[]}')),
    (DOWN, message('"id":1,"result":{"content":[]}')),
    (UP, message('"id":3,"method":"tools/call"')),
    (DOWN, message('"id":3,"result":{"content":[]}')),
]
"""The cancels of 2 (answered) and the late answer to 1 are what a session holds back."""


@pytest.mark.parametrize("pieces", range(len(CONVERSATION)))
def test_the_outcome_is_the_same_however_long_the_prelude_was(
    overture: Overture, pieces: int
) -> None:
    """Until the first cancel the prelude passes on, from then on the pump decides."""
    stage = overture.stage = Stage(session=Session())
    overture.prelude = Prelude(
        ServerProcess(0, stage.server_stdin.sink, stage.server_stdout.source, overture.signals),
        (Source(stage.host_stdin.source), Sink(stage.host_stdout.sink)),
    )
    heard = {UP: b"", DOWN: b""}
    far = {UP: stage.server_stdin, DOWN: stage.host_stdout}
    near = {UP: stage.host_stdin, DOWN: stage.server_stdout}
    to_say = list(CONVERSATION)

    def conversation() -> None:
        for _ in range(pieces):
            way, data = to_say.pop(0)
            overture.says(near[way], data)
            if b"cancel" in data:
                return
            overture.expect(far[way], data)
            heard[way] += data

    overture.play(conversation)
    stage.pump.recall(overture.prelude.heard)
    stage.settle()
    for way, data in to_say:
        os.write(near[way].sink, data)
        stage.settle()
    for way in (UP, DOWN):
        heard[way] += far[way].read() or b""
    assert heard[UP] == b"".join(
        data for way, data in CONVERSATION if way == UP and b'"requestId":2' not in data
    )
    late = CONVERSATION[10][1]
    assert heard[DOWN] == b"".join(
        data for way, data in CONVERSATION if way == DOWN and data != late
    )


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
        f"nevermind.shell{name}"
        for name in ("", ".descriptors", ".linux", ".prelude", ".readiness", ".signals", ".spawn")
    }
