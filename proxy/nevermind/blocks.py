"""Whole blocks of lines at once, when nothing in them can change a verdict.

The common case by far is a block of plain requests, or of answers to plain
requests in flight.  Then one C call reads it, set operations keep the ledger,
and the block travels on as the slice that it came in.  Everything else is
refused, untouched, and taken line by line.  The same verdicts either way: a
test plays generated and recorded traffic with and without this module.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from nevermind.judge import Judge
from nevermind.peers import Peer
from nevermind.policy import Noise
from nevermind.quicklook import REFUSALS, creates_task


class Blocks:
    """The fast way for one direction; ``sender`` is whose lines they are."""

    __slots__ = ("_judge", "_others", "_own", "_special", "_strict", "_tasks")

    def __init__(self, judge: Judge, sender: Peer) -> None:
        dialect = judge.dialect
        self._judge = judge
        self._tasks = dialect.creates_tasks
        self._own = judge.ledger.books[sender]
        self._others = judge.ledger.books[sender.other]
        names = (dialect.cancel_method, dialect.progress_method)
        self._special = frozenset(name for name in names if name)
        policy = judge.policy
        # Blank lines are noise, and the decoder skips them in silence.
        self._strict = sender is Peer.SERVER and policy.noise is not Noise.FORWARD

    def pass_whole(self, block: bytes, now: float) -> bool:
        """Whether ``block``, whole lines, may travel on as it is; the ledger knows it then."""
        judge = self._judge
        try:
            glances = judge.quick.whole(block)
        except REFUSALS:
            return False
        if self._strict and len(glances) != block.count(b"\n"):
            return False
        methods = {glance.method for glance in glances}
        if UNSET in methods or None in methods:
            passed = len(methods) == 1 and self._answers(glances)
        else:
            passed = self._special.isdisjoint(methods) and self._requests(glances, methods, now)
        if passed:
            judge.forwarded += len(glances)
        return passed

    def _answers(self, glances: list[Any]) -> bool:
        requests = self._others.requests
        plain = requests.plain
        ids = [glance.id for glance in glances]
        if len(set(ids)) != len(ids) or not plain.keys() >= set(ids):
            return False
        for glance in glances:
            result = glance.result
            if result is UNSET:
                if glance.error is UNSET:
                    return False
            elif self._tasks and creates_task(result):
                return False
        requests.answered.put_all(zip(ids, map(plain.pop, ids), strict=True))
        return True

    def _requests(self, glances: list[Any], methods: set[str], now: float) -> bool:
        quick = self._judge.quick
        for get in quick.tokens:
            if list(map(get, glances)).count(UNSET) != len(glances):
                return False
        if any(g.result is not UNSET or g.error is not UNSET for g in glances):
            return False
        requests = self._own.requests
        if len(methods) == 1:
            asked = (now, next(iter(methods)))
            pairs = {g.id: asked for g in glances if g.id is not UNSET}
        else:
            by_method = {method: (now, method) for method in methods}
            pairs = {g.id: by_method[g.method] for g in glances if g.id is not UNSET}
        notifications = [g.id for g in glances].count(UNSET)
        if len(pairs) + notifications != len(glances) or None in pairs:
            return False
        ids = pairs.keys()
        plain = requests.plain
        known = not (
            plain.keys().isdisjoint(ids)
            and requests.live.keys().isdisjoint(ids)
            and requests.ended.isdisjoint(ids)
            and requests.answered.isdisjoint(ids)
        )
        full = requests.live_count() + len(pairs) > self._judge.policy.live_limit
        translated = self._own.fresh.used or self._others.fresh.used
        if known or full or translated:
            return False
        plain.update(pairs)
        return True
