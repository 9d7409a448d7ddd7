"""A long message, sent on while it is still arriving.

Either because its head proves that nothing can hold it back (then holding it
would only cost time and memory), or because it is too long to be held at all.
Its ends are looked at, so that its id is tracked, retired and translated; what
has begun is delivered whole.  It is dropped only if it is overlong and its head
proves that it is late.
"""

from __future__ import annotations

from nevermind import answering, spans
from nevermind.ends import END, TOKEN, Head, Tail
from nevermind.envelopes import BROKEN, UNDERSTANDABLE, Envelope, Notification, Request, Response
from nevermind.ids import Key
from nevermind.judge import Judge
from nevermind.ledger import FORWARD
from nevermind.lifecycle import State
from nevermind.outbox import Bytes
from nevermind.peers import Peer
from nevermind.scanning import SCAN_LIMIT
from nevermind.spans import Span
from nevermind.uses import Use
from nevermind.words import WordSearch

CUT_THROUGH = 16 * 1024
"""Bytes of a message after which its head is asked whether it may go on already.
A smaller one is whole after a read or two."""

_NOT_TO_BE_CHANGED = b""
"""In the place of a message that has gone out already, or will before it can be edited."""

_BELIED = "the end of a long message belies its beginning"

_TASK = b'"task"'
"""A result that creates a task has it as a key or as a value."""


