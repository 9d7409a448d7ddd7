"""What we say ourselves, where the switches tell us to: timeouts, answers, task cancels.

Nothing here happens unless ``Policy`` has ``timeout``, ``timeouts``,
``answer_cancelled`` or ``reap_tasks``.  A request never gets two answers: one
of ours is not given once another was let through, is taken back where that is
still possible, and makes every later one redundant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Protocol

from nevermind import replies
from nevermind.deadlines import Deadlines
from nevermind.envelopes import raw_members, value_at
from nevermind.ids import Key, shown, spell
from nevermind.ledger import Ledger, Verdict
from nevermind.lifecycle import Event as Befalls
from nevermind.lifecycle import Ruling
from nevermind.notes import Event, Note
from nevermind.outbox import Spoken
from nevermind.peers import Peer
from nevermind.policy import FirstCancel
from nevermind.timeouts import Timeouts
from nevermind.uses import Record, Use

_VERSION = b"io.modelcontextprotocol/protocolVersion"
_SELF_DESCRIPTION = (
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
)
"""What MCP 2026-07-28 wants in the ``_meta`` of every request (basic, "_meta")."""


class Queue(Protocol):
    """What one peer has yet to be sent."""

    def speak(self, message: bytes) -> Spoken:
        """Queue a message of ours, one JSON value, between others' messages."""


