"""One run of the proxy with a scripted server behind it: its processes, pipes and orderly end.

Knows how to start, wait, fail and clean up; ``conversation`` has the words for what is said.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

from e2e.harness.journal import Journal
from e2e.harness.messages import Wire, encode
from e2e.harness.processes import is_gone
from e2e.harness.proxy_command import ProxyCommand, nevermind
from e2e.harness.pump import Inbox, Pump
from e2e.harness.server_link import ServerLink

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

PATIENCE = 20.0
"""Seconds that anything may take on a busy machine; only a failing test waits that long."""

SCRIPTED_SERVER = Path(__file__).with_name("scripted_server.py")


class ConversationError(AssertionError):
    """The conversation went another way than the test says."""


@dataclass(frozen=True, slots=True)
class Server:
    """How the scripted server is started."""

    stays: bool = False
    """It lives on after the end of its stdin."""
    ignores: tuple[str, ...] = ()
    """Signals that it reports but survives."""
    arguments: tuple[str, ...] = ()
    behind_shell: bool = False
    """A shell waits for it, as launchers written in sh do."""

    def command(self, control: str) -> list[str]:
        words = [sys.executable, str(SCRIPTED_SERVER)]
        if self.stays:
            words.append("--stays")
        for name in self.ignores:
            words += ["--ignores", name]
        words += [control, *self.arguments]
        if self.behind_shell:
            return ["sh", "-c", shlex.join(words) + "; exit $?"]
        return words


@dataclass
class Stage:
    """Use as a context manager; leaving it checks the orderly end."""

    options: tuple[str, ...] = ()
    server: Server = Server()
    proxy: ProxyCommand = field(default_factory=nevermind)
    log_format: str = "json"
    environment: dict[str, str] = field(default_factory=dict)
    folder: str | None = None
    patience: float = PATIENCE
    launcher: tuple[str, ...] = ()
    """A command that starts the proxy for us; the proxy then leads no process group."""
    leftovers: bool = False
    """Bytes that no step asked for are no failure."""

    def __enter__(self) -> Self:
        self._said: list[str] = []
        self._pump = Pump()
        self.journal = Journal()
        self._at_client = Inbox()
        self._client_closed = False
        self._folder = tempfile.TemporaryDirectory(prefix="nv")
        control = os.path.join(self._folder.name, "c")
        self.link = ServerLink(control, self._pump)
        options = self.options
        if self.log_format != "text":
            options = ("--log-format", self.log_format, *options)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NEVERMIND_")}
        self.process = subprocess.Popen(
            [*self.launcher, *self.proxy.line(options, self.server.command(control))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment | self.environment,
            cwd=self.folder,
            start_new_session=True,
            bufsize=0,
        )
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._to_proxy = self._pump.channel(os.dup(stdin.fileno()))
        self._from_proxy = self._pump.channel(
            os.dup(stdout.fileno()), self._at_client.feed, self._at_client.end
        )
        self._stderr = self._pump.channel(os.dup(stderr.fileno()), self.journal.feed)
        for pipe in (stdin, stdout, stderr):
            pipe.close()
        try:
            self._wait(
                lambda: self.link.hello is not None or self._has_exited(), "start the server"
            )
            if self.link.hello is None:
                self._fail(f"the proxy exited with {self.process.returncode} and started no server")
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._finish()
        finally:
            self._tear_down()

    def client_closes(self) -> None:
        self._note("client closes")
        self._client_closed = True
        self._to_proxy.close()

    @property
    def proxy_pid(self) -> int:
        """The proxy's process, also where a launcher stands before it."""
        if not self.launcher:
            return self.process.pid
        assert self.link.hello is not None
        return int(self.link.hello["parent"])

    def _has_exited(self) -> bool:
        return self.process.poll() is not None

    def _wait(self, until: Callable[[], bool], to: str) -> None:
        if not self._pump.run(until, self.patience):
            self._fail(f"the proxy did not {to} in {self.patience} s")

    def _finish(self) -> None:
        """The host closes, the server ends, and nobody has received more than was said."""
        self._from_proxy.resume()
        if not self._client_closed and not self._has_exited():
            self.link.tell("say-done")
            self._wait(lambda: self.link.saw("done") or self._has_exited(), "take the last words")
            self.client_closes()
        if self.server.stays:
            self.link.tell("exit", code=0)
        self._wait(self._has_exited, "exit after the client had closed")
        self._pump.drain()
        if b"Traceback" in self.journal.data:
            self._fail("there is a traceback on stderr")
        if not self.leftovers:
            for who, inbox in (("client", self._at_client), ("server", self.link.inbox)):
                if inbox.data:
                    self._fail(f"the {who} has received more than it should: {show(inbox.data)}")

    def _tear_down(self) -> None:
        pids = [self.process.pid, *self.link.helpers]
        if self.link.hello is not None:
            pids += [self.link.hello["pid"], self.proxy_pid]
        for pid in pids:
            if not is_gone(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.link.close()
        self._pump.close()
        self._folder.cleanup()

    def _note(self, what: str, message: Wire | None = None) -> None:
        self._said.append(what if message is None else f"{what:17} {show(encode(message))}")

    def _fail(self, why: str) -> NoReturn:
        self._pump.drain()
        said = "\n  ".join(self._said)
        stderr = self.journal.data[-2000:].decode("utf-8", "replace")
        raise ConversationError(f"{why}\nThe conversation:\n  {said}\nstderr:\n{stderr}")


def show(data: bytes | bytearray, limit: int = 200) -> str:
    """Bytes for people: cut when long."""
    cut = f"… ({len(data)} bytes)" if len(data) > limit else ""
    return repr(bytes(data[:limit]))[1:] + cut
