"""One request id, state by state: absent, in flight, cancelled, answered, and what each does."""

from __future__ import annotations

import pytest

from nevermind.notes import Event, What
from nevermind.peers import Peer
from proxy.messages import answer, call, cancel, error, note, progress
from proxy.playbook import End, Waits, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


@both_ways
class TestAbsent:
    """An id that was never asked about, or is no longer known."""

    def test_a_request_is_in_flight(self, asker: End, worker: End) -> None:
        """A request is forwarded; its answer is forwarded."""
        play(asker.passes(call(1)), worker.passes(answer(1)))

    def test_a_cancel_is_forwarded_and_remembered_nowhere(self, asker: End, worker: End) -> None:
        """Remembering it would eat a later request's answer, and its real cancel as a repeat."""
        play(
            asker.passes(cancel(50), cancel(50), call(50), cancel(50)),
            worker.loses(LATE, answer(50)),
            asker.passes(cancel(51), call(51)),
            worker.passes(answer(51)),
        )

    def test_an_answer_is_forwarded(self, asker: End, worker: End) -> None:
        """An answer to an id that nobody asked about passes, any number of times."""
        play(worker.passes(answer(9), answer(9), error("x"), error("x")))


@both_ways
class TestInFlight:
    """Asked, not answered, not cancelled."""

    def test_the_first_cancel_is_forwarded_as_it_came(self, asker: End, worker: End) -> None:
        """The worker is to stop: the cancel's own bytes tell it."""
        odd = (
            b' {"params":{"reason":"\\u0041", "requestId":1} ,"method":"notifications/cancelled"} '
        )
        play(asker.passes(call(1), odd), worker.loses(LATE, answer(1)))

    def test_answered(self, asker: End, worker: End) -> None:
        """The answer is forwarded, whatever it says; others' answers are not touched."""
        play(
            asker.passes(call(1), call(2), call(3)),
            worker.passes(error(2), answer(3, None), answer(1)),
        )

    def test_two_uses_are_ambiguous(self, asker: End, worker: End) -> None:
        """While two uses are in flight a cancel is forwarded and drops nothing."""
        play(
            asker.passes(call(7), call(7), cancel(7), cancel(7)),
            worker.passes(answer(7, "a"), answer(7, "b")),
        )

    def test_with_one_use_left_it_is_an_ordinary_request_again(
        self, asker: End, worker: End
    ) -> None:
        """After the first answer the cancel means the use that is left."""
        play(
            asker.passes(call(7), call(7)),
            worker.passes(answer(7, "a")),
            asker.passes(cancel(7)),
            worker.loses(LATE, answer(7, "b")),
            asker.loses(REDUNDANT, cancel(7)),
        )

    def test_three_uses(self, asker: End, worker: End) -> None:
        """Uses are counted, not flagged."""
        play(
            asker.passes(call(7), call(7), call(7)),
            worker.passes(answer(7, "a")),
            asker.passes(cancel(7)),
            worker.passes(answer(7, "b"), answer(7, "c")),
            asker.loses(REDUNDANT, cancel(7)),
        )


@both_ways
class TestTombstone:
    """Cancelled and unanswered."""

    @pytest.mark.parametrize(
        "late",
        [answer(1), answer(1, None), error(1), error(1, -32800), error(1, 1)],
        ids=("result", "null", "code 0", "cancelled", "other error"),
    )
    def test_a_late_answer_is_dropped(self, asker: End, worker: End, late: bytes) -> None:
        """Any response for the id, result or error, whatever its code, and every further one."""
        play(
            asker.passes(call(1), call(2), cancel(1)),
            worker.loses(LATE, late, late, answer(1, "again"), id=1),
            worker.passes(answer(2)),
        )

    def test_a_repeated_cancel_is_dropped(self, asker: End, worker: End) -> None:
        """A repeat adds nothing, with another reason too, before and after the late answer."""
        play(
            asker.passes(call(1), cancel(1)),
            asker.loses(REDUNDANT, cancel(1), cancel(1, "again"), id=1),
            worker.loses(LATE, error(1)),
            asker.loses(REDUNDANT, cancel(1, "once more")),
        )

    def test_in_a_batch(self, asker: End, worker: End) -> None:
        """The same, element by element."""
        play(
            asker.passes(b"[%b,%b]" % (call(1), call(2)), b"[%b]" % cancel(1)),
            worker >> b"[%b,%b]" % (answer(1), answer(2)),
            asker.spliced(answer(2)),
            held(LATE),
            asker >> b"[%b,%b]" % (cancel(1), note()),
            worker.spliced(note()),
            held(REDUNDANT),
        )