class Author:
    """The messages of our own in one session.

    ``queues`` are set by the session.  ``active``: there may be any at all.
    ``timed_out``, ``answered`` and ``reaped`` count what was done.
    """

    __slots__ = (
        "_ledger",
        "_meta",
        "_tell",
        "active",
        "answered",
        "deadlines",
        "queues",
        "reaped",
        "timed_out",
        "timeouts",
    )

    def __init__(self, ledger: Ledger, tell: Callable[[Note], None]) -> None:
        policy = ledger.policy
        self._ledger = ledger
        self._tell = tell
        self._meta = b""
        self.queues: Mapping[Peer, Queue] = {}
        self.deadlines = Deadlines()
        self.timeouts = Timeouts(policy, ledger.dialect)
        answers = policy.answer_cancelled is not None
        self.active = self.timeouts.any or answers or policy.reap_tasks
        self.timed_out = 0
        self.answered = 0
        self.reaped = 0

    def used_again(self, issuer: Peer, key: Key, now: float) -> None:
        """``issuer`` is about to ask under ``key``: older uses get no answer of ours any more."""
        requests = self._ledger.books[issuer].requests
        use = requests.newest_use(key) or requests.ended.get(key)
        if use is not None:
            self.withdraw(issuer, use, "its id is in use again", now)

    def withdraw(self, issuer: Peer, use: Use, why: str, now: float) -> None:
        """No answer of ours for ``use``, if it is not too late for that."""
        self.deadlines.clear(use)
        reply, use.reply = use.reply, None
        if reply is not None and reply.take_back():
            self.answered -= 1
            self._note(Event.REVOKE, issuer, use, now, why=why)

    def asked(
        self, issuer: Peer, key: Key, method: str, verdict: Verdict, body: bytes, now: float
    ) -> None:
        """A request of ``issuer`` was tracked: its clock starts."""
        if issuer is Peer.SERVER:
            return
        if self._ledger.policy.reap_tasks and _VERSION in body:
            self._meta = _self_description(body) or self._meta
        seconds = self.timeouts.of(method)
        if seconds is None:
            return
        requests = self._ledger.books[issuer].requests
        record = verdict.record
        use = record if isinstance(record, Use) else requests.live.get(key)
        self.deadlines.set(issuer, use or requests.promote(key), now + seconds)

    def progressed(self, token: Key, now: float) -> None:
        """Progress for a request of the client: its clock starts again, up to the maximum."""
        for use in self._ledger.books[Peer.CLIENT].tokens.live_owners(token):
            seconds = self.timeouts.of(use.method)
            if use.due is None or seconds is None:
                continue
            at = min(now + seconds, use.asked + self.timeouts.at_most(seconds))
            if at > use.due:
                self.deadlines.set(Peer.CLIENT, use, at)

    def cancelled(self, issuer: Peer, use: Record | None, now: float) -> None:
        """A cancel took effect on ``use``; a timeout counts on where an answer is owed."""
        assert isinstance(use, Use)
        owed = self._ledger.table[use.state, Befalls.RESPONSE].ruling is Ruling.OWED
        waits = self._ledger.policy.answer_cancelled
        if waits == 0:
            self._time_is_up(issuer, use, now)
        elif waits is not None:
            at = now + waits
            self.deadlines.set(issuer, use, min(at, use.due) if owed and use.due else at)
        elif not owed:
            self.deadlines.clear(use)

    def overdue(self, now: float) -> None:
        """Act on every deadline up to ``now``."""
        while (found := self.deadlines.take_due(now)) is not None:
            self._time_is_up(*found, now)

    def reap(self, issuer: Peer, verdict: Verdict, now: float) -> None:
        """Cancel the task that a late answer created; its own answer will be swallowed."""
        use = verdict.record
        assert isinstance(use, Use)
        ledger = self._ledger
        books = ledger.books[issuer]
        wire = books.fresh.issue(use.wire)
        ledger.translates = True
        books.own.put(wire, verdict.task)
        meta = self._meta if issuer is Peer.CLIENT else b""
        self.queues[issuer.other].speak(replies.cancel_task(spell(wire), verdict.task, meta))
        self.reaped += 1
        why = "an answer to a cancelled request created it"
        self._note(Event.REAP, issuer, use, now, why=why, task=verdict.task)

    def _time_is_up(self, issuer: Peer, use: Use, now: float) -> None:
        self.deadlines.clear(use)
        ledger = self._ledger
        requests = ledger.books[issuer].requests
        found = requests.find(use.wire)
        if found is None or found[1] is not use:
            return  # forgotten, so that an answer would be let through
        step = ledger.table[use.state, Befalls.TIME]
        if step.ruling is not Ruling.ANSWER or requests.twin_in_flight(use.wire):
            # Which of two uses an answer is for can't be told: neither gets one of ours.
            seconds = self.timeouts.of(use.method)
            if use.cancelled_at is None and seconds is not None:
                self.deadlines.set(issuer, use, now + seconds)
            return
        waits = ledger.policy.answer_cancelled
        if use.cancelled_at is not None and waits is not None and now >= use.cancelled_at + waits:
            waited = now - use.cancelled_at
            message = replies.cancelled(ledger.dialect, _id(use), waited)
            event, why = Event.ANSWER, "cancelled, and not answered by its receiver"
        else:
            self._stop(issuer, use, now)
            waited = now - use.asked
            message = replies.timed_out(_id(use), waited)
            self.timed_out += 1
            event, why = Event.TIMEOUT, f"no answer after {replies.seconds(waited)} s"
        requests.move(use, step.next)
        use.ours = True
        use.reply = self.queues[issuer].speak(message)
        self.answered += 1
        self._note(event, issuer, use, now, why=why)

    def _stop(self, issuer: Peer, use: Use, now: float) -> None:
        """Have the receiver of a request that timed out stop, if it may be told."""
        if use.cancelled_at is not None:
            return
        ledger = self._ledger
        dialect = ledger.dialect
        ledger.ended(ledger.books[issuer], use, now)
        absorbs = ledger.policy.cancel is FirstCancel.ABSORB
        use.absorbed = absorbs or use.method in dialect.uncancellable
        if dialect.cancel_method is not None and not use.absorbed:
            message = replies.cancel(dialect, spell(use.wire), now - use.asked)
            self.queues[issuer.other].speak(message)

    def _note(
        self, event: Event, issuer: Peer, use: Use, now: float, *, why: str, task: str = ""
    ) -> None:
        cancelled = use.cancelled_at
        if event is Event.TIMEOUT and cancelled == now:
            cancelled = None  # nobody cancelled it before: the timeout did
        self._tell(
            Note(
                event=event,
                issuer=issuer,
                id=shown(use.wire if use.name is None else use.name),
                method=use.method,
                since_request_s=now - use.asked,
                since_cancel_s=None if cancelled is None else now - cancelled,
                why=why,
                task=task or None,
            )
        )


def _id(use: Use) -> bytes:
    """The id of ``use`` as its issuer knows it."""
    return spell(use.wire) if use.name is None else use.spelling


def _self_description(body: bytes) -> bytes:
    """What a request says of its sender in ``_meta``, as JSON without line ends; b"" if nothing."""
    meta = value_at(body, ("params", "_meta"))
    said = None if meta is None else raw_members(meta, _SELF_DESCRIPTION)
    if said is None:
        return b""
    members = said[0]
    kept = [
        b"%b:%b" % (json.dumps(name).encode("ascii"), members[name])
        for name in _SELF_DESCRIPTION
        if name in members
    ]
    line = b"{%b}" % b",".join(kept)
    return line.replace(b"\r", b" ").replace(b"\n", b" ")
