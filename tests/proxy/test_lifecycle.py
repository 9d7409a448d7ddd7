"""The life of a request id, cell by cell: the two tables written out, and played.

Every row is compared with the table in ``lifecycle`` and then happens: an id is brought to the
state, the event befalls it, and the ledger says where it stands after that.
"""

from __future__ import annotations

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.ledger import Verdict
from nevermind.lifecycle import OWED, UNANSWERED, Event, Ruling, State, Step, table_for
from nevermind.notes import What
from nevermind.policy import Policy
from nevermind.uses import Use
from proxy import messages
from proxy.court import Court

ID = 7

UNANSWERED_TABLE = """
absent    | request, same id             | in flight | forward
absent    | cancel by issuer             | absent    | forward (`--shield`: drop)
absent    | response                     | absent    | forward (`--shield`: drop)
absent    | time is up                   | absent    | never

in flight | request, same id             | ambiguous | forward
in flight | cancel by issuer             | tombstone | forward the cancel
in flight | response                     | answered  | forward
in flight | cap reached                  | in flight | never
in flight | time is up                   | tombstone | answer it ourselves

ambiguous | request, same id             | ambiguous | forward
ambiguous | cancel by issuer             | ambiguous | forward the cancel
ambiguous | response                     | ambiguous | forward
ambiguous | response that leaves one use | in flight | forward
ambiguous | cap reached                  | ambiguous | never
ambiguous | time is up                   | ambiguous | never

tombstone | request, same id             | in flight | forward under a fresh wire id
tombstone | cancel by issuer             | tombstone | drop: redundant cancel
tombstone | response                     | tombstone | drop: late response
tombstone | cap reached                  | absent    | forget the oldest
tombstone | time is up                   | tombstone | answer it ourselves

answered  | request, same id             | in flight | forward
answered  | cancel by issuer             | answered  | drop: redundant cancel
answered  | response                     | answered  | forward (`--shield`: drop)
answered  | cap reached                  | absent    | forget the oldest
answered  | time is up                   | answered  | never
"""

OWED_TABLE = (
    UNANSWERED_TABLE.replace(
        "in flight | cancel by issuer             | tombstone |",
        "in flight | cancel by issuer             | cancelled |",
    )
    + """
cancelled | request, same id             | ambiguous | forward
cancelled | cancel by issuer             | cancelled | drop: redundant cancel
cancelled | response                     | settled   | forward: it is owed
cancelled | cap reached                  | cancelled | never
cancelled | time is up                   | tombstone | answer it ourselves

settled   | request, same id             | in flight | forward
settled   | cancel by issuer             | settled   | drop: redundant cancel
settled   | response                     | settled   | drop: one answer per request
settled   | cap reached                  | absent    | forget the oldest
settled   | time is up                   | settled   | never
"""
)

Row = tuple[State, Event, State, Ruling]


def rows(table: str) -> list[Row]:
    """The rows of a table as it is written."""
    found: list[Row] = []
    for line in table.split("\n"):
        if line:
            state, event, after, ruling = (cell.strip() for cell in line.split("|"))
            found.append((State(state), Event(event), State(after), Ruling(ruling)))
    return found


def name(row: Row) -> str:
    """How a row is called among the tests."""
    return f"{row[0].value}, {row[1].value}"


