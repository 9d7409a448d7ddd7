"""``--timeout``, afterwards: the request is over, and what still comes of it is redundant."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, LateResponse, Policy
from proxy.messages import OWED, PLAIN, answer, batch, call, cancel, error, note, task
from proxy.ours import stop, timed_out
from proxy.playbook import IN_ORDER, Waits, client, held, play, server
from proxy.timing_out import AFTER_30, gives_up

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


class TestAfterwards:
    """The request is over; what still comes of it is redundant."""

    def test_late_answers_are_dropped(self) -> None:
        """Whatever they say, and whatever is said of late answers: there was one answer."""
        for late in LateResponse:
            play(
                client.passes(call(1), call(2)),
                Waits(30),
                gives_up(1),
                gives_up(2),
                server.loses(LATE, answer(1), error(1), answer(1), id=1),
                server.loses(LATE, error(2), error(2, -32800), id=2),
                policy=Policy(timeout=30, late_response=late),
            )

    def test_in_a_batch(self) -> None:
        """Element by element, asked and answered."""
        play(
            client.passes(batch(call(1), call(2))),
            server.passes(answer(2)),
            Waits(30),
            gives_up(1),
            server >> batch(answer(1), note()),
            client.spliced(note()),
            held(LATE, 1),
            policy=AFTER_30,
        )

    def test_the_clients_own_cancel_is_redundant(self) -> None:
        """The server has been told, if it may be told."""
        play(
            client.passes(call(1)),
            Waits(30),
            gives_up(1),
            client.loses(REDUNDANT, cancel(1), cancel(1, "again"), id=1),
            policy=AFTER_30,
        )

    def test_absorbed(self) -> None:
        """Where cancels would crash the server it gets none, neither ours nor the client's."""
        play(
            client.passes(call(1)),
            Waits(30),
            client << timed_out(1),
            client.loses(REDUNDANT, cancel(1)),
            server.loses(LATE, answer(1)),
            policy=Policy(timeout=30, cancel=FirstCancel.ABSORB, redundant_cancel=Fate.FORWARD),
        )

    def test_where_there_is_no_cancel(self) -> None:
        """Plain JSON-RPC has none: only the client is told."""
        play(
            client.passes(call(1, dialect=PLAIN)),
            Waits(30),
            client << timed_out(1),
            server.loses(LATE, answer(1)),
            policy=AFTER_30,
            dialect=PLAIN,
        )

    @pytest.mark.parametrize("modern", [False, True])
    def test_a_task_that_nobody_hears_of_is_named_in_the_log(self, modern: bool) -> None:
        """The client has had its answer; who looks for the task finds its id."""
        how = play(
            client.passes(call(1)),
            Waits(30),
            gives_up(1),
            server.loses(LATE, task(1, modern=modern), id=1),
            policy=AFTER_30,
        )
        assert how.notes[-1].task == "t-1"
        assert how.notes[-1].why == "the proxy has answered in its place"

    def test_a_late_answer_that_only_the_scan_can_read(self) -> None:
        """It might create a task; even then the client has had its answer."""
        odd = b'{"id":1,"result":{"x":NaN,"task":{"taskId":"t"}}}'
        play(
            client.passes(call(1)),
            Waits(30),
            gives_up(1),
            server.loses(LATE, odd, id=1),
            policy=AFTER_30,
        )

    def test_statistics(self) -> None:
        """Counted for the summary; a request that timed out was cancelled, by us."""
        how = play(
            client.passes(call(1), call(2)),
            Waits(30),
            gives_up(1),
            gives_up(2),
            Waits(2),
            server.loses(LATE, answer(1)),
            policy=AFTER_30,
        )
        done = how.statistics
        assert (done.timed_out, done.answered, done.cancelled) == (2, 2, 2)
        assert (done.never_answered, done.longest_overrun_s) == (1, 2)
        assert done.in_flight[Peer.CLIENT] == 0
        assert done.forwarded == 2


class TestWhereAnAnswerIsOwed:
    """LSP and its kin: a use that we answered follows the table of MCP."""

    def test_the_late_answer_is_dropped(self) -> None:
        """It was owed; we have given one."""
        play(
            client.passes(call(1, dialect=OWED)),
            Waits(30),
            server << stop(1, dialect=OWED),
            client << timed_out(1),
            server.loses(LATE, answer(1), error(1), id=1),
            client.loses(REDUNDANT, cancel(1, dialect=OWED)),
            policy=AFTER_30,
            dialect=OWED,
        )

    def test_used_again(self) -> None:
        """Under a fresh id, as in MCP, for there is a tombstone."""
        play(
            client.passes(call(1, dialect=OWED)),
            Waits(30),
            server << stop(1, dialect=OWED),
            client << timed_out(1),
            client >> call(1, dialect=OWED),
            server << call(b"<n>", dialect=OWED),
            server.loses(LATE, answer(1, "old")),
            server >> answer(b"<n>", "new"),
            client << answer(1, "new"),
            policy=AFTER_30,
            dialect=OWED,
            ways=IN_ORDER,
        )

    def test_a_cancelled_request_can_still_time_out(self) -> None:
        """Its caller waits for the answer that is owed; the server needs no second cancel."""
        play(
            client.passes(call(1, dialect=OWED)),
            Waits(10),
            client.passes(cancel(1, dialect=OWED)),
            Waits(20),
            client << timed_out(1),
            server.loses(LATE, answer(1)),
            policy=AFTER_30,
            dialect=OWED,
        )

    def test_an_answer_to_a_cancelled_request_stops_the_clock(self) -> None:
        """It is the one that was owed."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            server.passes(answer(1)),
            Waits(100),
            policy=AFTER_30,
            dialect=OWED,
        )

    def test_a_cancelled_request_whose_id_is_used_again(self) -> None:
        """Two uses of one id: never answered by us, and only later by two."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED), call(1, dialect=OWED)),
            Waits(100),
            server.passes(answer(1), answer(1)),
            policy=AFTER_30,
            dialect=OWED,
        )