@both_ways
class TestAnswered:
    """A bounded memory of the ids that were answered lately."""

    def test_a_cancel_is_dropped(self, asker: End, worker: End) -> None:
        """Answer and cancel crossed: the cancel is moot, and marks nothing."""
        play(
            asker.passes(call(1)),
            worker.passes(answer(1)),
            asker.loses(REDUNDANT, cancel(1), cancel(1), id=1),
            worker.passes(answer(1, "again")),
        )

    def test_a_second_answer_is_forwarded(self, asker: End, worker: End) -> None:
        """It was not cancelled: the asker would have had it without us."""
        play(asker.passes(call(1)), worker.passes(answer(1), answer(1), error(1)))

    def test_the_id_can_be_used_again(self, asker: End, worker: End) -> None:
        """A new request is in flight like any other, under its own id."""
        play(
            asker.passes(call(1)),
            worker.passes(answer(1)),
            asker.passes(call(1)),
            worker.passes(answer(1, "new")),
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1, "newer")),
        )


class TestIssuers:
    """Each issuer has its own table: the same id in both directions is two requests."""

    def test_a_cancel_means_its_issuers_own_request(self) -> None:
        """The client's cancel never touches what the server asked under the same id."""
        play(
            server.passes(call(1, method="sampling/createMessage")),
            client.passes(call(1), cancel(1), answer(1, "the client's answer")),
            server.loses(LATE, answer(1, "late")),
        )

    def test_cancelled_in_both(self) -> None:
        """Both cancel their own 1: both answers are late."""
        play(
            client.passes(call(1)),
            server.passes(call(1)),
            client.passes(cancel(1)),
            server.passes(cancel(1)),
            client.loses(LATE, answer(1)),
            server.loses(LATE, answer(1)),
            client.loses(REDUNDANT, cancel(1)),
            server.loses(REDUNDANT, cancel(1)),
        )


class TestNotes:
    """What people see of it: a line per cancel and per drop."""

    def test_a_cancel_and_a_late_answer(self) -> None:
        """Issuer, id, method, reason, outcome and times stand in the notes."""
        late = error(1)
        done = play(
            client.passes(call(1)),
            Waits(2.0),
            client.passes(cancel(1, "no longer needed")),
            Waits(3.0),
            server.loses(LATE, late),
        )
        first, second = done.notes
        assert (first.event, first.issuer, first.id) == (Event.CANCEL, Peer.CLIENT, 1)
        assert (first.method, first.reason) == ("tools/call", "no longer needed")
        assert first.since_request_s == pytest.approx(2.0)
        assert (second.event, second.what, second.issuer) == (Event.DROP, LATE, Peer.CLIENT)
        assert (second.id, second.method, second.outcome) == (1, "tools/call", "error")
        assert second.since_request_s == pytest.approx(5.0)
        assert second.since_cancel_s == pytest.approx(3.0)
        assert second.bytes in (len(late), len(late) + 1)
        assert done.statistics.dropped == {LATE: 1}
        assert done.statistics.longest_overrun_s == pytest.approx(3.0)
        assert (done.statistics.cancelled, done.statistics.never_answered) == (1, 0)

    def test_never_answered(self) -> None:
        """Cancelled requests that got no answer at all are counted; others are not."""
        done = play(
            client.passes(call(1), call(2), call(3), call("s"), cancel(1), cancel(2)),
            server.loses(LATE, answer(2)),
            server.passes(answer(3), call(1), progress("x")),
        )
        assert done.statistics.never_answered == 1
        assert done.statistics.cancelled == 2
        assert done.statistics.in_flight == {Peer.CLIENT: 1, Peer.SERVER: 1}
        assert done.statistics.waiting == 1
