"""The records of one issuer's requests: which are in flight, cancelled, answered.

A plain request (one use, no token, its own wire id) is only a dictionary entry
whose value it shares with others that were read with it; all else has a
``Use`` of its own.  A wire id stands in at most one of the four places.
"""

from __future__ import annotations

from typing import Any

from nevermind.ids import Key, twin
from nevermind.lifecycle import State
from nevermind.memory import Generations
from nevermind.outbox import Spoken

Asked = tuple[float, str]
"""When a request was read (monotonic seconds) and its method."""


class Use:
    """One wire id that is more than plainly in flight, or was.

    Mutable, for it is the state; slots, for tens of thousands may stand.
    ``wire`` is its key on the wire.  Under a fresh wire id, ``name`` is the
    issuer's own key, ``spelling`` the issuer's bytes for it and ``respelled``
    the issuer's bytes for each fresh token.  ``answers`` and ``errors`` count
    answers that came after the cancel, ``again`` those that came after an
    answer.  ``shared``: it once was ambiguous; ``superseded``: its id has a newer
    use; ``since``: the first part of its issuer's queue that may hold its answer.
    ``due``: when time is up for it.  ``ours``: the proxy answered it; ``reply`` is
    that answer on its way.
    """

    __slots__ = (
        "absorbed",
        "again",
        "answers",
        "asked",
        "cancelled_at",
        "due",
        "errors",
        "method",
        "name",
        "ours",
        "reason",
        "reply",
        "respelled",
        "shared",
        "since",
        "spelling",
        "state",
        "superseded",
        "task",
        "tokens",
        "uses",
        "wire",
    )

    def __init__(self, wire: Key, asked: Asked, tokens: tuple[Key, ...] = ()) -> None:
        self.wire = wire
        self.asked = asked[0]
        self.method = asked[1]
        self.tokens = tokens
        self.state = State.IN_FLIGHT
        self.uses = 1
        self.cancelled_at: float | None = None
        self.again = 0
        self.answers = 0
        self.errors = 0
        self.reason: str | None = None
        self.name: Key | None = None
        self.spelling = b""
        self.respelled: dict[Key, bytes] | None = None
        self.task = False
        self.shared = False
        self.since = 0
        self.absorbed = False
        self.superseded = False
        self.due: float | None = None
        self.ours = False
        self.reply: Spoken | None = None

    @property
    def waits(self) -> bool:
        """Whether it is in flight, cancelled ones left out."""
        return self.state is State.IN_FLIGHT or self.state is State.AMBIGUOUS


Record = Asked | Use

_SWEEP = 1024
"""Ways from ids to fresh wire ids that may gather before stale ones are looked for."""


