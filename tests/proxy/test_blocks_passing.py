"""One line that passes as it is: asked about, and then not received."""

from __future__ import annotations

import pytest

from nevermind.blocks import Blocks
from nevermind.lifecycle import State
from nevermind.policy import Policy
from proxy.every_dialect import LSP
from proxy.messages import OWED, answer, batch, call, cancel, error, initialize, note, task
from proxy.wire import CLIENT, SERVER, Wire


def passes(wire: Wire, data: bytes) -> bool:
    """Whether ``data`` of the client passes."""
    return wire.session.stream(CLIENT).passes(data, 1.5)


def comes_back(wire: Wire, data: bytes) -> bool:
    """Whether ``data`` of the server passes."""
    return wire.session.stream(SERVER).passes(data, 2.5)


def test_a_conversation() -> None:
    """The ledger knows each of them, and they are counted."""
    wire = Wire()
    assert passes(wire, initialize(0) + b"\n")
    assert comes_back(wire, answer(0, {}) + b"\n")
    assert passes(wire, note() + b"\n")
    assert passes(wire, call(1) + b"\n")
    assert wire.ledger.books[CLIENT].requests.find(1) == (State.IN_FLIGHT, (1.5, "tools/call"))
    assert comes_back(wire, note() + b"\n")
    assert comes_back(wire, call(1) + b"\n")
    assert wire.state(1, SERVER) is State.IN_FLIGHT
    assert passes(wire, answer(1, {}) + b"\n")
    assert comes_back(wire, error(1) + b"\n")
    assert wire.state(1) is wire.state(1, SERVER) is State.ANSWERED
    assert wire.session.statistics().forwarded == 8


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        call(1),
        call(1) + b"\n\n",
        call(1) + b"\n" + call(2) + b"\n",
        call(1)[:9] + b"\n" + call(1)[9:] + b"\n",
        b"noise\n",
        call(b"1.0") + b"\n",
        call(b"null") + b"\n",
        call(1, token="t") + b"\n",
        cancel(1) + b"\n",
        answer(1, {}) + b"\n",
        batch(call(1)) + b"\n",
    ],
)
def test_what_has_to_be_received(data: bytes) -> None:
    """It is not one line, not plain, or no request; nothing has happened then."""
    wire = Wire()
    assert not passes(wire, data)
    assert wire.state(1) is State.ABSENT
    assert wire.session.statistics().forwarded == 0


def test_an_id_that_is_known() -> None:
    """In flight, cancelled, answered: a new use of it is not plain."""
    wire = Wire()
    wire.client(call(1), call(2), call(3), cancel(2), call("a"))
    wire.server(answer(3, {}))
    for known in (1, 2, 3, "a"):
        assert not passes(wire, call(known) + b"\n")
    assert passes(wire, call("b") + b"\n")


def test_answers_that_are_not_plain() -> None:
    """To nobody, late, of a task, to a request that has a token."""
    wire = Wire()
    wire.client(call(1), call(2), cancel(2), call(3, token="t"))
    for one in (answer(9, {}), answer(2, {}), task(1), answer(3, {}), b'{"id":1}'):
        assert not comes_back(wire, one + b"\n")
    assert wire.state(1) is State.IN_FLIGHT


def test_where_there_is_no_task() -> None:
    """Its answer is as plain as any."""
    wire = Wire(dialect=OWED)
    assert passes(wire, call(1) + b"\n")
    assert comes_back(wire, task(1) + b"\n")


def test_more_requests_than_are_tracked() -> None:
    """The bound holds here too."""
    wire = Wire(Policy(live_limit=1))
    assert passes(wire, call(1) + b"\n")
    assert not passes(wire, call(2) + b"\n")


def test_under_fresh_ids() -> None:
    """Once one has been issued, requests and answers are looked at with care."""
    wire = Wire()
    wire.client(call(1), cancel(1), call(1))
    assert not passes(wire, call(5) + b"\n")


def test_what_the_block_is_asked_itself() -> None:
    """``judge`` comes to the same."""
    wire = Wire()
    blocks = Blocks(wire.session._judge, CLIENT)
    line = call(1) + b"\n"
    assert blocks.judge(line, 1.5) is line
    assert not blocks.passes(line, 1.5)


def is_clean(wire: Wire) -> bool:
    """Whether a line of the client may be asked about."""
    return wire.session.stream(CLIENT).clean


def test_while_something_is_held() -> None:
    """Then nobody asks: the rest of a line, white space that is still to come."""
    wire = Wire()
    assert is_clean(wire)
    wire.feed(CLIENT, call(1)[:9])
    assert not is_clean(wire)
    wire.feed(CLIENT, call(1)[9:] + b"\n")
    assert is_clean(wire)
    wire.feed(CLIENT, call(2))
    assert wire.still(CLIENT) == call(2)
    assert not is_clean(wire)
    wire.feed(CLIENT, b"\n")
    assert is_clean(wire)


def test_where_messages_have_headers() -> None:
    """Nothing passes but what is received."""
    stream = Wire(dialect=LSP).session.stream(CLIENT)
    assert not stream.clean
    assert not stream.passes(call(1) + b"\n", 0.0)


def test_without_the_quick_look() -> None:
    """Every line is received."""
    assert not Wire(quick=False).session.stream(CLIENT).clean


def test_requests_of_one_moment_share_a_record() -> None:
    """Of one method, within a millisecond: an id takes half the memory then."""
    wire = Wire()
    stream = wire.session.stream(CLIENT)
    plain = wire.ledger.books[CLIENT].requests.plain
    assert stream.passes(call(1) + b"\n", 5.0)
    assert stream.passes(call(2) + b"\n", 5.0005)
    assert stream.passes(initialize(3) + b"\n", 5.0006)
    assert stream.passes(call(4) + b"\n", 5.0007)
    assert stream.passes(call(5) + b"\n", 5.002)
    assert plain == {
        1: (5.0, "tools/call"),
        2: (5.0, "tools/call"),
        3: (5.0006, "initialize"),
        4: (5.0007, "tools/call"),
        5: (5.002, "tools/call"),
    }
    assert plain[1] is plain[2]
