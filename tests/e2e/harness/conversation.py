"""A host and a server that say what a test tells them, with the real proxy between the two.

A test is a conversation: who sends what, and what the other side receives next, byte for byte.
Whatever else reaches a side is a failure, at the latest when the conversation ends.  A failure
shows the conversation so far and what the proxy said.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, NoReturn

from e2e.harness.messages import ROOTS_CHANGED, Wire, encode, log_message
from e2e.harness.processes import is_gone, is_there
from e2e.harness.stage import Stage, show

if TYPE_CHECKING:
    from e2e.harness.pump import Inbox

STILL = 0.5
"""Seconds without a byte after which nothing more is taken to be on its way."""


class Conversation(Stage):
    """What the two ends say and see, in the words of a test."""

    # ------------------------------------------------------------------ what is said

    def client_sends(self, *messages: Wire) -> None:
        for message in messages:
            self._note("client sends", message)
            self._to_proxy.send(encode(message))

    def server_sends(self, *messages: Wire) -> None:
        for message in messages:
            self._note("server sends", message)
            self.link.write(1, encode(message))

    def client_receives(self, *messages: Wire) -> None:
        """The very next bytes at the client are these, in this order."""
        for message in messages:
            self._note("client receives", message)
            self._receive(self._at_client, "client", encode(message))

    def server_receives(self, *messages: Wire) -> None:
        """The very next bytes at the server are these, in this order."""
        for message in messages:
            self._note("server receives", message)
            self._receive(self.link.inbox, "server", encode(message))

    def passes_to_server(self, *messages: Wire) -> None:
        """The client sends each; the server receives the same bytes before the next is sent."""
        for message in messages:
            self.client_sends(message)
            self.server_receives(message)

    def passes_to_client(self, *messages: Wire) -> None:
        """The server sends each; the client receives the same bytes before the next is sent."""
        for message in messages:
            self.server_sends(message)
            self.client_receives(message)

    def never_reaches_client(self, *messages: Wire) -> None:
        """The server sends all; what the client receives next is what was sent after them."""
        self.server_sends(*messages)
        self.passes_to_client(log_message())

    def never_reaches_server(self, *messages: Wire) -> None:
        """The client sends all; what the server receives next is what was sent after them."""
        self.client_sends(*messages)
        self.passes_to_server(ROOTS_CHANGED)

    def line_at_server(self) -> bytes:
        """Take the next line that reaches the server, without its newline."""
        return self._line(self.link.inbox, "server")

    def line_at_client(self) -> bytes:
        """Take the next line that reaches the client, without its newline."""
        return self._line(self._at_client, "client")

    # ------------------------------------------------------------------ ends and signals

    def client_stops_reading(self) -> None:
        self._note("client stops reading")
        self._from_proxy.pause()

    def client_reads_on(self) -> None:
        self._note("client reads on")
        self._from_proxy.resume()

    def client_closes_its_reading_end(self) -> None:
        """What a host does that forgets its server without closing the other pipe."""
        self._note("client closes its reading end")
        self._from_proxy.abandon()

    def client_sees_end(self) -> None:
        self._note("client sees the end of the proxy's output")
        self._ends(self._at_client, "client")

    def server_sees_end(self) -> None:
        self._note("server sees the end of its input")
        self._ends(self.link.inbox, "server")

    def server_got_signal(self, name: str) -> None:
        self._note(f"server gets {name}")
        self._wait(lambda: name in self.link.signals, f"hand {name} to the server")

    def proxy_gets_signal(self, name: str) -> None:
        self._note(f"proxy gets {name}")
        os.kill(self.proxy_pid, signal.Signals[name])

    def group_gets_signal(self, name: str) -> None:
        """The host signals the process group that it has made for the proxy."""
        self._note(f"process group gets {name}")
        os.killpg(self.process.pid, signal.Signals[name])

    def host_is_killed(self) -> None:
        """Where the host is a process of its own: it ends without closing anything."""
        self._note("host is killed")
        self.process.kill()
        self.process.wait()

    def server_exits(self, code: int) -> None:
        """The server ends once it has written what it was told to write."""
        self._note(f"server exits with {code}")
        self.link.tell("exit", code=code)

    def server_dies_of(self, name: str) -> None:
        self._note(f"server dies of {name}")
        self.link.tell("die", signal=name)

    def server_closes_stdout(self) -> None:
        self._note("server closes its stdout")
        self.link.tell("close-stdout")

    def server_writes_stderr(self, text: bytes | str) -> None:
        self._note("server writes to stderr")
        self.link.write(2, text.encode() if isinstance(text, str) else text)

    def server_stops_reading(self) -> None:
        self._note("server stops reading")
        self.link.tell("pause")
        self._wait(lambda: self.link.saw("paused"), "let the server pause")

    def server_reads_on(self) -> None:
        self._note("server reads on")
        self.link.tell("resume")

    def proxy_exits_by(self, name: str) -> None:
        """What stands in the proxy's place dies of this signal, as only a plain pipe does."""
        self.proxy_exits(-signal.Signals[name])

    def proxy_exits(self, *codes: int) -> None:
        """The proxy ends by itself, with one of these codes (a negative one: of that signal)."""
        self._note(f"proxy exits with {' or '.join(map(str, codes))}")
        self._wait(self._has_exited, "exit")
        self._pump.drain()
        if self.process.returncode not in codes:
            self._fail(f"the proxy exited with {self.process.returncode}")

    def is_gone(self, pid: int, who: str) -> None:
        self._note(f"{who} (process {pid}) is gone")
        self._wait(lambda: is_gone(pid), f"end the {who}")

    def server_is_gone(self) -> None:
        self.is_gone(self.hello["pid"], "server")

    def helper_starts(self, *, ignores: tuple[str, ...] = (), holds_pipe: bool = True) -> int:
        """The server starts a process of its own; its process id."""
        self._note("server starts a helper")
        count = len(self.link.helpers)
        self.link.tell("helper", ignores=list(ignores), holds_pipe=holds_pipe)
        self._wait(lambda: len(self.link.helpers) > count, "let the server start a helper")
        return self.link.helpers[-1]

    def orphan_starts(self) -> int:
        """A process that the server has started through another loses its parent; its id."""
        self._note("server leaves an orphan")
        self.link.tell("orphan")
        self._wait(lambda: self.link.saw("orphan"), "let the server leave an orphan")
        return int(self.link.last("orphan")["pid"])

    def is_reaped(self, pid: int) -> None:
        """The process has ended and not even its exit status is left."""
        self._note(f"process {pid} is reaped")
        self._wait(lambda: not is_there(pid), f"reap process {pid}")

    def nothing_moves(self) -> None:
        """For what must not happen although nobody says anything more."""
        self._note("nothing moves")
        while self._pump.moves(STILL):
            pass

    def server_has_written(self) -> None:
        """All that the server was told to write has left it; what fits into a pipe may be there."""
        self._note("server has written everything")
        count = self.link.count("done")
        self.link.tell("say-done")
        self._wait(lambda: self.link.count("done") > count, "take what the server writes")

    def server_is_stuck(self) -> None:
        """The server cannot write on until somebody reads: stillness is the only sign of it."""
        self._note("server is stuck in a write")
        self.link.tell("say-done")
        count = self.link.count("done")
        self.nothing_moves()
        if self.link.count("done") > count:
            self._fail("the server could write everything")

    # ------------------------------------------------------------------ what people see

    @property
    def hello(self) -> dict[str, Any]:
        """What the server found when it started: pid, arguments, folder, environment, ..."""
        assert self.link.hello is not None
        return self.link.hello

    def logs(self, **members: object) -> dict[str, Any]:
        """Wait for an event in the JSON log with at least these members, and return it."""
        self._note(f"the log has {members}")
        found: list[dict[str, Any]] = []

        def look() -> bool:
            found[:] = self.journal.events(**members)
            return bool(found)

        self._wait(look, f"log {members}")
        return found[0]

    def logs_drops(self, count: int) -> None:
        """So many messages have been dropped, by the log; noise on its way to stderr is none."""
        self._note(f"the log has {count} drops")
        self._wait(lambda: len(self.journal.events(event="drop")) >= count, f"log {count} drops")
        if len(drops := self.journal.events(event="drop")) > count:
            self._fail(f"the log has {len(drops)} drops, not {count}")

    def stderr_has(self, text: bytes | str) -> None:
        wanted = text.encode() if isinstance(text, str) else text
        self._note(f"stderr has {wanted[:80]!r}")
        self._wait(lambda: wanted in self.journal.data, f"write {wanted[:200]!r} to stderr")

    def fails(self, why: str) -> NoReturn:
        """For conditions of a test's own: fail with the conversation so far."""
        self._fail(why)

    # ------------------------------------------------------------------ how it is compared

    def _receive(self, inbox: Inbox, who: str, expected: bytes) -> None:
        seen = 0

        def differs() -> bool:
            return inbox.data[seen : len(expected)] != expected[seen : len(inbox.data)]

        def decided() -> bool:
            nonlocal seen
            if differs():
                return True
            seen = min(len(inbox.data), len(expected))
            return seen == len(expected) or inbox.ended

        in_time = self._pump.run(decided, self.patience)
        if in_time and inbox.data.startswith(expected):
            del inbox.data[: len(expected)]
            return
        what = "saw the end" if inbox.ended else "has received"
        self._fail(f"the {who} should have received {show(expected)}\n  {what}: {show(inbox.data)}")

    def _line(self, inbox: Inbox, who: str) -> bytes:
        self._pump.run(lambda: b"\n" in inbox.data or inbox.ended, self.patience)
        line, newline, rest = bytes(inbox.data).partition(b"\n")
        if not newline:
            self._fail(f"the {who} received no whole line but {show(line)}")
        inbox.data[:] = rest
        self._note(f"{who} receives", line)
        return line

    def _ends(self, inbox: Inbox, who: str) -> None:
        if not self._pump.run(lambda: inbox.ended, self.patience):
            self._fail(f"the {who} saw no end in {self.patience} s")
        if inbox.data and not self.leftovers:
            self._fail(f"the {who} received before the end: {show(inbox.data)}")
