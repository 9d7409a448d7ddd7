"""Blocks of lines at once, as long as nothing in them can change a verdict.

The common case by far is plain requests, and answers to plain requests in
flight.  Then one C call reads the block, a few C loops keep the ledger, and
the block travels on as the slice that it came in.  Lines that are not so plain
are judged one by one in the order in which they came, with the look that was
taken; what the fast look refuses goes back untouched for the careful one.  The
verdicts are the same on every way: a test plays generated and recorded traffic
with and without this module.

Measured on CPython 3.11, per 200-byte message in a block of 320: 230 ns for
the C call and 70 to 100 ns for the rest; with one line in ten dropped, 800 ns
more; judged line by line, 3,300 ns, and with the careful look 9,000 ns.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from msgspec import UNSET

from nevermind.judge import Judge
from nevermind.peers import Peer
from nevermind.quicklook import REFUSALS, creates_task
from nevermind.uses import Asked

_SAME_MOMENT_S = 0.001
"""Seconds within which requests of one method share a record: half the memory of an id.  It
is told to people only, in milliseconds."""


class Blocks:
    """The fast way for one direction; ``sender`` is whose lines they are."""

    __slots__ = (
        "_answers",
        "_asked",
        "_judge",
        "_ledger",
        "_limit",
        "_one",
        "_ours",
        "_quick",
        "_sender",
        "_special",
        "_tasks",
        "_theirs",
        "_token",
    )

    def __init__(self, judge: Judge, sender: Peer) -> None:
        dialect = judge.dialect
        self._judge = judge
        self._sender = sender
        self._ledger = judge.ledger
        self._quick = judge.quick
        self._one = judge.quick.one
        self._token = judge.quick.token
        self._tasks = judge.quick.tasks
        self._answers = sender is Peer.SERVER
        self._ours = judge.ledger.books[sender].requests
        self._theirs = judge.ledger.books[sender.other].requests
        special = frozenset((dialect.cancel_method, dialect.progress_method, None))
        self._special: frozenset[str | None] = special
        self._limit = judge.policy.live_limit
        self._asked: Asked = (0.0, "")
        if sender is Peer.CLIENT:
            # A request with a clock has a record of its own; none at all is plain
            # where each has one, or may say how to ask for its task.
            timeouts = judge.author.timeouts
            self._special |= timeouts.methods
            if timeouts.general or judge.policy.reap_tasks:
                self._limit = 0

    def passes(self, line: bytes, now: float) -> bool:
        """Whether ``line``, one line with its end, goes on as it is; the ledger knows it then.

        False may also mean that only ``judge`` can tell.
        """
        if line.find(b"\n") != len(line) - 1:
            return False
        try:
            glance = self._one(line)
        except REFUSALS:
            return False
        if self._is_plain(glance, now):
            self._judge.forwarded += 1
            return True
        return False

    def judge(self, block: bytes, now: float) -> bytes | None:
        """What goes on of ``block``, whole lines: often itself.  None: not for the fast look."""
        if block.find(b"\n") == len(block) - 1:
            try:
                glance = self._one(block)
            except REFUSALS:
                return None
            if self._is_plain(glance, now):
                self._judge.forwarded += 1
                return block
            return self._judge_one(glance, block, now)
        quick = self._quick
        try:
            glances = (quick.answers if self._answers else quick.questions)(block)
        except REFUSALS:
            return self._judge_each(block, now)
        if self._answers:
            return self._judge_answers(glances, block, now)
        if not self._track(glances, now):
            return self._judge_each(block, now)
        self._judge.forwarded += len(glances)
        return block

    def _judge_one(self, glance: Any, line: bytes, now: float) -> bytes:
        body = line[:-1]
        out = self._judge.enveloped(self._sender, self._quick.envelope(glance), body, now)
        if out is body:
            return line
        return b"" if out is None else out + b"\n"

    def _judge_each(self, block: bytes, now: float) -> bytes | None:
        """Line by line in order, all read by one call.

        What is not plain is looked at again by itself: with some effort a peer
        can write lines that are something else together.
        """
        try:
            glances = self._quick.whole(block)
        except REFUSALS:
            return None
        lines = block.split(b"\n")
        lines.pop()
        judge = self._judge
        kept: list[bytes | None] = list(lines)
        changed = False
        for n, (glance,) in enumerate(glances):
            if self._is_plain(glance, now):
                judge.forwarded += 1
                continue
            line = lines[n]
            out = judge.message(self._sender, line, now)
            if out is not line:
                changed = True
                kept[n] = out
        return _joined(kept) if changed else block

    def _judge_answers(self, glances: list[Any], block: bytes, now: float) -> bytes | None:
        """Answers all; that none creates a task, the decoder has seen to."""
        plain = self._theirs.plain
        before = len(plain)
        ids = [glance.id for (glance,) in glances]
        asked: list[Any] = list(map(plain.pop, ids, repeat(None)))
        plainly = before - len(plain)
        if plainly == len(ids):
            self._theirs.answered.put_all_new(ids, asked)
            self._judge.forwarded += plainly
            return block
        pairs = [(key, a) for key, a in zip(ids, asked, strict=True) if a is not None]
        if len({type(key) for key in ids}) > 1:
            # "7" may mean 7: with both kinds about, the order of verdicts matters.
            plain.update(pairs)
            return self._judge_each(block, now)
        self._theirs.answered.put_all_new([key for key, _ in pairs], [a for _, a in pairs])
        lines = block.split(b"\n")
        lines.pop()
        judge = self._judge
        judge.forwarded += plainly
        changed = False
        kept: list[bytes | None] = list(lines)
        for n, record in enumerate(asked):
            if record is None:
                line = lines[n]
                out = judge.message(self._sender, line, now)
                changed = changed or out is not line
                kept[n] = out
        return _joined(kept) if changed else block

    def _is_plain(self, glance: Any, now: float) -> bool:
        """Whether a message passes as it is, being nothing special; the ledger knows it then.

        One function, without calls where that is possible: a message that comes by itself
        takes no longer than this, the C call and the writing.
        """
        key, method, result = glance.id, glance.method, glance.result
        if method is UNSET:
            if result is UNSET:
                if glance.error is UNSET:
                    return False
            elif self._tasks and result is not None and creates_task(result):
                return False
            theirs = self._theirs
            asked = theirs.plain.pop(key, None)
            if asked is None:
                return False
            theirs.answered.put_new(key, asked)
            return True
        if method in self._special or self._ledger.translates:
            return False
        if result is not UNSET or glance.error is not UNSET:
            return False
        if key is UNSET:
            return True
        if key is None or self._token(glance) is not UNSET:
            return False
        ours = self._ours
        plain = ours.plain
        if len(plain) + len(ours.live) >= self._limit:
            return False
        if type(key) is int and key > ours.highest:
            ours.highest = key
        elif ours.knows(key):
            return False
        asked = self._asked
        if now - asked[0] >= _SAME_MOMENT_S or method != asked[1]:
            self._asked = asked = (now, method)
        plain[key] = asked
        return True

    def _track(self, glances: list[tuple[Any]], now: float) -> bool:
        """Requests and notifications; that none has a token, the decoder has seen to."""
        methods = {glance.method for (glance,) in glances}
        if self._ledger.translates or not self._special.isdisjoint(methods):
            return False
        ids = [glance.id for (glance,) in glances]
        asked: dict[Any, tuple[float, str]]
        if len(methods) == 1:
            asked = dict.fromkeys(ids, (now, methods.pop()))
        else:
            shared = {method: (now, method) for method in methods}
            asked = {glance.id: shared[glance.method] for (glance,) in glances}
        if len(asked) != len(ids) or UNSET in asked:
            asked.pop(UNSET, None)
            ids = [key for key in ids if key is not UNSET]
            if len(asked) != len(ids):
                return False
        ours = self._ours
        if ours.live_count() + len(ids) > self._limit or ours.knows_any(ids):
            return False
        ours.plain.update(asked)
        return True


def _joined(lines: list[bytes | None]) -> bytes:
    """The lines that are left, each with its end."""
    kept = [line for line in lines if line is not None]
    kept.append(b"")
    return b"\n".join(kept)
