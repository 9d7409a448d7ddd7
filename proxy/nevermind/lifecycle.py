"""The life of one request id, as data: states x events -> next state and ruling.

Everything that decides the life of an id stands in the two tables below; the
ledger looks steps up here and keeps the records, the policy's switches say
what a ruling comes to, and the README's state tables are drawn from this file.

An id's record is kept per issuer and per wire id (the id the receiver sees).
"""

from __future__ import annotations

import enum

import msgspec

from nevermind.singletons import Singletons


class State(Singletons):
    """Where a wire id stands."""

    ABSENT = "absent"
    IN_FLIGHT = "in flight"
    AMBIGUOUS = "ambiguous"
    CANCELLED = "cancelled"
    SETTLED = "settled"
    TOMBSTONE = "tombstone"
    ANSWERED = "answered"


class Event(Singletons):
    """What can befall a wire id."""

    REQUEST = "request, same id"
    CANCEL = "cancel by issuer"
    RESPONSE = "response"
    LAST_BUT_ONE = "response that leaves one use"
    CAP = "cap reached"
    TIME = "time is up"


class Ruling(enum.Enum):
    """What becomes of the message; the switches of the policy have the last word."""

    FORWARD = "forward"
    FRESH_ID = "forward under a fresh wire id"
    FIRST_CANCEL = "forward the cancel"
    REDUNDANT = "drop: redundant cancel"
    LATE = "drop: late response"
    OWED = "forward: it is owed"
    SECOND_ANSWER = "drop: one answer per request"
    UNASKED = "forward (`--shield`: drop)"
    NEVER = "never"
    ANSWER = "answer it ourselves"
    FORGET = "forget the oldest"


class Step(msgspec.Struct, frozen=True):
    """One cell of a table."""

    next: State
    ruling: Ruling


Table = dict[tuple[State, Event], Step]

_ALWAYS: Table = {
    (State.ABSENT, Event.REQUEST): Step(State.IN_FLIGHT, Ruling.FORWARD),
    (State.ABSENT, Event.CANCEL): Step(State.ABSENT, Ruling.UNASKED),
    (State.ABSENT, Event.RESPONSE): Step(State.ABSENT, Ruling.UNASKED),
    (State.ABSENT, Event.TIME): Step(State.ABSENT, Ruling.NEVER),
    (State.IN_FLIGHT, Event.REQUEST): Step(State.AMBIGUOUS, Ruling.FORWARD),
    (State.IN_FLIGHT, Event.RESPONSE): Step(State.ANSWERED, Ruling.FORWARD),
    (State.IN_FLIGHT, Event.CAP): Step(State.IN_FLIGHT, Ruling.NEVER),
    (State.IN_FLIGHT, Event.TIME): Step(State.TOMBSTONE, Ruling.ANSWER),
    (State.AMBIGUOUS, Event.REQUEST): Step(State.AMBIGUOUS, Ruling.FORWARD),
    (State.AMBIGUOUS, Event.CANCEL): Step(State.AMBIGUOUS, Ruling.FIRST_CANCEL),
    (State.AMBIGUOUS, Event.RESPONSE): Step(State.AMBIGUOUS, Ruling.FORWARD),
    (State.AMBIGUOUS, Event.LAST_BUT_ONE): Step(State.IN_FLIGHT, Ruling.FORWARD),
    (State.AMBIGUOUS, Event.CAP): Step(State.AMBIGUOUS, Ruling.NEVER),
    (State.AMBIGUOUS, Event.TIME): Step(State.AMBIGUOUS, Ruling.NEVER),
    (State.TOMBSTONE, Event.REQUEST): Step(State.IN_FLIGHT, Ruling.FRESH_ID),
    (State.TOMBSTONE, Event.CANCEL): Step(State.TOMBSTONE, Ruling.REDUNDANT),
    (State.TOMBSTONE, Event.RESPONSE): Step(State.TOMBSTONE, Ruling.LATE),
    (State.TOMBSTONE, Event.CAP): Step(State.ABSENT, Ruling.FORGET),
    (State.TOMBSTONE, Event.TIME): Step(State.TOMBSTONE, Ruling.ANSWER),
    (State.ANSWERED, Event.REQUEST): Step(State.IN_FLIGHT, Ruling.FORWARD),
    (State.ANSWERED, Event.CANCEL): Step(State.ANSWERED, Ruling.REDUNDANT),
    (State.ANSWERED, Event.RESPONSE): Step(State.ANSWERED, Ruling.UNASKED),
    (State.ANSWERED, Event.CAP): Step(State.ABSENT, Ruling.FORGET),
    (State.ANSWERED, Event.TIME): Step(State.ANSWERED, Ruling.NEVER),
}

UNANSWERED: Table = {
    **_ALWAYS,
    (State.IN_FLIGHT, Event.CANCEL): Step(State.TOMBSTONE, Ruling.FIRST_CANCEL),
}
"""A cancelled request stays unanswered: MCP."""

OWED: Table = {
    **_ALWAYS,
    (State.IN_FLIGHT, Event.CANCEL): Step(State.CANCELLED, Ruling.FIRST_CANCEL),
    (State.CANCELLED, Event.REQUEST): Step(State.AMBIGUOUS, Ruling.FORWARD),
    (State.CANCELLED, Event.CANCEL): Step(State.CANCELLED, Ruling.REDUNDANT),
    (State.CANCELLED, Event.RESPONSE): Step(State.SETTLED, Ruling.OWED),
    (State.CANCELLED, Event.CAP): Step(State.CANCELLED, Ruling.NEVER),
    (State.CANCELLED, Event.TIME): Step(State.TOMBSTONE, Ruling.ANSWER),
    (State.SETTLED, Event.REQUEST): Step(State.IN_FLIGHT, Ruling.FORWARD),
    (State.SETTLED, Event.CANCEL): Step(State.SETTLED, Ruling.REDUNDANT),
    (State.SETTLED, Event.RESPONSE): Step(State.SETTLED, Ruling.SECOND_ANSWER),
    (State.SETTLED, Event.CAP): Step(State.ABSENT, Ruling.FORGET),
    (State.SETTLED, Event.TIME): Step(State.SETTLED, Ruling.NEVER),
}
"""A cancelled request is still owed one answer: LSP, BSP, ACP.

A use that the proxy answered itself is a tombstone here too.
"""


def table_for(answer_owed: bool) -> Table:
    """The table of a dialect."""
    return OWED if answer_owed else UNANSWERED
