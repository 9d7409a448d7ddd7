"""How the engine hears of what passed in the prelude: all ends alike, however long that was."""

from __future__ import annotations

import os

import pytest

from nevermind.peers import Peer
from nevermind.session import Session
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.prelude import DOWN, UP, Heard, Prelude
from nevermind.shell.spawn import ServerProcess
from proxy.shell.overture import ANSWER, CANCEL, REQUEST, Overture
from proxy.shell.stage import Stage


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
