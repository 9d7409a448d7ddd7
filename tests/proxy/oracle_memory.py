"""What the oracle remembers of one peer's requests and tokens: plain lists, searched from the end.

It knows entries and their states.  It does not know which message changes them: the rules are in
``proxy.oracle``.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from proxy.oracle_reading import Key

SMALL = 1000
"""Where fewer ids are remembered, what hangs on an id that is used anew may be forgotten too."""


class State(enum.Enum):
    """How it stands with the uses of one wire id."""

    LIVE = "in flight"
    CANCELLED = "cancelled"
    ANSWERED = "answered"
    SETTLED = "cancelled, and answered since"


@dataclass(eq=False, slots=True)
class Item:
    """A message that waits in the queue of one peer."""

    data: bytes
    taken: int = 0
    retracted: bool = False
    corner: bool = False

    @property
    def left(self) -> bytes:
        """What of it has yet to go out."""
        return b"" if self.retracted else self.data[self.taken :]


@dataclass(eq=False, slots=True)
class Entry:
    """One id on the wire, with the uses that share it."""

    own: Key
    wire: Key
    wire_bytes: bytes
    fresh: bool
    uses: int = 1
    state: State = State.LIVE
    since: int = 0
    methods: list[str | None] = field(default_factory=list)
    spellings: list[bytes] = field(default_factory=list)
    tokens: set[Key] = field(default_factory=set)
    ambiguous: bool = False
    task: bool = False
    taken_back: bool = False
    answers_passed: int = 0
    first_passed: bool = False
    error_passed: bool = False
    answers_seen: int = 0
    replaced: bool = False
    cleared: bool = False
    gone: bool = False
    evicted: bool = False
    shaky: bool = False
    answer: Item | None = None


@dataclass(eq=False, slots=True)
class Token:
    """One token on the wire: who carried it, and how the issuer wrote it, in one way or several."""

    spellings: list[bytes]
    fresh: bool
    owners: list[Entry] = field(default_factory=list)
    released: bool = False
    others: list[Entry] = field(default_factory=list)
    shaky: bool = False


class Known(enum.Enum):
    """Whether the bounds still demand that an ended entry is known."""

    YES = enum.auto()
    EITHER = enum.auto()
    NO = enum.auto()


@dataclass(eq=False)
class Side:
    """Everything that one peer has asked."""

    remember: int
    answer_owed: bool = False
    entries: list[Entry] = field(default_factory=list)
    tokens: dict[Key, Token] = field(default_factory=dict)
    issued_ids: set[Key] = field(default_factory=set)
    issued_tokens: set[Key] = field(default_factory=set)
    seen_ids: set[Key] = field(default_factory=set)
    seen_tokens: set[Key] = field(default_factory=set)
    doubtful: set[Key] = field(default_factory=set)
    may_have_asked: bool = False
    clock: int = 0

    def tick(self) -> int:
        """A number greater than all before."""
        self.clock += 1
        return self.clock

    def standing(self) -> Iterator[Entry]:
        """The entries that may still be known, newest first."""
        for entry in reversed(self.entries):
            if not entry.replaced and self.known(entry) is not Known.NO:
                yield entry

    def on_wire(self, key: Key) -> Entry | None:
        """The entry of a wire id."""
        return next((entry for entry in self.standing() if entry.wire == key), None)

    def newest(self, key: Key) -> Entry | None:
        """An issuer's id means its newest use."""
        return next((entry for entry in self.standing() if entry.own == key), None)

    def live_fresh(self, key: Key) -> Entry | None:
        """The fresh id in flight for an issuer's id."""
        return next(
            (e for e in self.standing() if e.own == key and e.fresh and e.state is State.LIVE), None
        )

    def pinned(self, entry: Entry) -> bool:
        """A tombstone is neither evicted nor forgotten while a fresh id for it is live."""
        live = self.live_fresh_of(entry)
        return entry.state is State.CANCELLED and live is not None and live is not entry

    def live_fresh_of(self, entry: Entry) -> Entry | None:
        """As ``live_fresh``, without a look at what may be known (live ones always are)."""
        for other in self.entries:
            if other.own == entry.own and other.fresh and other.state is State.LIVE:
                return other
        return None

    def known(self, entry: Entry) -> Known:
        """Newest COUNT are known, at most twice as many, oldest goes first; live ones always."""
        if entry.gone or entry.evicted:
            return Known.NO
        if entry.state is State.LIVE or self.pinned(entry):
            return Known.YES
        if entry.shaky:
            return Known.EITHER  # fresh ids of fresh ids: a corner that may be met more simply
        if entry.state is State.CANCELLED and self.answer_owed:
            return Known.YES
        if entry.replaced:
            return Known.EITHER if self.remember < SMALL else Known.YES
        same = [
            other
            for other in self.entries
            if other is not entry
            and other.state is not State.LIVE
            and (other.state is State.ANSWERED) == (entry.state is State.ANSWERED)
        ]
        # what is gone or replaced by now took its place when it ended
        ever = sum(other.since > entry.since or self.was_pinned(other) for other in same)
        if ever < self.remember:
            return Known.YES
        newer = sum(
            other.since > entry.since and not (other.replaced or other.gone) for other in same
        )
        evicted = newer >= 2 * self.remember and not self.was_pinned(entry)
        return Known.NO if evicted else Known.EITHER

    def was_pinned(self, entry: Entry) -> bool:
        """It once had a live fresh id: when that ended, it may have counted as new."""
        later = self.entries[self.entries.index(entry) + 1 :]
        return any(other.fresh and other.own == entry.own for other in later)

    def token_known(self, entry: Entry) -> Known:
        """What its tokens mean: one memory of COUNT tokens will do for both kinds of ended uses."""
        known = self.known(entry)
        if entry.gone or (known is Known.NO and self.remember >= SMALL):
            return Known.NO
        newer = sum(
            len(other.tokens)
            for other in self.entries
            if other.state is not State.LIVE and other.since > entry.since
        )
        crowded = newer + len(entry.tokens) > self.remember
        return known if known is Known.YES and not crowded else Known.EITHER

    def owners(self, token: Token | None) -> list[Entry]:
        """Who may still be known to have carried it."""
        carried = token.owners if token is not None else []
        return [owner for owner in carried if self.token_known(owner) is not Known.NO]

    def newer_use(self, entry: Entry) -> Entry | None:
        """A later use of the same id by its issuer, under another wire id."""
        if entry.replaced:
            return None
        for other in self.standing():
            if other is entry:
                return None
            if other.own == entry.own:
                return other
        return None

    def forget(self) -> None:
        """What could not be tracked may have asked: ended entries are unknown from now on."""
        self.may_have_asked = True
        for entry in self.entries:
            if entry.state is not State.LIVE and not self.pinned(entry):
                entry.shaky = any(
                    o.own == entry.wire and o.fresh and o.state is State.LIVE for o in self.entries
                )
                entry.gone = not entry.shaky
        for token in self.tokens.values():
            token.shaky = True

    def claim(self, wire: Key, spelling: bytes, fresh: bool, entry: Entry | None) -> None:
        """A request that carries a token removes the claims of ended owners, never of live ones."""
        old = self.tokens.get(wire)
        before = [*old.owners, *old.others] if old is not None else []
        owners = [owner for owner in before if owner.state is State.LIVE]
        if entry is not None:
            owners.append(entry)
        if owners:
            shared = old.spellings if old is not None and len(owners) > 1 else []
            self.tokens[wire] = Token([*shared, spelling], fresh, owners)
        else:
            self.tokens.pop(wire, None)

    def release(self, entry: Entry) -> None:
        """A task keeps its token: nobody owns it any more, so its progress passes."""
        certain = self.known(entry) is Known.YES
        for token in self.tokens.values():
            if entry in token.owners and not certain:
                token.shaky = True
            elif entry in token.owners:
                token.others = [owner for owner in token.owners if owner is not entry]
                token.owners.clear()
                token.released = True
