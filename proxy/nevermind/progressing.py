"""What becomes of progress and of other notifications that name a request.

Looks tokens and subscriptions up in the books and changes nothing there; it never sees the
message.
"""

from __future__ import annotations

from nevermind.ids import Key, read_key
from nevermind.ledger import FORWARD, Ledger, Verdict
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate
from nevermind.uses import Use


def progress(ledger: Ledger, sender: Peer, token: Key | None) -> Verdict:
    """Rule on progress for ``token`` that ``sender`` sent about the other's request."""
    if token is None:
        return FORWARD
    books = ledger.books[sender.other]
    path = ledger.dialect.progress_token
    found = books.tokens.look_up(token)
    if found is None:
        spelling = books.tokens.task_spelling(token)
        if spelling is not None:
            return Verdict(edits=((path, spelling),))
        if books.fresh.issued(token):
            why = "names a fresh token whose request is forgotten"
            return Verdict(held=What.LATE_PROGRESS, why=why, name=token)
        return FORWARD
    live, record = found
    use = record if isinstance(record, Use) else None
    spelling = _spelling(use, token)
    edits = () if spelling is None else ((path, spelling),)
    if live:
        return Verdict(edits=edits) if edits else FORWARD
    cancelled = use is not None and use.cancelled_at is not None
    fate = ledger.policy.late_progress if cancelled else ledger.policy.stale_progress
    superseded = use is not None and use.superseded
    if fate is Fate.FORWARD and not superseded:
        return Verdict(edits=edits)
    why = "the request was cancelled" if cancelled else "the request has been answered"
    return Verdict(
        held=What.LATE_PROGRESS if cancelled else What.STALE_PROGRESS,
        why="its id is in use again" if superseded else why,
        name=token if spelling is None else read_key(spelling),
        record=record,
        edits=edits,
    )


def tagged(ledger: Ledger, sender: Peer, subscription: Key | None) -> Verdict:
    """Rule on a notification that names the other's subscription: it always passes.

    It may evict caches even after a cancel (MCP 2026-07-28 subscriptions).
    """
    if subscription is None:
        return FORWARD
    requests = ledger.books[sender.other].requests
    found = requests.locate(subscription)
    record = None if found is None else found[2]
    if isinstance(record, Use) and record.name is not None:
        return Verdict(edits=((ledger.dialect.subscription_id, record.spelling),))
    return FORWARD


def _spelling(use: Use | None, token: Key) -> bytes | None:
    """The issuer's bytes for a fresh token of ``use``."""
    if use is None or not use.respelled:
        return None
    spelling = use.respelled.get(token)
    if spelling is None:
        wires = {str(wire): raw for wire, raw in use.respelled.items()}
        spelling = wires.get(str(token))
    return spelling
