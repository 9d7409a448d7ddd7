"""One message, one verdict: the look, the ledger's ruling, the last doubt, the note.

Knows neither framing nor queues.  Whatever is not certainly redundant comes
out as it went in.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from nevermind import answering, asking, cancelling, progressing, spans
from nevermind.authoring import Author
from nevermind.dialects import Dialect, Path
from nevermind.envelopes import (
    Batch,
    Cancel,
    Envelope,
    Notification,
    Opaque,
    Progress,
    Request,
    Response,
    creates_task,
    look,
    value_at,
)
from nevermind.ids import Key
from nevermind.ledger import FORWARD, Ledger, Verdict
from nevermind.notes import Diverted, Event, Note, What
from nevermind.noting import describe, reason_of
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.quicklook import REFUSALS, QuickLook
from nevermind.uses import Use

_ANSWER: tuple[Path, ...] = (("method",), ("id",), ("result",), ("error",))
_TASK: tuple[Path, ...] = (
    ("result", "task", "taskId"),
    ("result", "resultType"),
    ("result", "taskId"),
)


Retract = Callable[[Peer, Key, Use | None, float], object]
"""Takes the answer to an issuer's id back out of the issuer's queue, if it still waits
there; with the record of the id's newest use, if that has one of its own."""


class Judge:
    """The rules of one session, its ledger and what it has to tell.

    ``retract_from`` says, per peer, how to take back what waits for it;
    ``author`` speaks for us.
    ``notes`` gathers until somebody takes it; ``forwarded`` and ``dropped``
    count messages.
    """

    def __init__(self, policy: Policy, dialect: Dialect, nonce: str) -> None:
        self.policy = policy.resolved(dialect.answer_owed)
        self.dialect = dialect
        self.ledger = Ledger(self.policy, dialect, nonce)
        self.quick = QuickLook(dialect)
        self.notes: list[Note | Diverted] = []
        self.forwarded = 0
        self.dropped: dict[What, int] = {}
        self.retract_from: dict[Peer, Retract] = {}
        self._reason: str | None = None
        self.author = Author(self.ledger, self._add_note)

    def message(self, sender: Peer, body: bytes, now: float) -> bytes | None:
        """What to send on for ``body``, one whole message: itself, other bytes, or nothing."""
        return self.enveloped(sender, self.look(body), body, now)

    def look(self, body: bytes) -> Envelope:
        """The envelope of ``body``, by the quick look or the careful one."""
        try:
            return self.quick.envelope(self.quick.one(body))
        except REFUSALS:
            return look(body, self.dialect)

    def enveloped(self, sender: Peer, envelope: Envelope, body: bytes, now: float) -> bytes | None:
        """Like ``message``, with the envelope known already."""
        if isinstance(envelope, Batch):
            return self._batch(sender, envelope, body, now)
        verdict = self.rule(sender, envelope, body, now)
        if verdict is FORWARD:
            self.forwarded += 1
            return body
        out: bytes | None = None
        if verdict.held is not None and self.is_certain(envelope, verdict, body):
            self.drop(sender, envelope, verdict, body, now)
        else:
            self.forwarded += 1
            self.tell(sender, envelope, verdict, body, now)
            out = spans.replace(body, verdict.edits) if verdict.edits else body
        if self.author.active:
            if verdict.effective:
                self.author.cancelled(sender, verdict.record, now)
            elif out is not None:
                self.let_through(sender, envelope, verdict, now)
            elif verdict.reap:
                self.author.reap(sender.other, verdict, now)
        return out

    def rule(self, sender: Peer, envelope: Envelope, body: bytes, now: float) -> Verdict:
        """The ledger's ruling; what it remembers has changed when this returns."""
        ledger, author = self.ledger, self.author
        match envelope:
            case Request(id=key, method=method, tokens=tokens):
                if author.active and key is not None:
                    author.used_again(sender, key, now)
                verdict = asking.request(ledger, sender, key, method, tokens, body, now)
                if verdict.untracked:
                    self.untracked(sender, verdict.why)
                elif author.active and key is not None:
                    author.asked(sender, key, method, verdict, body, now)
                return verdict
            case Response():
                return answering.response(ledger, sender, envelope, body, now)
            case Progress(token=token):
                if author.timeouts.any and sender is Peer.SERVER and token is not None:
                    author.progressed(token, now)
                return progressing.progress(ledger, sender, token)
            case Cancel(id=key):
                self._reason = reason_of(body)
                verdict = cancelling.cancel(ledger, sender, key, now)
                self._keep_reason(verdict)
                paths = (*_ANSWER, self.dialect.cancel_id)
                if verdict.retractable and key is not None and not spans.repeats_key(body, paths):
                    # At once: the id may be used again in the next message.
                    use = verdict.record if isinstance(verdict.record, Use) else None
                    self.retract_from[sender](sender, key, use, now)
                return verdict
            case Notification(subscription=subscription):
                return progressing.tagged(ledger, sender, subscription)
            case Opaque(understandable=True):
                self.untracked(sender, "a message that is neither request nor answer")
        return FORWARD

    def untracked(self, sender: Peer, why: str) -> None:
        """``sender`` sent what may have been a request: nothing ended is certain any more."""
        self.ledger.books[sender].forget()
        self.notes.append(Note(event=Event.FORGET, issuer=sender, why=why))

    def let_through(self, sender: Peer, envelope: Envelope, verdict: Verdict, now: float) -> None:
        """An answer passes, though it may have been held at first: then none of ours may."""
        use = verdict.record
        if not (isinstance(envelope, Response) and isinstance(use, Use)) or use.waits:
            return
        issuer = sender.other
        self.author.withdraw(issuer, use, "an answer was let through", now)
        if verdict.held is not None and envelope.creates_task and not use.superseded:
            answering.task_passed(self.ledger.books[issuer], use)

    def is_certain(self, envelope: Envelope, verdict: Verdict, body: bytes) -> bool:
        """The last doubt before a drop: repeated keys, and results that nobody could read."""
        dialect = self.dialect
        match envelope:
            case Response(scanned=scanned):
                doubtful = dialect.creates_tasks and (b"task" in body or b"\\u00" in body)
                if doubtful and scanned and not verdict.final and _may_create_task(body):
                    return False
                paths = _ANSWER + _TASK if doubtful else _ANSWER
            case Cancel():
                paths = (*_ANSWER, dialect.cancel_id)
            case _:
                paths = (*_ANSWER, dialect.progress_token)
        return not spans.repeats_key(body, paths)

    def drop(
        self,
        sender: Peer,
        envelope: Envelope,
        verdict: Verdict,
        body: bytes,
        now: float,
        *,
        size: int | None = None,
    ) -> None:
        """Count a dropped message and note it; ``size`` if ``body`` is not all of it."""
        what = verdict.held
        assert what is not None
        self.dropped[what] = self.dropped.get(what, 0) + 1
        issuer = sender if isinstance(envelope, Cancel) else sender.other
        note = describe(Event.DROP, issuer, verdict, envelope, body, now, size=size)
        self.notes.append(note)

    def tell(
        self,
        sender: Peer,
        envelope: Envelope,
        verdict: Verdict,
        body: bytes,
        now: float,
        *,
        size: int | None = None,
    ) -> None:
        """Note what is forwarded but worth a line; ``size`` if ``body`` is not all of it."""
        if verdict.cancelled or verdict.aliased:
            event = Event.CANCEL if verdict.cancelled else Event.ALIAS
            self.notes.append(describe(event, sender, verdict, envelope, body, now, size=size))

    def retract(self, issuer: Peer, name: Key, answer: Envelope, line: bytes, now: float) -> None:
        """``answer``, which had been let through, was taken out of the queue as late."""
        verdict = cancelling.retracted(self.ledger, issuer, name, now)
        self._keep_reason(verdict)
        if self.author.active:
            self.author.cancelled(issuer, verdict.record, now)
        self.forwarded -= 1
        self.drop(issuer.other, answer, verdict, line, now)

    def divert(self, line: bytes, aside: bool) -> None:
        """Hold back a line of noise; ``aside``: it goes to stderr."""
        self.dropped[What.NOISE] = self.dropped.get(What.NOISE, 0) + 1
        self.notes.append(
            Note(event=Event.DROP, what=What.NOISE, issuer=None, bytes=len(line), why="not JSON")
        )
        if aside:
            self.notes.append(Diverted(line))

    def hint_at_headers(self) -> None:
        """The client frames with headers in a dialect of lines: all passes, and little is known."""
        why = f"the host sends Content-Length headers, which {self.dialect.name} has not"
        self.notes.append(Note(event=Event.HINT, why=f"{why}: --dialect lsp may be meant"))

    def hint_at_lines(self) -> None:
        """The other way round: it leaves headers out in a dialect that has them."""
        why = f"the host sends no Content-Length headers, which {self.dialect.name} has"
        self.notes.append(Note(event=Event.HINT, why=f"{why}: --dialect mcp may be meant"))

    def _keep_reason(self, verdict: Verdict) -> None:
        """Remember why a request was cancelled, to tell it with what comes late."""
        use = verdict.record
        if isinstance(use, Use) and use.cancelled_at is not None and use.reason is None:
            use.reason = self._reason

    def _add_note(self, note: Note) -> None:
        self.notes.append(note)

    def _batch(self, sender: Peer, batch: Batch, body: bytes, now: float) -> bytes | None:
        """Judge an array element by element; the bytes of kept ones are spliced."""
        kept: list[bytes] = []
        changed = False
        for (start, stop), envelope in zip(batch.spans, batch.elements, strict=True):
            element = body[start:stop]
            out = self.enveloped(sender, envelope, element, now)
            if out is not None:
                kept.append(out)
            changed = changed or out is not element
        if not changed:
            return body
        if not kept:
            return None
        return body[: batch.spans[0][0]] + b",".join(kept) + body[batch.spans[-1][1] :]


def _may_create_task(body: bytes) -> bool:
    """Whether a response that only the shallow scan could read may create a task."""
    import orjson  # it comes to this in few runs, and all would start 2 ms later

    try:
        orjson.loads(body)
    except ValueError:
        try:
            json.loads(body)
        except (ValueError, RecursionError):
            return True
    return creates_task(value_at(body, ("result",)))
