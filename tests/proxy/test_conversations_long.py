"""Messages over ``--max-message``: streamed through, and judged by their ends."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Policy
from proxy.messages import answer, call, cancel
from proxy.playbook import End, both_ways, play

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


@both_ways
class TestOverLong:
    """A message over ``--max-message`` is streamed through, and its ends are looked at."""

    POLICY = Policy(max_message=20_000)
    LONG = "x" * 50_000

    def test_it_passes_whole(self, asker: End, worker: End) -> None:
        """Never truncated, never a reason to stop."""
        play(
            asker.passes(call(1, work=self.LONG)),
            worker.passes(answer(1, self.LONG)),
            asker.passes(call(2)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("first", [True, False], ids=("id first", "id last"))
    def test_its_id_is_retired(self, asker: End, worker: End, first: bool) -> None:
        """The request has been answered: a cancel is redundant."""
        tail = b'{"jsonrpc":"2.0","result":"%b","id":1}' % self.LONG.encode()
        play(
            asker.passes(call(1)),
            worker.passes(answer(1, self.LONG) if first else tail),
            asker.loses(REDUNDANT, cancel(1)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("first", [True, False], ids=("id first", "id last"))
    def test_its_id_is_tracked(self, asker: End, worker: End, first: bool) -> None:
        """The request is in flight and can be cancelled."""
        tail = b'{"jsonrpc":"2.0","method":"x","params":"%b","id":1}' % self.LONG.encode()
        play(
            asker.passes(call(1, work=self.LONG) if first else tail),
            asker.passes(cancel(1)),
            worker.loses(LATE, answer(1)),
            policy=self.POLICY,
        )

    def test_its_fresh_id_is_turned_back(self, asker: End, worker: End) -> None:
        """Request and answer are both too long, the id is used again."""
        play(
            asker.passes(call(1), cancel(1)),
            asker >> call(1, work=self.LONG),
            worker << call(b"<n>", work=self.LONG),
            worker >> answer(b"<n>", self.LONG),
            asker << answer(1, self.LONG),
            policy=self.POLICY,
        )

    def test_its_id_is_out_of_sight(self, asker: End, worker: End) -> None:
        """It may have asked anything: what has ended is forgotten."""
        hidden = b'{"a":"%b","id":2,"method":"x","b":"%b"}' % (b"x" * 15_000, b"x" * 15_000)
        play(
            asker.passes(call(1), cancel(1), hidden),
            worker.passes(answer(1)),
            policy=self.POLICY,
            ways=("byte by byte",),
        )
