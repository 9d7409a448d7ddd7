"""What waits in our own queue and stays there, though it has been cancelled."""

from __future__ import annotations

import pytest

from nevermind.messages import Message
from nevermind.notes import What
from nevermind.policy import Fate, LateResponse, Policy
from nevermind.session import Session
from proxy.messages import OWED, answer, batch, call, cancel, error, initialize, note, task
from proxy.stalled import Stalled, answered
from proxy.wire import CLIENT, SERVER

LATE, REDUNDANT = What.LATE_RESPONSE, What.REDUNDANT_CANCEL


class TestLeftAlone:
    """What the switches would forward, and what can't be told apart."""

    def test_an_answer_inside_a_batch(self) -> None:
        """It is not looked for there."""
        stalled = Stalled()
        stalled.client(call(7))
        stalled.server(batch(answer(7)))
        stalled.client(cancel(7))
        assert stalled.waiting == [batch(answer(7))]

    @pytest.mark.parametrize("switch", Fate)
    def test_while_its_twin_is_in_flight(self, switch: Fate) -> None:
        """That one may be meant: the cancel passes and marks nothing, whatever the switch says."""
        stalled = Stalled(Policy(redundant_cancel=switch))
        stalled.client(call("7"))
        stalled.server(answer("7"))
        stalled.client(call(7), cancel("7"))
        assert stalled.waiting == [answer("7")]

    def test_an_answer_that_came_before_anybody_asked(self) -> None:
        """The one that counts stands in an array; what waits is none of ours to judge."""
        stalled = Stalled()
        stalled.server(answer(7, "unasked"))
        stalled.client(call(7))
        stalled.server(batch(answer(7)))
        stalled.client(cancel(7))
        assert stalled.waiting == [answer(7, "unasked"), batch(answer(7))]

    def test_the_answer_to_a_use_that_is_forgotten(self) -> None:
        """The client said what may have been a request; its id is used again."""
        stalled = answered(7)
        stalled.client(batch(note(), b"1"), call(7))
        stalled.server(batch(answer(7)))
        stalled.client(cancel(7))
        assert stalled.waiting == [answer(7), batch(answer(7))]

    def test_an_id_that_was_ambiguous(self) -> None:
        """Whose answer it is can't be told."""
        stalled = answered(7, 7)
        stalled.client(cancel(7))
        assert stalled.waiting == [answer(7)] * 2

    def test_an_answer_that_creates_a_task(self) -> None:
        """Its work would be orphaned."""
        stalled = Stalled()
        stalled.client(call(7), call(8))
        stalled.server(task(7))
        stalled.server(b'{"id":8,"result":{"x":NaN,"resultType":"task"}}')
        stalled.client(cancel(7), cancel(8))
        assert len(stalled.waiting) == 2

    def test_an_answer_with_a_repeated_key(self) -> None:
        """It may be another's."""
        stalled = Stalled()
        stalled.client(call(7))
        twice = answer(7)[:-1] + b',"id":7}'
        stalled.server(twice)
        stalled.client(cancel(7))
        assert stalled.waiting == [twice]

    def test_the_answer_to_initialize(self) -> None:
        """It can't be cancelled."""
        stalled = Stalled()
        stalled.client(initialize(0))
        stalled.server(answer(0))
        stalled.client(cancel(0))
        assert stalled.waiting == [answer(0)]

    def test_an_answer_that_is_owed(self) -> None:
        """By the dialect."""
        stalled = Stalled(dialect=OWED)
        stalled.client(call(7, dialect=OWED))
        stalled.server(answer(7))
        stalled.client(cancel(7, dialect=OWED))
        assert stalled.waiting == [answer(7)]

    @pytest.mark.parametrize("late", [LateResponse.FORWARD, LateResponse.FIRST])
    def test_an_answer_that_would_be_forwarded(self, late: LateResponse) -> None:
        """By the switches."""
        stalled = answered(7, policy=Policy(late_response=late))
        stalled.client(cancel(7))
        assert stalled.waiting == [answer(7)]

    def test_an_error_that_would_be(self) -> None:
        """But not a result."""
        stalled = Stalled(Policy(late_response=LateResponse.FORWARD_ERRORS))
        stalled.client(call(7), call(8))
        stalled.server(error(7), answer(8))
        stalled.client(cancel(7), cancel(8))
        assert stalled.waiting == [error(7)]

    def test_an_answer_without_its_newline(self) -> None:
        """Which went on when it was still: its end is still to come."""
        stalled = Stalled()
        stalled.client(call(7))
        stalled.session.receive_data(SERVER, answer(7), 0.0)
        stalled.session.expire(1.0)
        stalled.client(cancel(7))
        stalled.server(b"")
        assert stalled.waiting == [answer(7)]

    def test_a_long_message_on_its_way(self) -> None:
        """It is not looked at; what stands before it is."""
        stalled = answered(7, 8)
        long = answer(8, "x" * 50_000)
        stalled.client(call(9))
        stalled.session.receive_data(SERVER, long.replace(b'"id":8', b'"id":9')[:30_000], 0.0)
        stalled.client(cancel(7), cancel(9), cancel(8))
        assert stalled.waiting == []
        assert stalled.session.outbox[CLIENT].pending > 10_000
        assert stalled.held == [LATE, REDUNDANT, REDUNDANT, LATE, REDUNDANT]

    def test_a_message_that_is_being_sent(self) -> None:
        """To a host that speaks in whole messages."""
        session = Session(messaging=(CLIENT,))
        for one in (7, 8):
            session.receive_message(CLIENT, Message(call(one), text=True), 0.0)
            session.receive_data(SERVER, answer(one) + b"\n", 0.0)
        session.receive_message(CLIENT, Message(cancel(8), text=True), 0.0)
        assert session.mailbox[CLIENT].begin() == Message(answer(7), text=True)
        session.receive_message(CLIENT, Message(cancel(7), text=True), 0.0)
        session.mailbox[CLIENT].sent()
        assert session.mailbox[CLIENT].begin() is None

    def test_what_others_say_about_the_id(self) -> None:
        """Requests and notifications are no answers."""
        stalled = answered(7)
        stalled.server(call(7), note(7))
        stalled.client(cancel(7))
        assert stalled.waiting == [call(7), note(7)]
