"""``--answer-cancelled`` with ``--timeout``: both clocks at once, and one answer."""

from __future__ import annotations

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.notes import What
from nevermind.policy import Fate, Policy
from proxy.messages import OWED, answer, call, cancel
from proxy.ours import cancelled, timed_out
from proxy.playbook import Waits, client, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


class TestWithATimeout:
    """Both clocks at once: whichever comes first, and only that."""

    @pytest.mark.parametrize(
        ("timeout", "waits", "heard"),
        [(30, 5, cancelled(1, 5)), (4, 5, timed_out(1, 4)), (5, 5, cancelled(1, 5))],
        ids=("cancelled first", "timed out first", "at the same time"),
    )
    def test_where_an_answer_is_owed(self, timeout: int, waits: int, heard: bytes) -> None:
        """One answer of ours."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            Waits(4),
            *([client << heard] if timeout == 4 else []),
            Waits(1),
            *([client << heard] if timeout > 4 else []),
            Waits(100),
            server.loses(LATE, answer(1)),
            policy=Policy(timeout=timeout, answer_cancelled=waits),
            dialect=OWED,
        )

    @pytest.mark.parametrize("dialect", [MCP, OWED], ids=("mcp", "owed"))
    def test_at_once(self, dialect: Dialect) -> None:
        """What has been answered does not time out."""
        play(
            client.passes(call(1, dialect=dialect), cancel(1, dialect=dialect)),
            client << cancelled(1),
            Waits(4),
            Waits(100),
            server.loses(LATE, answer(1)),
            policy=Policy(timeout=4, answer_cancelled=0),
            dialect=dialect,
        )

    def test_in_mcp(self) -> None:
        """A cancelled request does not time out: it is answered when that is due."""
        play(
            client.passes(call(1), cancel(1)),
            Waits(4),
            Waits(1),
            client << cancelled(1, 5),
            Waits(100),
            policy=Policy(timeout=4, answer_cancelled=5),
        )

    def test_a_cancel_after_the_timeout(self) -> None:
        """The client has had an answer: it gets no other."""
        play(
            client.passes(call(1)),
            Waits(4),
            server << b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":'
            b'{"requestId":1,"reason":"nevermind had no answer after 4 s"}}',
            client << timed_out(1, 4),
            client.loses(REDUNDANT, cancel(1)),
            Waits(100),
            policy=Policy(timeout=4, answer_cancelled=5, redundant_cancel=Fate.DROP),
        )
