"""One side of the demonstration: a host's end of a conversation with a process.

What arrives is put into words of at most a column's width and, at the same
time, remembered for the verdict.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

CANCELLED = "notifications/cancelled"


class Side:
    """A process, spoken to over its stdin and stdout as a host would.

    ``late`` collects what came for a request after it was cancelled, ``answered``
    the ids that got an answer.  ``words`` are what to show next, oldest first.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
        )
        self._rest = b""
        self._cancelled: set[int] = set()
        self.late: list[str] = []
        self.answered: set[int] = set()
        self.ended = False
        self.words: list[str] = []

    @property
    def stdout(self) -> int:
        """The descriptor that is readable when something arrived."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, message: dict[str, Any]) -> str:
        """Send ``message`` and say so; to a process that is gone nothing can be sent."""
        if self.ended:
            return "(nobody there to ask)"
        if message.get("method") == CANCELLED:
            self._cancelled.add(message["params"]["requestId"])
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # its end is noticed where we read
        return "-> " + describe(message)

    def receive(self) -> None:
        """Take in what has arrived, which may be the end."""
        data = os.read(self.stdout, 65536)
        if not data:
            self.ended = True
            self.words.append(f"** the server is gone, exit code {self._process.wait()}")
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def close(self, patience: float) -> tuple[int | None, list[str]]:
        """Hang up as a host does; the exit code and what was written to stderr.

        After ``patience`` seconds the process is ended, and the code is None.
        """
        try:
            _, log = self._process.communicate(timeout=patience)
            code: int | None = self._process.returncode
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, log = self._process.communicate()
            code = None
        return code, log.decode("utf-8", "replace").splitlines()

    def _take(self, message: dict[str, Any]) -> None:
        about = message.get("id", message.get("params", {}).get("progressToken"))
        words = describe(message)
        if about in self._cancelled:
            self.late.append(words)
            self.words.append("!! " + words)
        else:
            self.words.append("<- " + words)
            if "method" not in message:
                self.answered.add(about)


def describe(message: dict[str, Any]) -> str:
    """``message`` in a few words."""
    params = message.get("params", {})
    match message:
        case {"method": "notifications/cancelled"}:
            return f"cancel {params['requestId']}"
        case {"method": "notifications/progress"}:
            return (
                f"progress {params['progress']} of {params['total']} for {params['progressToken']}"
            )
        case {"method": str(method), "id": id}:
            return f"{method}, id {id}"
        case {"method": str(method)}:
            return method
        case {"error": error}:
            return f"error for {message['id']}, code {error['code']}"
        case _:
            return f"result for {message['id']}"
