"""A stage without its pump, on which the prelude plays."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.prelude import Prelude
from nevermind.shell.signals import SignalInbox
from nevermind.shell.spawn import ServerProcess
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

    def until_taken(self, pipe: Pipe) -> None:
        """Wait until nothing of what was written to ``pipe`` is left in it."""
        for _ in range(30_000):
            if not select.select([pipe.source], [], [], 0)[0]:
                return
            select.select([], [], [], 0.001)
        raise AssertionError("nobody reads it")

    def server_hears_the_end(self) -> None:
        source = self.stage.server_stdin.source
        assert select.select([source], [], [], 30)[0], "no end came"
        assert os.read(source, 1) == b""

    def host_hears(self, data: bytes) -> None:
        self.expect(self.stage.host_stdout, data)

    def question_and_answer(self) -> None:
        """A conversation in which nothing matters."""
        self.host_says(REQUEST)
        self.server_hears(REQUEST)
        self.server_says(ANSWER)
        self.host_hears(ANSWER)

    def until_heard(self, *pieces: tuple[int, bytes, int]) -> None:
        """Wait until this is what was heard: what is kept is only there when it is over."""
        for _ in range(30_000):
            if self.heard() == list(pieces):
                return
            select.select([], [], [], 0.001)
        raise AssertionError(f"heard {self.heard()}")

    def heard(self) -> list[tuple[int, bytes, int]]:
        return [(piece.way, piece.data, piece.sent) for piece in self.prelude.heard]
