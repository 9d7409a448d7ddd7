"""What becomes of a cancel: the first takes effect, repeats are redundant.

Takes its steps from ``lifecycle`` and changes the books; it never sees the message.  Which
answer waits in our queue is for ``retraction`` to find.
"""

from __future__ import annotations

from nevermind.ids import Key, spell
from nevermind.ledger import FORWARD, Books, Ledger, Verdict
from nevermind.lifecycle import Event, Ruling, State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel
from nevermind.spans import Edit
from nevermind.uses import Record, Use

_IN_FLIGHT = (State.IN_FLIGHT, State.AMBIGUOUS)


def cancel(ledger: Ledger, sender: Peer, key: Key | None, now: float) -> Verdict:
    """Rule on a cancel that ``sender`` sent for ``key`` (None: missing or malformed)."""
    if key is None:
        return FORWARD
    if sender is Peer.SERVER:
        verdict = _names_a_client_request(ledger, key)
        if verdict is not None:
            return verdict
    books = ledger.books[sender]
    found = _meant(books, key)
    if found is None:
        return _unknown(ledger, books, key)
    wire, state, record = found
    step = ledger.table[state, Event.CANCEL]
    if step.ruling is Ruling.REDUNDANT:
        return _redundant(ledger, books, key, record)
    return _effective(ledger, books, key, wire, record, step.next, now)


def retracted(ledger: Ledger, issuer: Peer, key: Key, now: float) -> Verdict:
    """The answer to ``key``'s newest use was taken out of our queue: it is late.

    Gives the verdict on that answer.  Only after a cancel whose verdict was
    ``retractable``.
    """
    books = ledger.books[issuer]
    requests = books.requests
    found = _meant(books, key)
    assert found is not None
    wire, _, record = found
    use = record if isinstance(record, Use) else Use(wire, record)
    requests.move(use, State.TOMBSTONE)
    ledger.ended(books, use, now)
    ledger.overran(use, now)
    why = "cancelled while the answer waited in our queue"
    return Verdict(held=What.LATE_RESPONSE, why=why, name=key, record=use)


def _meant(books: Books, key: Key) -> tuple[Key, State, Record] | None:
    """The newest use of the issuer's id ``key``, or of its twin."""
    requests = books.requests
    use = requests.newest_use(key)
    if use is None:
        found = requests.locate(key)
        use = None if found is None else requests.newest_use(found[0])
        if use is None:
            named = found is not None and isinstance(found[2], Use) and found[2].name is not None
            # A wire id that we issued is no name that its issuer knows.
            return None if named else found
    return use.wire, use.state, use


def _names_a_client_request(ledger: Ledger, key: Key) -> Verdict | None:
    """A server's cancel that means the client's request: never ours to judge.

    MCP 2026-07-28 lets a server end a ``subscriptions/listen`` so (patterns/
    cancellation); older servers cancel other client requests by habit.
    """
    client, server = ledger.books[Peer.CLIENT], ledger.books[Peer.SERVER]
    own = _meant(server, key)
    found = client.requests.locate(key)
    exactly = own is not None and (own[0] == key or server.requests.newest_use(key) is not None)
    if found is not None and found[0] != key and exactly:
        found = None  # exact first, coerced second
    if found is not None and found[1] in _IN_FLIGHT:
        record = found[2]
        standing = own is not None and own[1] is not State.ANSWERED
        if _method(record) in ledger.dialect.subscriptions or not standing:
            return Verdict(name=key, record=record, edits=_back(ledger, record), cancelled=True)
        return None
    if own is None and client.fresh.issued(key):
        if found is None:
            why = "names a fresh id whose request is forgotten"
            return Verdict(held=What.REDUNDANT_CANCEL, why=why, name=key)
        return Verdict(name=key, record=found[2], edits=_back(ledger, found[2]))
    return None


def _method(record: Record) -> str:
    return record.method if isinstance(record, Use) else record[1]


def _must_not(ledger: Ledger, books: Books, record: Record) -> bool:
    """Whether the request is the client's, and one that must not be cancelled."""
    return books.issuer is Peer.CLIENT and _method(record) in ledger.dialect.uncancellable


def _back(ledger: Ledger, record: Record) -> tuple[Edit, ...]:
    """The issuer's own id in place of its fresh wire id."""
    if isinstance(record, Use) and record.name is not None:
        return ((ledger.dialect.cancel_id, record.spelling),)
    return ()


def _forth(ledger: Ledger, record: Record) -> tuple[Edit, ...]:
    """The fresh wire id in place of the issuer's own."""
    if isinstance(record, Use) and record.name is not None:
        return ((ledger.dialect.cancel_id, spell(record.wire)),)
    return ()


def _unknown(ledger: Ledger, books: Books, key: Key) -> Verdict:
    why = "no request with this id is known"
    shielded = ledger.policy.shield and books.issuer is Peer.CLIENT and not books.unsure
    if shielded:
        return Verdict(held=What.UNKNOWN_CANCEL, why=why, name=key)
    return Verdict(name=key, cancelled=True, why=why)


def _effective(
    ledger: Ledger, books: Books, key: Key, wire: Key, record: Record, into: State, now: float
) -> Verdict:
    """A cancel for an id in flight."""
    requests = books.requests
    client = books.issuer is Peer.CLIENT
    if _must_not(ledger, books, record):
        why = f"{_method(record)} must not be cancelled"
        return Verdict(held=What.INITIALIZE_CANCEL, why=why, name=key, record=record)
    use = record if isinstance(record, Use) else requests.promote(wire)
    absorbed = client and ledger.policy.cancel is FirstCancel.ABSORB
    effective = into is not State.AMBIGUOUS
    if effective:
        requests.move(use, into)
        ledger.ended(books, use, now)
        use.absorbed = absorbed
        why = ""
    else:
        why = "two requests with this id are in flight"
    if absorbed:
        why = why or "cancels are absorbed"
        held = What.ABSORBED_CANCEL
        return Verdict(held=held, why=why, name=key, record=use, effective=effective)
    return Verdict(
        name=key,
        record=use,
        edits=_forth(ledger, use),
        cancelled=True,
        effective=effective,
        why=why,
    )


def _redundant(ledger: Ledger, books: Books, key: Key, record: Record) -> Verdict:
    """A repeat, or a cancel for what has been answered."""
    edits = _forth(ledger, record)
    use = record if isinstance(record, Use) else None
    if use is not None and use.task:
        why = "its answer created a task"
        return Verdict(name=key, record=use, edits=edits, cancelled=True, why=why)
    retractable = use is None or (use.state is State.ANSWERED and not use.shared)
    retractable = retractable and not _must_not(ledger, books, record)
    absorbed = use is not None and use.absorbed
    wanted = ledger.policy.redundant_cancel is Fate.FORWARD and not absorbed
    answered = use is None or use.state is State.ANSWERED
    twin = not absorbed and books.requests.twin_in_flight(key)
    if wanted or twin:
        return Verdict(
            name=key,
            record=record,
            edits=edits,
            cancelled=True,
            retractable=retractable and not twin,
        )
    return Verdict(
        held=What.REDUNDANT_CANCEL,
        why="the request has been answered" if answered else "the request is cancelled already",
        name=key,
        record=record,
        edits=edits,
        retractable=retractable,
    )
