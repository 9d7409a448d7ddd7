"""Order, pressure, time: one queue per direction, cancels that act when they are read."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.messages import answer, batch, call, cancel, note, progress, task
from proxy.playbook import End, Waits, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


@both_ways
class TestOrder:
    """Nothing is reordered, merged or delayed to be judged."""

    def test_first_in_first_out(self, asker: End, worker: End) -> None:
        """While the reader stalls and after."""
        lines = [call(n) for n in range(5)] + [note(1), b"", b"{bad", cancel(3)]
        play(
            worker.stalls(),
            [asker >> line for line in lines],
            worker.passes(answer(1), answer(2)),
            worker.reads(),
            [worker << line for line in lines],
        )

    def test_each_message_goes_on_at_once(self, asker: End, worker: End) -> None:
        """A late one does not hold up its neighbour."""
        play(
            asker.passes(call(1), cancel(1), call(2)),
            worker.passes(answer(2)),
            worker.loses(LATE, answer(1)),
        )


@both_ways
class TestCancelsActWhenRead:
    """Also while the write to the worker is blocked."""

    def test_the_worker_has_not_read_it_yet(self, asker: End, worker: End) -> None:
        """The answer was on its way: it is late."""
        play(
            asker.passes(call(1, token="t")),
            worker.stalls(),
            asker >> cancel(1),
            worker.loses(What.LATE_PROGRESS, progress("t")),
            worker.loses(LATE, answer(1)),
            worker.reads(),
            worker << cancel(1),
        )

    def test_an_answer_in_our_own_queue_is_retracted(self, asker: End, worker: End) -> None:
        """It has not begun to go out: it is late, the id a tombstone, the cancel redundant."""
        play(
            asker.passes(call(1, token="t"), call(2)),
            asker.stalls(),
            worker >> note(1),
            worker >> answer(1),
            worker >> answer(2),
            asker >> cancel(1),
            held(LATE, 1),
            held(REDUNDANT, 1),
            asker.reads(),
            asker << note(1),
            asker << answer(2),
            worker.loses(LATE, answer(1)),
            worker.loses(What.LATE_PROGRESS, progress("t")),
            asker.loses(REDUNDANT, cancel(1)),
            asker >> call(1),
            worker << call(b"<n>"),
        )

    @pytest.mark.parametrize("count", [1, 10, len(answer(1))])
    def test_what_has_begun_is_delivered_whole(self, asker: End, worker: End, count: int) -> None:
        """The cancel is redundant, the request answered."""
        play(
            asker.passes(call(1)),
            asker.stalls(count),
            worker >> answer(1),
            asker.hears_raw(answer(1)[:count]),
            asker.loses(REDUNDANT, cancel(1)),
            asker.reads(),
            asker.hears_raw(answer(1)[count:] + b"\n"),
            worker.passes(answer(1)),
        )

    @pytest.mark.parametrize("count", [5, len(answer(1)), len(answer(1)) + 1])
    def test_what_is_behind_it_in_one_chunk_has_not(
        self, asker: End, worker: End, count: int
    ) -> None:
        """Several answers came in one read, and the first is on its way."""
        first = answer(1) + b"\n"
        play(
            asker.passes(call(1), call(2), call(3)),
            asker.stalls(count),
            worker.raw(first + answer(2) + b"\n" + answer(3) + b"\n"),
            asker.hears_raw(first[:count]),
            asker >> cancel(2),
            held(LATE, 2),
            held(REDUNDANT, 2),
            asker.reads(),
            asker.hears_raw(first[count:]),
            asker << answer(3),
        )

    def test_of_two_answers_the_one_that_answered(self, asker: End, worker: End) -> None:
        """The second was nobody's when it came, and passes as such."""
        play(
            asker.passes(call(1)),
            asker.stalls(),
            worker >> answer(1, "a"),
            worker >> answer(1, "b"),
            asker >> cancel(1),
            held(LATE, 1),
            held(REDUNDANT, 1),
            asker.reads(),
            asker << answer(1, "b"),
        )

    def test_the_one_that_answered_has_begun(self, asker: End, worker: End) -> None:
        """Nothing is left to take back."""
        play(
            asker.passes(call(1)),
            asker.stalls(3),
            worker >> answer(1, "a"),
            asker.hears_raw(answer(1, "a")[:3]),
            worker >> answer(1, "b"),
            asker.loses(REDUNDANT, cancel(1)),
            asker.reads(),
            asker.hears_raw(answer(1, "a")[3:] + b"\n"),
            asker << answer(1, "b"),
        )

    def test_a_batch_is_never_retracted(self, asker: End, worker: End) -> None:
        """Its bytes stay; the cancel is redundant."""
        play(
            asker.passes(call(1), call(2)),
            asker.stalls(),
            worker >> batch(answer(1), answer(2)),
            asker.loses(REDUNDANT, cancel(1)),
            asker.reads(),
            asker << batch(answer(1), answer(2)),
            worker.passes(answer(1)),
        )

    def test_an_id_that_was_ambiguous(self, asker: End, worker: End) -> None:
        """Nobody can say whose answer it was."""
        play(
            asker.passes(call(1), call(1)),
            asker.stalls(),
            worker >> answer(1, "a"),
            worker >> answer(1, "b"),
            asker.loses(REDUNDANT, cancel(1)),
            asker.reads(),
            asker << answer(1, "a"),
            asker << answer(1, "b"),
        )

    def test_one_that_creates_a_task(self, asker: End, worker: End) -> None:
        """It would pass although late; the cancel is forwarded."""
        play(
            asker.passes(call(1)),
            asker.stalls(),
            worker >> task(1),
            asker.passes(cancel(1)),
            asker.reads(),
            asker << task(1),
        )

    def test_while_the_twin_is_in_flight(self, asker: End, worker: End) -> None:
        """The cancel may mean the twin: it is forwarded and marks nothing."""
        play(
            asker.passes(call(7)),
            asker.stalls(),
            worker >> answer(7),
            asker.passes(call("7"), cancel(7)),
            asker.reads(),
            asker << answer(7),
            worker.passes(answer("7")),
        )

    def test_statistics_count_it_as_late(self, asker: End, worker: End) -> None:
        """It was dropped after all."""
        done = play(
            asker.passes(call(1)),
            asker.stalls(),
            worker >> answer(1),
            asker >> cancel(1),
            held(LATE, 1, asker.peer),
            held(REDUNDANT, 1, asker.peer),
            asker.reads(),
        )
        assert done.statistics.dropped == {LATE: 1, REDUNDANT: 1}
        assert done.statistics.never_answered == 0


