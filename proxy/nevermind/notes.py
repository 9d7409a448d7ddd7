"""What a session tells people: one note per cancel, per drop, per fresh id.

A note is a plain value; ``nevermind.shell.journal`` writes it.  Payload bodies never
stand in a note.
"""

from __future__ import annotations

import msgspec

from nevermind.peers import Peer
from nevermind.singletons import Singletons


class Event(Singletons):
    """The kind of a note; the ``event`` member of its JSON line."""

    CANCEL = "cancel"
    DROP = "drop"
    ALIAS = "alias"
    FORGET = "forget"
    UNTRACKED = "untracked"
    TIMEOUT = "timeout"
    ANSWER = "answer"
    REVOKE = "revoke"
    REAP = "reap"
    HINT = "hint"


class What(Singletons):
    """What was held back; the ``what`` member of a drop's JSON line."""

    LATE_RESPONSE = "late-response"
    LATE_PROGRESS = "late-progress"
    STALE_PROGRESS = "stale-progress"
    REDUNDANT_CANCEL = "redundant-cancel"
    INITIALIZE_CANCEL = "initialize-cancel"
    ABSORBED_CANCEL = "absorbed-cancel"
    UNKNOWN_CANCEL = "unknown-cancel"
    UNASKED_ANSWER = "unasked-answer"
    NOISE = "noise"
    SWALLOWED_ANSWER = "swallowed-answer"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One thing worth a line in the journal.

    ``issuer`` is the peer that issued the request in question, ``id`` its id
    (or progress token) as the issuer wrote it: an int or a str.  Times are
    seconds, ``bytes`` the size of the message.  ``outcome`` is "result" or
    "error".  ``why`` says in plain words why the verdict was what it was.
    ``task`` is the id of a task that its receiver will not hear of.

    TIMEOUT: a request timed out, ANSWER: a cancelled one was answered by us,
    REVOKE: that answer was taken back unsent, REAP: we cancelled a task, HINT: what may
    have been meant, or may help.
    """

    event: Event
    what: What | None = None
    issuer: Peer | None = None
    id: int | str | None = None
    method: str | None = None
    since_request_s: float | None = None
    since_cancel_s: float | None = None
    bytes: int | None = None
    outcome: str | None = None
    reason: str | None = None
    why: str | None = None
    task: str | None = None


class Diverted(msgspec.Struct, frozen=True):
    """A server's noise on its way to stderr, byte for byte."""

    data: bytes


class Statistics(msgspec.Struct, frozen=True):
    """What a session has done so far; the summary line is made from it.

    ``forwarded`` counts messages, ``dropped`` messages by kind, ``cancelled``
    requests, ``never_answered`` those of them that got no answer at all, and
    ``longest_overrun_s`` is how long after a cancel the last late answer came.
    ``in_flight`` is, per issuer, the number of requests that still wait.
    ``timed_out`` counts requests, ``answered`` the answers of our own (to those
    and to cancelled ones, revoked ones left out), ``reaped`` tasks.
    """

    forwarded: int = 0
    dropped: dict[What, int] = msgspec.field(default_factory=dict)
    cancelled: int = 0
    never_answered: int = 0
    longest_overrun_s: float | None = None
    in_flight: dict[Peer, int] = msgspec.field(default_factory=dict)
    timed_out: int = 0
    answered: int = 0
    reaped: int = 0
    waiting: int = 0
    """Uncancelled client requests, listens left out: they lengthen the grace."""
