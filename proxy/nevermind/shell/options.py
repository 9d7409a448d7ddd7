"""What one run over stdio is told: values only, filled in by the command line."""

from __future__ import annotations

import msgspec

from nevermind.dialects import MCP, Dialect
from nevermind.policy import Policy

GRACE = 5.0
"""Seconds from the host's EOF: hosts wait 2 s themselves before they send SIGTERM."""


class RunOptions(msgspec.Struct, frozen=True):
    """The options of ``nevermind run``.

    ``command`` is the server's argv, ``grace`` in seconds.  ``log_level`` and
    ``log_format`` ("text" or "json") are the journal's; ``log_file``, a path or a
    descriptor that is open for appending, takes its lines instead of stderr.
    """

    command: tuple[str, ...]
    policy: Policy = msgspec.field(default_factory=Policy)
    dialect: Dialect = MCP
    grace: float = GRACE
    log_level: str = "info"
    log_format: str = "text"
    log_file: str | int | None = None