class Requests:
    """All that is known of one issuer's requests, by wire id.

    ``remember`` bounds the ended ids (tombstones and settled ones) and the
    answered ones; see ``Generations``.  Live ones are never evicted, nor is a
    tombstone while a fresh wire id for it is live (its key is in ``pinned``) or an
    answer of ours to it is unsent.  ``cancelled`` are the live ones that are
    cancelled and owed an answer.
    ``newest`` leads from an issuer's id to its newest use under a fresh id.
    ``highest``: no integer above it stands anywhere; most issuers count, and then one
    comparison tells that an id is new.
    """

    __slots__ = (
        "_sweep_at",
        "answered",
        "cancelled",
        "ended",
        "highest",
        "live",
        "newest",
        "pinned",
        "plain",
    )

    def __init__(self, remember: int) -> None:
        self.plain: dict[Key, Asked] = {}
        self.live: dict[Key, Use] = {}
        self.cancelled: set[Key] = set()
        self.pinned: set[Key] = set()
        self.ended: Generations[Key, Use] = Generations(remember, keep=self._is_pinned)
        self.answered: Generations[Key, Record] = Generations(remember)
        self.newest: dict[Key, Use] = {}
        self.highest = -1
        self._sweep_at = _SWEEP

    def find(self, key: Key) -> tuple[State, Record] | None:
        """Where exactly ``key`` stands, or None for an absent one."""
        asked = self.plain.get(key)
        if asked is not None:
            return State.IN_FLIGHT, asked
        use = self.live.get(key) or self.ended.get(key)
        if use is not None:
            return use.state, use
        record = self.answered.get(key)
        return None if record is None else (State.ANSWERED, record)

    def locate(self, key: Key) -> tuple[Key, State, Record] | None:
        """Like ``find``; where ``key`` is absent, its twin of the other type stands in."""
        found = self.find(key)
        if found is not None:
            return key, *found
        other = twin(key)
        if other is not None:
            found = self.find(other)
            if found is not None:
                return other, *found
        return None

    def knows(self, key: Key) -> bool:
        """Whether exactly ``key`` stands anywhere; counts it as tracked from now on."""
        self.rise(key)
        return key in self.plain or key in self.live or key in self.answered or key in self.ended

    def knows_any(self, keys: list[Key]) -> bool:
        """Whether any of ``keys`` stands anywhere; counts them as tracked from now on.

        Ids nearly always rise; then sorting them, which costs 5 ns an id, spares a look into
        each place, which costs 25 and more.
        """
        if keys and type(keys[0]) is int:
            try:
                rising: list[Any] = sorted(keys)
                if rising[0] > self.highest:
                    self.highest = rising[-1]
                    return False
            except TypeError:
                pass  # a string among them
        for key in keys:
            self.rise(key)
        return not (
            self.plain.keys().isdisjoint(keys)
            and self.live.keys().isdisjoint(keys)
            and self.ended.isdisjoint(keys)
            and self.answered.isdisjoint(keys)
        )

    def rise(self, key: Key) -> None:
        """No integer id above ``highest`` stands anywhere: ``key`` is about to."""
        if type(key) is int and key > self.highest:
            self.highest = key

    def is_live(self, key: Key) -> bool:
        """Whether ``key`` itself waits for an answer, cancelled or not."""
        return key in self.plain or key in self.live

    def twin_in_flight(self, key: Key) -> bool:
        """Whether the twin of ``key`` is in flight: it may be the one that is meant."""
        other = twin(key)
        return other is not None and self.is_live(other) and other not in self.cancelled

    def twin_is_live(self, key: Key) -> bool:
        """Whether the twin of ``key`` waits for an answer, cancelled or not."""
        other = twin(key)
        return other is not None and self.is_live(other)

    def newest_use(self, name: Key) -> Use | None:
        """The newest use of an issuer's id, if it travels under a fresh wire id."""
        if not self.newest:
            return None
        use = self.newest.get(name)
        if use is None:
            return None
        found = self.find(use.wire)
        if found is None or found[1] is not use:
            del self.newest[name]
            return None
        return use

    def promote(self, key: Key) -> Use:
        """Give the plain request ``key`` a record of its own."""
        use = Use(key, self.plain.pop(key))
        self.live[key] = use
        return use

    def move(self, use: Use, state: State) -> None:
        """Put ``use`` where ``state`` belongs, and nowhere else."""
        wire = use.wire
        self.live.pop(wire, None)
        self.cancelled.discard(wire)
        self.ended.pop(wire)
        self.answered.pop(wire)
        use.state = state
        if state in (State.TOMBSTONE, State.SETTLED):
            self.ended.put(wire, use)
        elif state is State.ANSWERED:
            self.answered.put(wire, use)
        else:
            self.live[wire] = use
            if state is State.CANCELLED:
                self.cancelled.add(wire)
        if use.name is not None and self.newest.get(use.name) is use:
            if wire in self.live:
                self.pinned.add(use.name)
            else:
                self.pinned.discard(use.name)

    def add_fresh(self, use: Use) -> None:
        """Track ``use``, in flight under a fresh wire id, as the newest of its name."""
        assert use.name is not None
        self.newest[use.name] = use
        self.rise(use.wire)
        if len(self.newest) > self._sweep_at:
            for name in list(self.newest):
                self.newest_use(name)
            self._sweep_at = 2 * len(self.newest) + _SWEEP
        self.move(use, State.IN_FLIGHT)

    def forget(self, key: Key) -> None:
        """Make ``key`` absent, unless it is live."""
        self.ended.pop(key)
        self.answered.pop(key)

    def forget_ended(self) -> None:
        """Forget every tombstone and answered id, pinned tombstones excepted.

        And every cancelled id that is owed an answer: it may be owed two by now.
        """
        self.ended.clear()
        self.answered.clear()
        for key in self.cancelled:
            del self.live[key]
        self.cancelled.clear()

    def live_count(self) -> int:
        """How many ids wait for an answer."""
        return len(self.plain) + len(self.live)

    def _is_pinned(self, use: Use) -> bool:
        if use.reply is not None and use.reply.waiting:
            return True  # a new use of its id may still have to take it back
        return use.wire in self.pinned
