"""A host that starts the relay with a server behind it, as real processes.

``Host`` has both ends of its pipes; servers are a few lines of Python.  Whatever is still
there at the end of a test is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

RELAY = """
import sys
from nevermind.shell.spawn import start
server = start(sys.argv[1:])
{first}
from nevermind.shell.prelude import Prelude
def load():
    from nevermind.shell import options, relay
prelude = Prelude(server)
prelude.play(load)
from nevermind.shell import relay
from nevermind.shell.options import RunOptions
{preparation}
options = RunOptions(command=tuple(sys.argv[1:]), grace={grace}, log_level="off")
relay.run(options, server, prelude)
"""

ECHO = """
import os
while data := os.read(0, 65536):
    os.write(1, data)
"""

PATIENCE = 30.0
"""Seconds for anything at all on a busy machine; only a failing test waits that long."""


def line(**message: object) -> bytes:
    """One message with its newline, as peers write it."""
    import json

    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def python_server(script: str) -> list[str]:
    """The command of a server that is ``script``."""
    return [sys.executable, "-c", textwrap.dedent(script)]


def is_gone(pid: int) -> bool:
    """Whether the process has ended, collected or not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def until_gone(pid: int) -> None:
    """Wait for the end of a process that is not our child."""
    end = time.monotonic() + PATIENCE
    while not is_gone(pid):
        assert time.monotonic() < end, f"process {pid} is still there"
        time.sleep(0.01)


class Host:
    """The relay with ``server`` behind it, in a session of its own.

    ``first`` is run in the relay's process as soon as the server is started, ``preparation``
    before the relay proper takes over; ``wrapper`` is a command that starts it in its turn.
    ``stdin``, ``stdout`` and ``stderr`` are as in ``Popen``.
    """

    def __init__(
        self,
        server: Sequence[str] | str,
        *,
        grace: float = 5.0,
        first: str = "",
        preparation: str = "",
        wrapper: Sequence[str] = (),
        **popen: Any,
    ) -> None:
        command = python_server(server) if isinstance(server, str) else list(server)
        relay = RELAY.format(
            first=textwrap.dedent(first), preparation=textwrap.dedent(preparation), grace=grace
        )
        popen = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "start_new_session": True,
        } | popen
        process = subprocess.Popen(
            [*wrapper, sys.executable, "-c", relay, *command], bufsize=0, **popen
        )
        self.process = cast("subprocess.Popen[bytes]", process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    @property
    def stdin(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def writes(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self.stdin.write(view) :]

    def closes_stdin(self) -> None:
        self.stdin.close()

    def writes_all_and_closes(self, data: bytes) -> None:
        self.writes(data)
        self.closes_stdin()

    def said_on_stderr(self) -> bytes:
        """All of it, once everyone has closed it."""
        assert self.process.stderr is not None
        return self.process.stderr.read()

    def reads(self, count: int) -> bytes:
        """Exactly ``count`` bytes."""
        data = bytearray()
        while len(data) < count:
            piece = self.stdout.read(count - len(data))
            assert piece, f"the end came after {len(data)} bytes of {count}"
            data += piece
        return bytes(data)

    def reads_line(self) -> bytes:
        data = bytearray()
        while not data.endswith(b"\n"):
            data += self.reads(1)
        return bytes(data)

    def reads_to_the_end(self) -> bytes:
        data = bytearray()
        while piece := self.stdout.read(65536):
            data += piece
        return bytes(data)

    def signals(self, number: int) -> None:
        self.process.send_signal(number)

    def code(self) -> int:
        """The relay's exit code, once it has ended."""
        return self.process.wait(PATIENCE)
