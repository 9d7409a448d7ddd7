"""Playbooks: a test is a conversation, ``client >> …`` says, ``server << …`` hears.

``play`` runs a script three ways — every message in a chunk of its own, byte by byte, and as
many messages in one chunk as the script allows — and each way must end alike: the quick look at
a whole chunk may never change a verdict.  A mismatch shows the script as written and as it went.
Whatever was held back must be in the script too (``held``), and nothing else may be.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.policy import Policy
from proxy.performance import Performance, Run
from proxy.playing_messages import PAIRINGS, MessageRun, is_whole
from proxy.script import (
    ENDS,
    Diverts,
    End,
    Ends,
    Heard,
    Held,
    Reads,
    Said,
    Script,
    Stalls,
    Step,
    Waits,
    client,
    flat,
    held,
    server,
)

__all__ = [
    "ENDS",
    "IN_ORDER",
    "Diverts",
    "End",
    "Ends",
    "Heard",
    "Held",
    "Reads",
    "Said",
    "Script",
    "Stalls",
    "Waits",
    "both_ways",
    "client",
    "held",
    "play",
    "server",
]
"""With the words of a script, so that a test of conversations has all it needs from here."""

WAYS = ("one by one", "byte by byte", "together")
IN_ORDER = ("one by one", "byte by byte")
"""Where it matters whether something has been sent by the time the next thing is said."""

both_ways = pytest.mark.parametrize(("asker", "worker"), ENDS, ids=("client asks", "server asks"))
"""The test holds whoever asks."""


def play(
    *steps: Script,
    policy: Policy | None = None,
    dialect: Dialect = MCP,
    ways: Iterable[str] = WAYS,
) -> Performance:
    """Run a script every way; gives how the last one went."""
    script = flat(steps)
    done: Run | None = None
    for way in ways:
        done = Run(policy or Policy(), dialect, way)
        done.perform(script)
    play_in_messages(script, policy or Policy(), dialect)
    assert done is not None
    return Performance(done.notes, done.session.statistics(), done.names)


def play_in_messages(script: list[Step], policy: Policy, dialect: Dialect) -> None:
    """Run a script that says nothing of lines in whole messages too, by either peer and both."""
    if is_whole(script, policy, dialect):
        for messaging in PAIRINGS:
            MessageRun(policy, dialect, messaging).perform(script)