class Life:
    """One id of the client's, and what befalls it."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.court = Court(Policy(remember=4), dialect)

    def ask(self, id: int = ID) -> Verdict:
        """The client asks."""
        return self.court.client(messages.call(id, dialect=self.dialect))

    def cancel(self, id: int = ID) -> Verdict:
        """The client cancels."""
        return self.court.client(messages.cancel(id, dialect=self.dialect))

    def answer(self, id: int = ID) -> Verdict:
        """The server answers."""
        return self.court.server(messages.answer(id))

    def state(self) -> State:
        """Where the id stands."""
        return self.court.state(ID)

    def bring_to(self, state: State) -> None:
        """Let that happen after which the id is in ``state``."""
        match state:
            case State.ABSENT:
                return
            case State.AMBIGUOUS:
                self.ask()
                self.ask()
            case State.ANSWERED:
                self.ask()
                self.answer()
            case State.TOMBSTONE if self.dialect.answer_owed:
                # A use that we answered ourselves is one in every dialect.
                use = Use(ID, (0.0, "x"))
                use.cancelled_at = 0.0
                use.ours = True
                self.court.books().requests.move(use, State.TOMBSTONE)
            case State.TOMBSTONE | State.CANCELLED:
                self.ask()
                self.cancel()
            case State.SETTLED:
                self.ask()
                self.cancel()
                self.answer()
            case _:
                self.ask()
        assert self.state() is state

    def befall(self, event: Event, state: State) -> Verdict:
        """``event`` happens to the id."""
        match event:
            case Event.REQUEST:
                return self.ask()
            case Event.CANCEL:
                return self.cancel()
            case Event.RESPONSE:
                if state is State.AMBIGUOUS:
                    self.ask()  # of three uses two are left
                return self.answer()
            case Event.LAST_BUT_ONE:
                return self.answer()
            case _:
                self.live_through_many_others()
                return Verdict()

    def live_through_many_others(self) -> None:
        """So many ids are cancelled and answered that the oldest have to go."""
        for other in range(100, 120):
            self.ask(other)
            self.cancel(other)
            self.answer(other)
            self.ask(other + 100)
            self.answer(other + 100)


HELD = {
    Ruling.REDUNDANT: What.REDUNDANT_CANCEL,
    Ruling.LATE: What.LATE_RESPONSE,
    Ruling.SECOND_ANSWER: What.LATE_RESPONSE,
}


def check(life: Life, row: Row) -> None:
    """The row happens as it is written."""
    state, event, after, ruling = row
    life.bring_to(state)
    verdict = life.befall(event, state)
    assert verdict.held is HELD.get(ruling)
    assert verdict.aliased == (ruling is Ruling.FRESH_ID)
    if ruling is Ruling.FRESH_ID:
        # The new use is in flight under its own wire id, and the tombstone stands.
        assert life.state() is state
        use = life.court.alias(ID)
        assert use.state is after
        assert use.wire != ID
    else:
        assert life.state() is after


def played(table: str) -> list[Row]:
    """The rows that a message or the memory's bound can bring about."""
    return [row for row in rows(table) if row[1] is not Event.TIME]


@pytest.mark.parametrize("row", played(UNANSWERED_TABLE), ids=name)
def test_where_a_cancelled_request_stays_unanswered(row: Row) -> None:
    """MCP, row by row."""
    check(Life(MCP), row)


@pytest.mark.parametrize("row", played(OWED_TABLE), ids=name)
def test_where_an_answer_is_owed(row: Row) -> None:
    """LSP and its kin, row by row."""
    check(Life(messages.OWED), row)


@pytest.mark.parametrize(
    ("table", "written"), [(UNANSWERED, UNANSWERED_TABLE), (OWED, OWED_TABLE)], ids=("MCP", "owed")
)
def test_the_tables_are_as_written(table: dict[tuple[State, Event], Step], written: str) -> None:
    """Cell by cell, and there are no other cells."""
    assert table == {(s, e): Step(after, ruling) for s, e, after, ruling in rows(written)}


def test_each_dialect_has_its_table() -> None:
    """By whether it owes cancelled requests an answer."""
    assert table_for(answer_owed=False) is UNANSWERED
    assert table_for(answer_owed=True) is OWED


@pytest.mark.parametrize("table", [UNANSWERED, OWED], ids=("MCP", "owed"))
def test_every_state_that_can_be_reached_has_a_way_on(
    table: dict[tuple[State, Event], Step],
) -> None:
    """Whatever comes: a request, a cancel or a response."""
    reached = {State.ABSENT} | {step.next for step in table.values()}
    for state in reached:
        for event in (Event.REQUEST, Event.CANCEL, Event.RESPONSE):
            assert (state, event) in table


@pytest.mark.parametrize("table", [UNANSWERED, OWED], ids=("MCP", "owed"))
def test_only_what_has_ended_is_ever_forgotten(table: dict[tuple[State, Event], Step]) -> None:
    """Live entries are never aged or evicted: a listen lives for hours."""
    forgotten = {s for (s, e), step in table.items() if step.ruling is Ruling.FORGET}
    live = {s for (s, e), step in table.items() if e is Event.CAP and step.ruling is Ruling.NEVER}
    assert forgotten <= {State.TOMBSTONE, State.SETTLED, State.ANSWERED}
    assert live <= {State.IN_FLIGHT, State.AMBIGUOUS, State.CANCELLED}
    assert not forgotten & live
