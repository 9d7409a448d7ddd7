"""Answers that became late while they waited in our own queue: taken back, the newest only."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Fate, LateResponse, Policy
from nevermind.session import Session
from proxy.messages import answer, batch, call, cancel, note
from proxy.stalled import Stalled, answered
from proxy.wire import CLIENT, SERVER

LATE, REDUNDANT = What.LATE_RESPONSE, What.REDUNDANT_CANCEL


class TestTakenBack:
    """The answer waits, none of it is gone, and the switches would drop a late one."""

    def test_the_host_never_has_it(self) -> None:
        """It is a late answer like any other; the cancel is redundant."""
        stalled = answered(7)
        stalled.client(cancel(7))
        assert stalled.waiting == []
        assert stalled.held == [LATE, REDUNDANT]
        statistics = stalled.session.statistics()
        assert (statistics.forwarded, statistics.cancelled) == (1, 1)
        assert statistics.dropped == {LATE: 1, REDUNDANT: 1}

    def test_the_id_is_a_tombstone_then(self) -> None:
        """So a second answer is late, and a second cancel redundant."""
        stalled = answered(7)
        stalled.client(cancel(7), cancel(7))
        stalled.server(answer(7))
        assert stalled.waiting == []
        assert stalled.held == [LATE, REDUNDANT, REDUNDANT, LATE]

    def test_a_new_use_in_the_same_breath(self) -> None:
        """It goes out under a fresh id: the cancel was effective when it was read."""
        stalled = answered(7)
        stalled.client(cancel(7), call(7))
        [wire] = stalled.ledger.books[CLIENT].requests.live
        stalled.server(answer(7, "old"), answer(wire if isinstance(wire, int) else 0, "new"))
        assert stalled.waiting == [answer(7, "new")]

    @pytest.mark.parametrize("which", [1, 2, 3])
    def test_what_stands_around_it_stays(self, which: int) -> None:
        """In the same chunk."""
        stalled = answered(1, 2, 3)
        stalled.client(cancel(which))
        assert stalled.waiting == [answer(n) for n in (1, 2, 3) if n != which]

    def test_several_of_one_chunk(self) -> None:
        """One after the other, in any order."""
        stalled = answered(*range(10))
        for one in (5, 0, 9, 4):
            stalled.client(cancel(one))
        assert stalled.waiting == [answer(n) for n in (1, 2, 3, 6, 7, 8)]
        assert stalled.held == [LATE, REDUNDANT] * 4

    def test_of_several_chunks(self) -> None:
        """Some of which came after the first cancel."""
        stalled = answered(1, 2)
        stalled.client(call(3), cancel(2))
        stalled.server(answer(3), note())
        stalled.client(cancel(3), cancel(1))
        assert stalled.waiting == [note()]

    def test_what_is_read_is_read(self) -> None:
        """Of a chunk that has begun to go out the rest may be taken back."""
        stalled = answered(1, 2, 3)
        stalled.reads(len(answer(1)) + 3)
        stalled.client(cancel(1), cancel(2), cancel(3))
        assert stalled.held == [REDUNDANT, REDUNDANT, LATE, REDUNDANT]
        assert stalled.waiting == [answer(2)[2:]]

    def test_when_all_has_been_read(self) -> None:
        """There is nothing to take back, now or later."""
        stalled = answered(1, 2)
        stalled.client(cancel(1))
        stalled.reads(len(answer(2)) + 1)
        stalled.client(cancel(2))
        assert stalled.held == [LATE, REDUNDANT, REDUNDANT]

    def test_with_redundant_cancels_forwarded(self) -> None:
        """The answer is late all the same."""
        stalled = answered(7, policy=Policy(redundant_cancel=Fate.FORWARD))
        stalled.client(cancel(7))
        assert stalled.waiting == []
        assert stalled.held == [LATE]

    def test_of_a_server_that_has_asked(self) -> None:
        """It works in both directions."""
        session = Session()
        session.receive_data(SERVER, call(7) + b"\n", 0.0)
        session.receive_data(CLIENT, answer(7) + b"\n", 0.0)
        session.receive_data(SERVER, cancel(7) + b"\n", 0.0)
        assert session.outbox[SERVER].pending == 0


class TestTheNewestUse:
    """An id that was used again while its answer still waits."""

    def reused(self) -> Stalled:
        """The first use is answered, the second in flight."""
        stalled = answered(7)
        stalled.client(call(7))
        return stalled

    def test_its_answer_is_taken_back(self) -> None:
        """Not the older use's, which nobody has cancelled."""
        stalled = self.reused()
        stalled.server(answer(7, "second"))
        stalled.client(cancel(7))
        assert stalled.waiting == [answer(7)]

    @pytest.mark.parametrize(
        "second",
        [batch(note(), answer(7, "second")), answer("7", "second"), b' {"result":NaN,"id":7}'],
        ids=("in an array", "of the other type", "that is hard to read"),
    )
    def test_an_answer_that_cannot_be(self, second: bytes) -> None:
        """Then the older use's is not taken in its place."""
        stalled = self.reused()
        stalled.server(second)
        stalled.client(cancel(7))
        assert stalled.waiting == [answer(7), second]
        assert stalled.held == [REDUNDANT]

    def test_an_answer_in_pieces(self) -> None:
        """It was sent on before it was whole, but nothing of it has gone out."""
        stalled = self.reused()
        second = answer(7, "x" * 100_000)
        for at in range(0, len(second), 10_000):
            stalled.session.receive_data(SERVER, second[at : at + 10_000], 0.0)
        stalled.server(b"")
        stalled.client(cancel(7))
        assert stalled.waiting == [answer(7)]

    def test_under_a_fresh_id(self) -> None:
        """By the name that its issuer knows."""
        stalled = answered(7, policy=Policy(late_response=LateResponse.DROP))
        stalled.client(cancel(7), call(7))
        [wire] = stalled.ledger.books[CLIENT].requests.live
        assert isinstance(wire, int)
        stalled.server(answer(wire))
        assert stalled.waiting == [answer(7)]
        stalled.client(cancel(7))
        assert stalled.waiting == []

    def test_again_and_again(self) -> None:
        """Each cancel takes the newest, and the older ones go when they are read."""
        stalled = self.reused()
        stalled.server(answer(7, "second"))
        stalled.client(cancel(7))
        stalled.reads(len(answer(7)) + 1)
        stalled.client(call(8), cancel(7))
        stalled.server(answer(8))
        stalled.client(cancel(8))
        assert stalled.waiting == []


