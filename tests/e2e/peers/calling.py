"""A real client calls a tool of a real server, gives up, and goes on; with or without the proxy."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from e2e.harness import nevermind
from e2e.harness.journal import read_events

PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Report:
    """What the client saw.

    ``outcome`` of the call that was given up, ``next_call`` and ``ping`` after it: the text of the
    answer, or what went wrong.  ``complaints``: what the SDK reported to its host besides.
    ``lost``: the connection is gone.  ``log``: the proxy's events.
    """

    outcome: str
    complaints: list[str]
    lost: bool
    next_call: str
    ping: str
    log: list[dict[str, Any]]

    @property
    def drops(self) -> list[str]:
        """What the proxy has dropped, in its order."""
        return [event["what"] for event in self.log if event["event"] == "drop"]

    @property
    def goes_on(self) -> bool:
        """The connection has been kept, and the next call was answered."""
        return not self.lost and self.ping == "ok" and not self.next_call.startswith("failed")


@dataclass(frozen=True, slots=True)
class Pair:
    """A client program and a server's command line."""

    client: tuple[str, ...]
    server: tuple[str, ...]

    def bare(self, plan: str, tool: str) -> Report:
        """The call, with nothing in between."""
        return self._call(plan, tool, list(self.server))

    def proxied(self, plan: str, tool: str, *options: str) -> Report:
        """The call, with the proxy in between."""
        line = nevermind().line(("--log-format", "json", *options), list(self.server))
        return self._call(plan, tool, line)

    def _call(self, plan: str, tool: str, server: list[str]) -> Report:
        with tempfile.TemporaryFile() as stderr:
            done = subprocess.run(
                [*self.client, plan, tool, "--", *server],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                timeout=PATIENCE,
                env={k: v for k, v in os.environ.items() if not k.startswith("NEVERMIND_")},
            )
            stderr.seek(0)
            said = stderr.read()
        # A client that lost its server may fail on its way out; it has reported before that.
        if not done.stdout.startswith(b"{"):
            raise AssertionError(f"the client reported nothing:\n{said.decode(errors='replace')}")
        report = json.loads(done.stdout)
        return Report(
            outcome=report["outcome"],
            complaints=report["complaints"],
            lost=report["lost"],
            next_call=report["next_call"],
            ping=report["ping"],
            log=read_events(said),
        )
