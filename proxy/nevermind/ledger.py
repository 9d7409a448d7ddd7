"""Who asked what, and where each id stands: the state of one session.

One set of books per issuer, because the same id in both directions is two
requests.  The rules for what befalls an id are in ``asking``, ``cancelling``,
``answering`` and ``progressing``; the transitions themselves in ``lifecycle``.
Never sees a message.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nevermind.dialects import Dialect
from nevermind.fresh import FreshIds
from nevermind.ids import Key
from nevermind.lifecycle import Table, table_for
from nevermind.memory import Generations
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.spans import Edit
from nevermind.tokens import Tokens
from nevermind.uses import Record, Requests, Use


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """What becomes of one message.

    ``held``: None to forward it (with ``edits``), else what it is dropped as.
    ``record`` and ``name`` (the issuer's id) are for the journal.
    ``untracked``: a request passes that the ledger has no place for.
    ``retractable``: a redundant cancel whose answer, if it still waits in our
    queue, is late.  ``cancelled``: this cancel is worth a line; ``effective``: it
    ended its request.  ``aliased``: this request went out under a fresh wire id.
    ``final``: dropped even if it may create a task; ``task`` is the id of one
    that it certainly creates, ``reap``: which is to be cancelled.
    """

    held: What | None = None
    why: str = ""
    name: Key | None = None
    record: Record | None = None
    edits: tuple[Edit, ...] = ()
    retractable: bool = False
    cancelled: bool = False
    effective: bool = False
    aliased: bool = False
    untracked: bool = False
    final: bool = False
    task: str = ""
    reap: bool = False


FORWARD = Verdict()


class Books:
    """The records of one issuer.

    ``mark`` gives the number of the part that will be queued next for the issuer,
    or 0 while none waits.  ``own``: our own requests in its place, wire id to the
    task that each cancels.
    ``unsure``: the issuer sent something untracked that may have been a
    request, so an answer to an unknown id may be wanted after all.
    ``forgot_at`` is the mark of that time: what waits from before answers nothing that is
    known.  ``unasked``: ids to which answers have passed that nobody had asked for.
    """

    __slots__ = (
        "forgot_at",
        "fresh",
        "issuer",
        "mark",
        "own",
        "requests",
        "tokens",
        "unasked",
        "unsure",
    )

    def __init__(self, issuer: Peer, remember: int, nonce: str) -> None:
        self.issuer = issuer
        self.requests = Requests(remember)
        self.tokens = Tokens(remember)
        self.fresh = FreshIds(nonce, self._seen)
        self.own: Generations[Key, str] = Generations(remember)
        self.unasked: Generations[Key, bool] = Generations(remember)
        self.unsure = False
        self.forgot_at = 0
        self.mark: Callable[[], int] = lambda: 0

    def forget(self) -> None:
        """An untracked message may have used any id again: nothing ended is certain."""
        self.requests.forget_ended()
        self.tokens.forget_ended()
        self.unsure = True
        self.forgot_at = self.mark()

    def _seen(self, key: Key) -> bool:
        return self.requests.find(key) is not None or self.tokens.knows(key)


class Ledger:
    """Both sets of books, the switches and the table that rule them.

    ``translates``: a fresh wire id has been issued, to either peer.  ``cancelled``
    counts requests, ``overrun`` those of them that were answered all the same;
    ``longest_overrun`` is the most seconds from a cancel to an answer.
    """

    __slots__ = (
        "books",
        "cancelled",
        "dialect",
        "longest_overrun",
        "overrun",
        "policy",
        "table",
        "translates",
    )

    def __init__(self, policy: Policy, dialect: Dialect, nonce: str) -> None:
        self.policy = policy
        self.dialect = dialect
        self.table: Table = table_for(dialect.answer_owed)
        self.books = {peer: Books(peer, policy.remember, nonce) for peer in Peer}
        self.translates = False
        self.cancelled = 0
        self.overrun = 0
        self.longest_overrun: float | None = None

    def waiting(self) -> int:
        """How many uncancelled requests of the client wait, subscriptions left out."""
        requests = self.books[Peer.CLIENT].requests
        listens = self.dialect.subscriptions
        plain = sum(method not in listens for _, method in requests.plain.values())
        return plain + sum(
            use.uses
            for use in requests.live.values()
            if use.cancelled_at is None and use.method not in listens
        )

    def in_flight(self) -> dict[Peer, int]:
        """How many ids of each issuer wait for an answer."""
        return {peer: books.requests.live_count() for peer, books in self.books.items()}

    def ended(self, books: Books, use: Use, now: float) -> None:
        """Count a cancel that took effect."""
        use.cancelled_at = now
        books.tokens.end(use)
        self.cancelled += 1

    def overran(self, use: Use, now: float) -> None:
        """Count an answer that came after the cancel."""
        assert use.cancelled_at is not None
        if not use.answers:
            self.overrun += 1
        use.answers += 1
        late = now - use.cancelled_at
        self.longest_overrun = max(late, self.longest_overrun or 0.0)
