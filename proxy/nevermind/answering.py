"""What becomes of a response: the one answer, a late one, or one nobody asked for.

Takes its steps from ``lifecycle`` and changes the books.  Of the message it reads the id of
a task that a late one creates, and nothing else.
"""

from __future__ import annotations

from nevermind.envelopes import Response, task_id
from nevermind.ids import LONGEST, Key, twin
from nevermind.ledger import FORWARD, Books, Ledger, Verdict
from nevermind.lifecycle import Event, Ruling, State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import LateResponse
from nevermind.spans import Edit
from nevermind.uses import Record, Use

_NOBODY = "nobody waits for an answer to this id"


def response(ledger: Ledger, sender: Peer, answer: Response, body: bytes, now: float) -> Verdict:
    """Rule on ``answer``, which ``sender`` sent; its issuer is the other peer.

    ``body`` is its message, as far as it has come.
    """
    books = ledger.books[sender.other]
    key = answer.id
    if key is None:
        return _unasked(ledger, books, None) if answer.anonymous else FORWARD
    found = books.requests.locate(key)
    if found is None:
        if books.fresh.issued(key):
            return _fresh(books, key)
        return _unasked(ledger, books, key)
    wire, state, record = found
    event = Event.RESPONSE
    if state is State.AMBIGUOUS and isinstance(record, Use) and record.uses == 2:
        event = Event.LAST_BUT_ONE
    step = ledger.table[state, event]
    if step.ruling in (Ruling.LATE, Ruling.OWED, Ruling.SECOND_ANSWER):
        assert isinstance(record, Use)
        task = task_id(body) if answer.creates_task else ""
        return _late(ledger, books, key, record, answer, task, step.next, now)
    if step.ruling is Ruling.UNASKED:
        return _second(ledger, books, key, wire, record)
    return _wanted(books, wire, record, step.next, answer)


def created_task(ledger: Ledger, sender: Peer, key: Key, record: Record | None) -> None:
    """The answer to ``key``, let through before it was whole, may have created a task.

    ``record`` is of the use that it was for, if that has one of its own.
    """
    books = ledger.books[sender.other]
    if isinstance(record, Use):
        task_passed(books, record)
        return
    found = books.requests.find(key)
    if found is None or found[0] is not State.ANSWERED:
        return
    use = found[1] if isinstance(found[1], Use) else Use(key, found[1])
    task_passed(books, use)
    books.requests.move(use, State.ANSWERED)


def task_passed(books: Books, use: Use) -> None:
    """An answer that creates a task is let through: its token lives on with the task."""
    use.task = True
    books.tokens.release(use)
    use.tokens = ()


def _wanted(books: Books, wire: Key, record: Record, into: State, answer: Response) -> Verdict:
    """An answer to a request in flight."""
    requests = books.requests
    if not isinstance(record, Use):
        if not answer.creates_task:
            requests.answered.put(wire, requests.plain.pop(wire))
            return FORWARD
        record = requests.promote(wire)
    record.uses -= 1
    if answer.creates_task:
        task_passed(books, record)
    if into is State.ANSWERED:
        books.tokens.end(record)
    requests.move(record, into)
    return Verdict(edits=_back(record), name=record.name, record=record)


def _late(
    ledger: Ledger,
    books: Books,
    key: Key,
    use: Use,
    answer: Response,
    task: str,
    into: State,
    now: float,
) -> Verdict:
    """An answer to a cancelled request; ``task`` is the id of the task that it creates, if any."""
    edits = _back(use)
    name = key if use.name is None else use.name
    if use.state is not State.CANCELLED and books.requests.twin_is_live(key):
        return Verdict(edits=edits, name=name, record=use)
    nameable = 0 < len(task) <= LONGEST
    reap = ledger.policy.reap_tasks and nameable and use.state is not State.CANCELLED
    certain = use.superseded or use.ours or reap
    if answer.creates_task and not certain:
        ledger.overran(use, now)
        task_passed(books, use)
        if into is not use.state:
            books.requests.move(use, into)
        return Verdict(edits=edits, name=name, record=use)
    first_answer, first_error = use.answers == 0, use.errors == 0
    ledger.overran(use, now)
    use.errors += answer.is_error
    if into is not use.state:
        books.requests.move(use, into)
    if not certain:
        match ledger.policy.late_response:
            case LateResponse.FORWARD:
                return Verdict(edits=edits, name=name, record=use)
            case LateResponse.FIRST if first_answer:
                return Verdict(edits=edits, name=name, record=use)
            case LateResponse.FORWARD_ERRORS if answer.is_error and first_error:
                return Verdict(edits=edits, name=name, record=use)
    if use.ours:
        why = "the proxy has answered in its place"
    elif use.superseded:
        why = "its id is in use again"
    elif ledger.policy.late_response is LateResponse.FIRST and not first_answer:
        why = "the request was cancelled, and has had its one answer"
    else:
        why = "its task is cancelled in its place" if reap else "the request was cancelled"
    return Verdict(
        held=What.LATE_RESPONSE,
        why=why,
        name=name,
        record=use,
        edits=edits,
        final=use.ours,
        task=task,
        reap=reap,
    )


def _fresh(books: Books, key: Key) -> Verdict:
    """An answer to an id that we issued and nobody waits for: it may answer us."""
    task = books.own.pop(key)
    other = twin(key)
    if task is None and other is not None:
        task = books.own.pop(other)
    if task is None:
        why = "answers a fresh id whose request is forgotten"
        return Verdict(held=What.LATE_RESPONSE, why=why, name=key)
    why = "answers the proxy's own tasks/cancel"
    return Verdict(held=What.SWALLOWED_ANSWER, why=why, name=key, final=True, task=task)


def _second(ledger: Ledger, books: Books, key: Key, wire: Key, record: Record) -> Verdict:
    """An answer to a request that has been answered."""
    use = record if isinstance(record, Use) else None
    edits = () if use is None else _back(use)
    name = key if use is None or use.name is None else use.name
    if use is not None and use.superseded:
        why = "its id is in use again"
        return Verdict(held=What.LATE_RESPONSE, why=why, name=name, record=use, edits=edits)
    shielded = ledger.policy.shield and books.issuer is Peer.CLIENT
    if shielded and not books.requests.twin_is_live(key):
        why = "the request has been answered"
        return Verdict(held=What.UNASKED_ANSWER, why=why, name=name, record=record, edits=edits)
    if not isinstance(record, Use):
        record = Use(wire, record)
        record.state = State.ANSWERED
        books.requests.answered.exchange(wire, record)
    record.again += 1
    return Verdict(edits=edits) if edits else FORWARD


def _unasked(ledger: Ledger, books: Books, key: Key | None) -> Verdict:
    """An answer that answers nothing we know of."""
    certain = key is None or not (books.unsure or books.requests.twin_is_live(key))
    if ledger.policy.shield and books.issuer is Peer.CLIENT and certain:
        return Verdict(held=What.UNASKED_ANSWER, why=_NOBODY, name=key)
    if key is not None:
        books.unasked.put(key, True)
    return FORWARD


def _back(use: Use) -> tuple[Edit, ...]:
    """The issuer's own id in place of its fresh wire id."""
    return () if use.name is None else ((("id",), use.spelling),)
