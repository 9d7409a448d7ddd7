"""``nevermind demo``: one misbehaving server twice, bare and behind a real ``nevermind run``.

The same conversation is held with both at once, and what reaches the host is
printed as it arrives, side by side, in 80 columns.
"""

from __future__ import annotations

import os
import selectors
import sys
import textwrap
from collections.abc import Callable
from time import monotonic
from typing import Any

from nevermind_cli.demo_server import STEPS
from nevermind_cli.demo_side import CANCELLED, Side

PATIENCE = 20.0
"""Seconds after which the demonstration has failed; it takes about three."""

QUIET = 0.5
"""Seconds without a message after which the host goes on: the server pauses for less."""

COLUMN = 34
"""Characters of each side's column: with the seconds in front they fill 80."""

HEAD = f"""\
One server, asked the same by one host. Once cancelled, call 1 should be over.
   -> the host sends   <- the host gets   !! the host gets although it cancelled

       {"without nevermind":<{COLUMN}} | behind nevermind run
{"-" * 7}{"-" * COLUMN}-+{"-" * 37}"""

LATE = [
    "error for 1, code 0",
    *(f"progress {step} of {STEPS} for 1" for step in range(2, STEPS + 1)),
    "result for 1",
]
"""What the bare server sends about the call after it was cancelled."""

OUTCOME = f"""
Without it, {len(LATE)} messages came about a call that the host had given up, and the
second cancel killed the server. Behind nevermind none came, and it lives."""

PYTHON = [sys.executable, "-P", "-m"]
"""-P: a module in the current folder is not the one that is meant."""

SERVER = [*PYTHON, "nevermind_cli.demo_server"]

PROXY = [*PYTHON, "nevermind_cli", "run", "--config", os.devnull, "--"]
"""Whatever the user has configured, in a file or by variables, is not what is shown."""


class Demonstration:
    """Two sides, the clock, and the paper that is written on."""

    def __init__(self, write: Callable[[str], object]) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NEVERMIND_")}
        self._write = write
        self.bare = Side(SERVER, environment)
        self.proxied = Side([*PROXY, *SERVER], environment)
        self._sides = (self.bare, self.proxied)
        self._start = monotonic()
        self._poll = selectors.DefaultSelector()
        for side in self._sides:
            self._poll.register(side.stdout, selectors.EVENT_READ, side)

    def row(self, left: str, right: str) -> None:
        """Print a line: what happened on either side, now."""
        seconds = f"{monotonic() - self._start:4.1f}s"
        self._write(f"{seconds}  {left:<{COLUMN}} | {right}".rstrip())

    def send(self, message: dict[str, Any]) -> None:
        """Let the host say the same to both."""
        self.row(self.bare.send(message), self.proxied.send(message))

    def ask(self, id: int, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a request and read until both sides have answered it, or cannot any more."""
        self.send({"id": id, "method": method, "params": params or {}})
        self._read(lambda: all(id in side.answered or side.ended for side in self._sides), PATIENCE)

    def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params or {}})

    def watch(self) -> None:
        """Read until both sides have been quiet for a while."""
        self._read(lambda: False, QUIET)

    def _read(self, done: Callable[[], bool], quiet: float) -> None:
        while not done():
            ready = self._poll.select(quiet)
            for key, _ in ready:
                key.data.receive()
                if key.data.ended:
                    self._poll.unregister(key.fd)
            self._show(everything=not ready or done())
            if not ready:
                break
            if monotonic() - self._start > PATIENCE:
                raise TimeoutError

    def _show(self, *, everything: bool) -> None:
        """Print what arrived: what was asked for in one row for both, the rest at once."""
        left, right = self.bare.words, self.proxied.words
        while left or right:
            if left and right and left[0] == right[0]:
                self.row(left.pop(0), right.pop(0))
            elif left and (everything or not left[0].startswith("<-")):
                self.row(left.pop(0), "")
            elif right and (everything or not right[0].startswith("<-")):
                self.row("", right.pop(0))
            else:
                return


def show(write: Callable[[str], object] = print) -> int:
    """Hold the conversation and print it; 0 if both sides did what is said of them."""
    demonstration = Demonstration(write)
    bare, proxied = demonstration.bare, demonstration.proxied
    write(HEAD)
    try:
        _converse(demonstration)
        killed = bare.ended
    except TimeoutError:
        write(f"not over after {PATIENCE:g} s")
        killed = False
    bare.close(PATIENCE)
    code, log = proxied.close(PATIENCE)
    write("\nWhat nevermind wrote to stderr meanwhile:")
    for line in log:
        write(textwrap.fill(line, 80, initial_indent="  ", subsequent_indent="      "))
    promises = {
        "bare, the cancelled call is answered twice and its progress goes on": bare.late == LATE,
        "bare, the second cancel kills the server": killed,
        "behind nevermind, nothing of that reaches the host": not proxied.late,
        "behind nevermind, all other requests are answered": proxied.answered == {0, 2, 3},
        "behind nevermind, the server ends when the host does": code == 0,
    }
    broken = [promise for promise, kept in promises.items() if not kept]
    write("" if broken else OUTCOME)
    for promise in broken:
        write(f"This was not as promised: {promise}.")
    return 1 if broken else 0


def _converse(demonstration: Demonstration) -> None:
    host = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "demo"}}
    call = {"name": "export", "arguments": {}, "_meta": {"progressToken": 1}}
    demonstration.ask(0, "initialize", host)
    demonstration.tell("notifications/initialized")
    demonstration.send({"id": 1, "method": "tools/call", "params": call})
    demonstration.watch()
    demonstration.tell(CANCELLED, {"requestId": 1, "reason": "the user pressed stop"})
    demonstration.watch()
    demonstration.ask(2, "ping")
    demonstration.tell(CANCELLED, {"requestId": 1, "reason": "the call timed out"})
    demonstration.watch()
    demonstration.ask(3, "tools/list")