class TestSecondAnswers:
    """Answers to what has been answered already: the first is the one that counts."""

    @pytest.mark.parametrize("together", [True, False])
    def test_the_first_is_taken_back(self, together: bool) -> None:
        """The second was nobody's when it came, and passes as such."""
        stalled = Stalled()
        stalled.client(call(7))
        if together:
            stalled.server(answer(7, "a"), note(), answer(7, "b"), answer(7, "c"))
        else:
            for line in (answer(7, "a"), note(), answer(7, "b"), answer(7, "c")):
                stalled.server(line)
        stalled.client(cancel(7), cancel(7))
        assert stalled.waiting == [note(), answer(7, "b"), answer(7, "c")]
        assert stalled.held == [LATE, REDUNDANT, REDUNDANT]

    @pytest.mark.parametrize("together", [True, False])
    @pytest.mark.parametrize("size", [3, len(answer(7, "a")) + 1])
    def test_when_the_first_has_begun_or_is_gone(self, size: int, together: bool) -> None:
        """Nothing is left to take back."""
        stalled = Stalled()
        stalled.client(call(7))
        if together:
            stalled.server(answer(7, "a"), answer(7, "b"))
            stalled.reads(size)
        else:
            stalled.server(answer(7, "a"))
            stalled.reads(size)
            stalled.server(answer(7, "b"))
        stalled.client(cancel(7))
        assert stalled.waiting[-1] == answer(7, "b")
        assert stalled.held == [REDUNDANT]

    def test_each_id_by_itself(self) -> None:
        """What is taken of one chunk moves the rest of it."""
        stalled = answered(1, 2)
        stalled.server(answer(2, "b"), answer(1, "b"), answer(2, "c"), answer(1, "c"))
        stalled.client(call(3), cancel(2), cancel(1))
        assert stalled.waiting == [answer(2, "b"), answer(1, "b"), answer(2, "c"), answer(1, "c")]

    def test_one_that_the_shield_dropped(self) -> None:
        """Does not count."""
        stalled = answered(7, policy=Policy(shield=True))
        stalled.server(answer(7, "b"))
        stalled.client(cancel(7))
        assert stalled.waiting == []


def test_very_many_cancels_while_very_much_waits() -> None:
    """Each costs a look-up: what waits is read once."""
    stalled = Stalled()
    for start in range(0, 4000, 4):
        stalled.client(*(call(n) for n in range(start, start + 4)))
        stalled.server(*(answer(n) for n in range(start, start + 4)))
    parts = stalled.session.outbox[CLIENT].end
    assert parts == 1000
    for _ in range(20):
        stalled.client(*(cancel(n) for n in range(0, 4000, 8)))
    assert len(stalled.waiting) == 3500