class Through:
    """One message on its way through, from its first bytes to its line end.

    ``begin`` first; then ``feed`` what follows, and ``finish`` with the last
    of it.  Each gives the bytes to send on.

    ``announced``: a header says how long the message is and will have gone out
    before its end comes.  Then nothing at the end may grow; ``grown`` is by how
    many bytes the beginning did.
    """

    __slots__ = (
        "_announced",
        "_dropped",
        "_envelope",
        "_head",
        "_holds",
        "_judge",
        "_search",
        "_sender",
        "_size",
        "_tail",
        "_verdict",
        "grown",
    )

    def __init__(self, judge: Judge, sender: Peer, data: bytes, *, announced: bool = False) -> None:
        self._judge = judge
        self._sender = sender
        self._head = Head(data[:END])
        self._envelope: Envelope | None = None
        self._verdict = FORWARD
        self._dropped = False
        self._holds = False
        self._search = WordSearch(())
        self._tail = b""
        self._size = 0
        self._announced = announced
        self.grown = 0

    @property
    def dropping(self) -> bool:
        """Whether the message, begun by now, is held back."""
        return self._dropped

    def may_cut(self) -> bool:
        """Whether the head proves that nothing can hold the message back."""
        head, ledger = self._head, self._judge.ledger
        if ledger.translates or head.repeats:
            return False
        special = (self._judge.dialect.cancel_method, self._judge.dialect.progress_method)
        if head.kind == "request":
            requests = ledger.books[self._sender].requests
            if head.method in special or requests.live_count() >= self._judge.policy.live_limit:
                return False
            if not head.has("id"):
                return not len(requests.ended)
            key = head.id
            return key is not None and requests.find(key) is None
        if head.kind in ("result", "error"):
            requests = ledger.books[self._sender.other].requests
            if not head.has("id"):
                cancelled = requests.cancelled or len(requests.ended)
                return not cancelled and not self._judge.policy.shield
            key = head.id
            found = None if key is None else requests.find(key)
            return found is not None and found[0] in (State.IN_FLIGHT, State.AMBIGUOUS)
        return False

    def begin(self, data: bytes, now: float, *, overlong: bool) -> bytes:
        """Track what the head shows; ``overlong`` messages may be dropped or translated."""
        self._holds = overlong
        self._envelope = envelope = self._by_head()
        changes: list[tuple[Span, bytes]] = []
        if envelope is not None:
            body = data[:END]
            if isinstance(envelope, Request):
                paths = (("id",), *self._judge.dialect.request_tokens)
                body = self._head.excerpt(paths) if overlong else _NOT_TO_BE_CHANGED
            self._verdict = verdict = self._judge.rule(self._sender, envelope, body, now)
            certain = verdict.final or b"task" not in data[:END]
            if overlong and verdict.held is not None and certain and not self._head.repeats:
                self._dropped = True
            else:
                self._judge.let_through(self._sender, envelope, verdict, now)
            found = ((self._head.find(path), new) for path, new in verdict.edits)
            changes = [(span, new) for span, new in found if span]
        self._search = self._searching()
        translated = spans.put(data, changes)
        self.grown = len(translated) - len(data)
        self._size = -self.grown
        return self.feed(translated)

    def feed(self, data: bytes) -> bytes:
        """``data`` has come too."""
        self._size += len(data)
        if self._dropped:
            return b""
        self._search.feed(data, len(data))
        if not self._holds:
            self._tail = data[-END:] if len(data) >= END else (self._tail + data)[-END:]
            return data
        held = self._tail + data
        cut = max(0, len(held) - END)
        self._tail = held[cut:]
        return held[:cut]

    def feed_lent(self, buffer: bytearray, size: int) -> Bytes:
        """Like ``feed``, with the first ``size`` bytes of a buffer that is only lent.

        What is given back may be a part of it.
        """
        if self._holds or self._dropped or size < END:
            return self.feed(bytes(memoryview(buffer)[:size]))
        self._size += size
        self._search.feed(buffer, size)
        self._tail = bytes(memoryview(buffer)[size - END : size])
        return memoryview(buffer)[:size]

    def finish(self, data: bytes, now: float) -> bytes:
        """``data`` is the last of it, line end included."""
        out = self.feed(data)
        return out + self._close(now)

    def finish_lent(self, buffer: bytearray, size: int, now: float) -> Bytes:
        """Like ``finish``, with the first ``size`` bytes of a buffer that is only lent."""
        out = self.feed_lent(buffer, size)
        rest = self._close(now)
        return bytes(out) + rest if rest else out

    def _close(self, now: float) -> bytes:
        """The message is whole; what was held of it goes out, if it does."""
        judge = self._judge
        if self._dropped:
            assert self._envelope is not None
            judge.drop(self._sender, self._envelope, self._verdict, b"", now, size=self._size)
            return b""
        judge.forwarded += 1
        tail = Tail(self._tail)
        changes: list[tuple[Span, bytes]] = []
        match self._envelope:
            case None:
                changes = self._rule_by_tail(tail, now)
            case Request(id=key) | Response(id=key) if self._belied(tail, key):
                # An id that stands twice, or no JSON after all: whose it was can't be told.
                for peer in Peer:
                    judge.untracked(peer, _BELIED)
            case Request(id=key) if key is not None:
                self._late_token(tail)
            case Response(id=key) if key is not None and self._shows_task():
                answering.created_task(judge.ledger, self._sender, key, self._verdict.record)
        assert self._envelope is not None
        judge.tell(self._sender, self._envelope, self._verdict, b"", now, size=self._size)
        return spans.put(self._tail, changes) if self._holds else b""

    def _by_head(self) -> Envelope | None:
        """The envelope, if the head has both the id and what it is the id of."""
        head = self._head
        if head.kind not in ("request", "result", "error") or not head.has("id"):
            return None
        key = head.id
        if head.kind == "request":
            assert head.method is not None
            carried = (head.key(path) for path in self._judge.dialect.request_tokens)
            return Request(key, head.method, tuple(t for t in carried if t is not None))
        return Response(key, is_error=head.kind == "error", scanned=True)

    def _searching(self) -> WordSearch:
        """What has to be looked for on the way, so that no verdict later on is wrong."""
        head, dialect = self._head, self._judge.dialect
        if head.kind == "request":
            paths = dialect.request_tokens
            if isinstance(self._envelope, Request) and self._envelope.tokens and len(paths) == 1:
                return WordSearch(())
            within = [any("_" in name for name in path[:-1]) for path in paths]
            herald = b"_" if all(within) else b""
            return WordSearch(tuple(path[-1].encode() for path in paths), herald)
        if not dialect.creates_tasks or head.kind != "result":
            return WordSearch(())
        # Without tokens about, only the ends are looked at: see README, limits.
        if self._envelope is None:
            about = bool(self._judge.ledger.books[self._sender.other].requests.live)
        else:
            about = isinstance(self._verdict.record, Use)
        return WordSearch((_TASK,) if about else ())

    def _shows_task(self) -> bool:
        if not self._judge.dialect.creates_tasks or self._head.kind != "result":
            return False
        return self._search.found or self._head.shows(_TASK) or _TASK in self._tail

    def _rule_by_tail(self, tail: Tail, now: float) -> list[tuple[Span, bytes]]:
        """Track by the last members; the verdict comes too late to hold anything back."""
        kind, key = self._head.kind, tail.key
        envelope: Envelope
        if kind in ("result", "error") and key is not None and tail.method is None:
            envelope = Response(key, kind == "error", creates_task=self._shows_task())
        elif kind in ("request", "object") and key is not None and not self._announced:
            method = self._head.method or tail.method
            token = tail.token
            carried = () if token is None else (token,)
            envelope = UNDERSTANDABLE if method is None else Request(key, method, carried)
        elif kind == "request" and self._head.cut == "params" and tail.closes_a_member:
            envelope = Notification(self._head.method or "")
        else:
            # An answer, whatever its id, has asked for nothing.
            asks = kind and (kind not in ("result", "error") or tail.method is not None)
            envelope = UNDERSTANDABLE if asks else BROKEN
        body = self._tail
        if isinstance(envelope, Request):
            body = tail.excerpt() if self._holds else _NOT_TO_BE_CHANGED
        verdict = self._judge.rule(self._sender, envelope, body, now)
        self._envelope, self._verdict = envelope, verdict
        self._judge.let_through(self._sender, envelope, verdict, now)
        if isinstance(envelope, Request) and self._search.found and not envelope.tokens:
            self._judge.ledger.books[self._sender].tokens.forget_ended()
        places = {("id",): tail.id_span, TOKEN: tail.token_span}
        found = ((places.get(path), new) for path, new in verdict.edits)
        changes = [(span, new) for span, new in found if span]
        return spans.in_place(changes) if self._announced else changes

    def _belied(self, tail: Tail, key: Key | None) -> bool:
        """Whether the end of the message contradicts its head."""
        other = tail.id_span is not None and tail.key != key
        return other or not tail.closes

    def _late_token(self, tail: Tail) -> None:
        """A token that stands behind the head belongs to the request after all."""
        envelope = self._envelope
        assert isinstance(envelope, Request)
        assert envelope.id is not None
        if not self._search.found:
            return
        books = self._judge.ledger.books[self._sender]
        token = tail.token
        found = books.requests.find(envelope.id)
        if token is None or found is None or found[0] is not State.IN_FLIGHT:
            # Somewhere in the middle: whose it is can't be told, so it passes.
            books.tokens.forget_ended()
        else:
            plain = envelope.id in books.requests.plain
            use = books.requests.promote(envelope.id) if plain else books.requests.live[envelope.id]
            use.tokens = (*use.tokens, token)
            books.tokens.claim(use)


def pass_on(judge: Judge, sender: Peer, body: bytes, now: float) -> bytes | None:
    """What to send on for ``body``, one whole message, however long it is.

    A long one that only the scan could read is judged by its ends.
    """
    if len(body) <= SCAN_LIMIT:
        return judge.message(sender, body, now)
    envelope = judge.look(body)
    if envelope is not BROKEN:
        return judge.enveloped(sender, envelope, body, now)
    through = Through(judge, sender, body)
    out = through.begin(body, now, overlong=True) + through.finish(b"", now)
    if through.dropping:
        return None
    return body if out == body else out
