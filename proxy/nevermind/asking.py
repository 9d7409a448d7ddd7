"""What becomes of a request: tracked, counted, or sent under a fresh wire id.

Takes its steps from ``lifecycle`` and changes the books.  Of the message it reads where
its id and tokens stand, and nothing else.
"""

from __future__ import annotations

from nevermind import spans
from nevermind.dialects import Path
from nevermind.ids import Key, read_key, spell
from nevermind.ledger import FORWARD, Books, Ledger, Verdict
from nevermind.lifecycle import Event, Ruling, State
from nevermind.peers import Peer
from nevermind.policy import IdReuse
from nevermind.spans import Edit
from nevermind.uses import Use

_ID = ("id",)

_MOST_TOKENS = 64
"""Tokens of one id that are tracked while it has several uses at a time: one each is common."""

_UNTRACKED = Verdict(untracked=True, why="more requests in flight than are tracked")


def request(
    ledger: Ledger,
    issuer: Peer,
    key: Key | None,
    method: str,
    tokens: tuple[Key, ...],
    body: bytes,
    now: float,
) -> Verdict:
    """Track a request of ``issuer``; ``body`` is its message, for its spelling.

    An id of a kind that is never tracked (null, objects, fractions) passes,
    but its tokens are spoken for.
    """
    books = ledger.books[issuer]
    requests = books.requests
    if key is None:
        for token in tokens:
            books.tokens.lift(token)
        return FORWARD
    newest = requests.newest_use(key)
    if newest is not None and newest.wire in requests.live:
        shared = _share(ledger, books, newest, method, body)
        if shared is not None:
            return shared
    found = requests.find(key)
    if found is None and requests.live_count() >= ledger.policy.live_limit:
        return _UNTRACKED
    state = State.ABSENT if found is None else found[0]
    step = ledger.table[state, Event.REQUEST]
    if step.ruling is Ruling.FRESH_ID or books.fresh.issued(key):
        if ledger.policy.id_reuse is IdReuse.ALIAS:
            alias = _alias(ledger, books, key, method, body, now)
            if alias is not None:
                return alias
        requests.forget(key)
        found = requests.find(key)
    if found is not None and requests.is_live(key):
        use = requests.promote(key) if key in requests.plain else requests.live[key]
        _add_use(ledger, books, use, method, tokens)
        requests.move(use, step.next)
        return FORWARD
    # An older answer that still waits in our queue is not this request's.
    since = 0 if state is State.ABSENT else books.mark()
    requests.forget(key)
    requests.rise(key)
    requests.newest.pop(key, None)  # from now on the id means this use
    if tokens or since:
        use = Use(key, (now, method), tokens)
        use.since = since
        requests.live[key] = use
        books.tokens.claim(use)
    else:
        requests.plain[key] = (now, method)
    return FORWARD


def _add_use(ledger: Ledger, books: Books, use: Use, method: str, tokens: tuple[Key, ...]) -> None:
    use.uses += 1
    if _rank(ledger, method) > _rank(ledger, use.method):
        use.method = method
    use.shared = True
    use.cancelled_at = None
    new = [token for token in tokens if token not in use.tokens]
    for token in new[_MOST_TOKENS - len(use.tokens) :]:
        books.tokens.lift(token)
    use.tokens = (*use.tokens, *new)[:_MOST_TOKENS]
    books.tokens.claim(use)


def _rank(ledger: Ledger, method: str) -> int:
    """Which of several uses is left can't be told: the one with exceptions of its own decides."""
    if method in ledger.dialect.uncancellable:
        return 2
    return 1 if method in ledger.dialect.subscriptions else 0


def _share(ledger: Ledger, books: Books, use: Use, method: str, body: bytes) -> Verdict | None:
    """A further use of an id whose fresh wire id is live: both are ambiguous now.

    None where the message can't be changed; see ``_alias``.
    """
    if not _last(body, _ID):
        return None
    step = ledger.table[use.state, Event.REQUEST]
    assert use.name is not None
    older = books.requests.ended.get(use.name)
    spent = set() if older is None else set(_names_of_tokens(older))
    wires = {read_key(raw): wire for wire, raw in (use.respelled or {}).items()}
    edits: list[Edit] = [(_ID, spell(use.wire))]
    tokens: list[Key] = []
    for path, token, raw in _carried(ledger, body):
        wire = wires.get(token)
        if wire is None and (token in spent or books.fresh.issued(token)):
            wire = _respell(books, use, raw, token)
        tokens.append(token if wire is None else wire)
        if wire is not None:
            edits.append((path, spell(wire)))
    _add_use(ledger, books, use, method, tuple(tokens))
    books.requests.move(use, step.next)
    return Verdict(edits=tuple(edits), name=use.name, record=use, aliased=True)


def _alias(
    ledger: Ledger, books: Books, key: Key, method: str, body: bytes, now: float
) -> Verdict | None:
    """Send the request out under a fresh wire id, and under fresh tokens where needed.

    A token needs one where an older use of the id carried the same, or where
    it looks like one that was issued here.  None where it can't be made out at
    which place of the message the id stands: then the tombstone has to go, for
    the answer will come under the id's own name.
    """
    spelling = _last(body, _ID)
    if not spelling:
        return None
    requests = books.requests
    candidates = (requests.ended.get(key), requests.newest_use(key))
    older = [use for use in candidates if use is not None and use.name in (None, key)]
    spent = {token for use in older for token in _names_of_tokens(use)}
    use = Use(books.fresh.issue(key), (now, method))
    use.name = key
    use.spelling = spelling
    use.since = books.mark()
    edits: list[Edit] = [(_ID, spell(use.wire))]
    tokens: list[Key] = []
    for path, token, raw in _carried(ledger, body):
        if token in spent or books.fresh.issued(token):
            token = _respell(books, use, raw, token)
            edits.append((path, spell(token)))
        tokens.append(token)
    use.tokens = tuple(tokens)
    for old in older:
        old.superseded = True
    requests.add_fresh(use)
    ledger.translates = True
    books.tokens.claim(use)
    return Verdict(edits=tuple(edits), name=key, record=use, aliased=True)


def _respell(books: Books, use: Use, raw: bytes, token: Key) -> Key:
    """A fresh token of ``use`` in the place of ``token``, which is spelled ``raw``."""
    wire = books.fresh.issue(token)
    use.respelled = {**(use.respelled or {}), wire: raw}
    return wire


def _names_of_tokens(use: Use) -> list[Key]:
    """The tokens of ``use`` as its issuer knows them."""
    respelled = use.respelled or {}
    names = (read_key(respelled[t]) if t in respelled else t for t in use.tokens)
    return [name for name in names if name is not None]


def _carried(ledger: Ledger, body: bytes) -> list[tuple[Path, Key, bytes]]:
    """The tokens that a request carries: path, key and spelling of each."""
    found = []
    for path in ledger.dialect.request_tokens:
        raw = _last(body, path)
        token = read_key(raw) if raw else None
        if token is not None:
            found.append((path, token, raw))
    return found


def _last(body: bytes, path: Path) -> bytes:
    """The bytes of the value at ``path``; of repeated ones the last, of none b""."""
    found = spans.find(body, path)
    return body[found[-1][0] : found[-1][1]] if found else b""