class TestPressure:
    """The queue is bounded in bytes; when it is full we stop reading the other peer."""

    POLICY = Policy(queue_limit=100)

    @both_ways
    def test_full(self, asker: End, worker: End) -> None:
        """Reading stops at the bound and goes on below it; the other way is not touched."""
        session = Session(self.POLICY)
        line = call(1) + b"\n"
        assert session.may_read(asker.peer)
        session.receive_data(asker.peer, line * 2, 0.0)
        assert not session.may_read(asker.peer)
        assert session.may_read(worker.peer)
        outbox = session.outbox[worker.peer]
        outbox.wrote(len(line))
        assert session.may_read(asker.peer)
        assert b"".join(outbox.buffers()) == line

    @both_ways
    def test_one_message_may_exceed_it(self, asker: End, worker: End) -> None:
        """A queue that never took it would never end."""
        play(
            asker.passes(call(1, work="x" * 1000)),
            worker.passes(answer(1, "x" * 1000)),
            policy=self.POLICY,
        )

    @both_ways
    def test_what_is_dropped_takes_no_room(self, asker: End, worker: End) -> None:
        """And what is retracted gives its room back."""
        session = Session(self.POLICY)
        session.receive_data(asker.peer, call(1) + b"\n", 0.0)
        session.receive_data(worker.peer, answer(1, "x" * 200) + b"\n", 0.0)
        assert not session.may_read(worker.peer)
        session.receive_data(asker.peer, cancel(1) + b"\n", 0.0)
        assert session.may_read(worker.peer)
        session.receive_data(worker.peer, answer(1, "x" * 200) + b"\n", 0.0)
        assert session.may_read(worker.peer)
        assert not b"".join(session.outbox[asker.peer].buffers())

    def test_both_directions_at_once(self) -> None:
        """Each queue is full of what only its own reader can take."""
        session = Session(self.POLICY)
        big = b"x" * 1000
        session.receive_data(client.peer, call(1, work=big.decode()) + b"\n", 0.0)
        session.receive_data(server.peer, call(1, work=big.decode()) + b"\n", 0.0)
        assert not session.may_read(client.peer)
        assert not session.may_read(server.peer)
        session.outbox[server.peer].wrote(session.outbox[server.peer].pending)
        assert session.may_read(client.peer)
        assert not session.may_read(server.peer)


class TestInventsNothing:
    """No cancel, timeout or answer of our own unless told."""

    @both_ways
    def test_hours_of_silence(self, asker: End, worker: End) -> None:
        """Live requests wait as long as they wait."""
        play(
            asker.passes(call(1), call(2), cancel(2)),
            Waits(100_000.0),
            worker.passes(answer(1)),
            worker.loses(LATE, answer(2)),
            Waits(100_000.0),
            worker.ends(),
            asker.ends(),
        )
