"""``--answer-cancelled``: a cancelled request that stays unanswered gets one answer, ours."""

from __future__ import annotations

import json

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, IdReuse, LateResponse, Policy
from proxy.messages import (
    OWED,
    answer,
    batch,
    call,
    cancel,
    error,
    initialize,
    note,
    progress,
    task,
)
from proxy.ours import cancelled, timed_out
from proxy.playbook import End, Waits, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
AT_ONCE = Policy(answer_cancelled=0)
AFTER_5 = Policy(answer_cancelled=5)
IN_ORDER = ("one by one", "byte by byte")
"""Where it matters whether something has been sent by the time the next thing is said."""


@both_ways
class TestAtOnce:
    """With 0 seconds the answer goes out with the cancel."""

    def test_the_issuer_is_answered(self, asker: End, worker: End) -> None:
        """It has the dialect's error, the worker has the cancel, and later answers are dropped."""
        play(
            asker.passes(call(1), call(2), cancel(1)),
            asker << cancelled(1),
            worker.loses(LATE, answer(1), error(1), id=1),
            worker.passes(answer(2)),
            policy=AT_ONCE,
        )

    def test_repeated_cancels(self, asker: End, worker: End) -> None:
        """One answer, however often it is cancelled."""
        play(
            asker.passes(call(1), cancel(1)),
            asker << cancelled(1),
            asker.loses(REDUNDANT, cancel(1), cancel(1)),
            policy=AT_ONCE,
        )

    def test_in_a_batch(self, asker: End, worker: End) -> None:
        """Cancelled there, and answered there: element by element."""
        play(
            asker.passes(batch(call(1), call(2)), batch(cancel(1), note())),
            asker << cancelled(1),
            worker >> batch(answer(1), answer(2)),
            asker.spliced(answer(2)),
            held(LATE, 1),
            policy=AT_ONCE,
        )

    def test_used_again_it_goes_out_under_a_fresh_id(self, asker: End, worker: End) -> None:
        """The old answer never passes for the new one."""
        play(
            asker.passes(call(1), cancel(1)),
            asker << cancelled(1),
            asker >> call(1),
            worker << call(b"<n>"),
            worker.loses(LATE, answer(1, "old"), id=1),
            worker >> answer(b"<n>", "new"),
            asker << answer(1, "new"),
            policy=AT_ONCE,
            ways=IN_ORDER,
        )

    def test_used_again_in_the_same_breath(self, asker: End, worker: End) -> None:
        """Our answer has not gone out yet: it would be taken for the new request's."""
        for way in ("together", *IN_ORDER):
            how = play(
                asker.passes(call(1)),
                asker.stalls(),
                asker.passes(cancel(1)),
                asker >> call(1),
                worker << call(b"<n>"),
                asker.reads(),
                worker >> answer(b"<n>"),
                asker << answer(1),
                policy=AT_ONCE,
                ways=(way,),
            )
            told = [n.event for n in how.notes if n.event is not Event.DROP]
            assert told == [Event.CANCEL, Event.ANSWER, Event.REVOKE, Event.ALIAS]
            assert how.statistics.answered == 0

    def test_an_ambiguous_id_is_not_answered(self, asker: End, worker: End) -> None:
        """Which use was cancelled can't be told."""
        play(
            asker.passes(call(1), call(1), cancel(1)),
            worker.passes(answer(1), answer(1)),
            policy=AT_ONCE,
        )

    def test_an_id_whose_twin_is_in_flight_is_not_answered(self, asker: End, worker: End) -> None:
        """The answer to either may be spelled as the other's."""
        play(
            asker.passes(call(1), call("1"), cancel(1)),
            worker.passes(answer(1), answer("1")),
            policy=AT_ONCE,
        )

    def test_under_a_fresh_id(self, asker: End, worker: End) -> None:
        """The issuer hears its own id, as it wrote it."""
        play(
            asker.passes(call(7), cancel(7)),
            asker << cancelled(7),
            asker >> call(b"7.0"),
            worker << call(b"<n>"),
            asker >> cancel(7),
            worker << cancel(b"<n>"),
            asker << cancelled(b"7.0"),
            worker.loses(LATE, answer(b"<n>"), answer(7)),
            policy=AT_ONCE,
            ways=IN_ORDER,
        )

    def test_an_answer_in_the_queue_is_late(self, asker: End, worker: End) -> None:
        """The cancel takes effect when it is read: that answer is retracted, ours goes out."""
        how = play(
            asker.passes(call(1)),
            asker.stalls(),
            worker >> answer(1),
            asker >> cancel(1),
            held(LATE, 1),
            held(REDUNDANT, 1),
            asker.reads(),
            asker << cancelled(1),
            worker.loses(LATE, answer(1)),
            policy=AT_ONCE,
        )
        assert how.statistics.answered == 1

    def test_an_answer_that_has_begun_is_the_one_answer(self, asker: End, worker: End) -> None:
        """It is delivered whole, and nothing of ours follows it."""
        play(
            asker.passes(call(1)),
            asker.stalls(3),
            worker >> answer(1),
            asker.hears_raw(answer(1)[:3]),
            asker.loses(REDUNDANT, cancel(1)),
            asker.reads(),
            asker.hears_raw(answer(1)[3:] + b"\n"),
            policy=AT_ONCE,
        )


class TestWhatIsSaid:
    """The error is the dialect's, and ours."""

    def test_the_error(self) -> None:
        """It names the proxy, for people and for programs."""
        how = play(
            client.passes(call(1), cancel(1, "no longer needed")),
            client << cancelled(1),
            policy=AT_ONCE,
        )
        said = json.loads(cancelled(1))["error"]
        assert said["code"] == -32800
        assert "nevermind" in said["message"]
        assert said["data"] == {"answeredBy": "nevermind", "secondsSinceCancel": 0}
        told = how.notes[-1]
        assert (told.event, told.issuer, told.id) == (Event.ANSWER, Peer.CLIENT, 1)
        assert (told.since_request_s, told.since_cancel_s) == (0, 0)

    def test_initialize_is_not_answered(self) -> None:
        """It can't be cancelled."""
        play(
            client.passes(initialize(0)),
            client.loses(What.INITIALIZE_CANCEL, cancel(0)),
            server.passes(answer(0)),
            policy=AT_ONCE,
        )

    def test_absorbed(self) -> None:
        """The server never hears of it, the client is answered."""
        play(
            client.passes(call(1)),
            client.loses(What.ABSORBED_CANCEL, cancel(1)),
            client << cancelled(1),
            server.loses(LATE, answer(1)),
            policy=Policy(answer_cancelled=0, cancel=FirstCancel.ABSORB),
        )

    def test_unknown_and_answered_ids(self) -> None:
        """There is nothing to answer."""
        play(
            client.passes(cancel(1), cancel(b"null"), call(2)),
            server.passes(answer(2)),
            client.loses(REDUNDANT, cancel(2)),
            policy=AT_ONCE,
        )


@both_ways
class TestLater:
    """With some seconds the worker gets its chance."""

    def test_nothing_comes(self, asker: End, worker: End) -> None:
        """From the cancel on, not from the request."""
        play(
            asker.passes(call(1)),
            Waits(100),
            asker.passes(cancel(1)),
            Waits(4.9),
            Waits(0.1),
            asker << cancelled(1, 5),
            worker.loses(LATE, answer(1)),
            policy=AFTER_5,
        )

    def test_a_late_answer_that_is_dropped(self, asker: End, worker: End) -> None:
        """It was not let through: ours still goes out, before or after it."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1)),
            Waits(5),
            asker << cancelled(1, 5),
            worker.loses(LATE, answer(1)),
            policy=AFTER_5,
        )

    @pytest.mark.parametrize("late", [LateResponse.FIRST, LateResponse.FORWARD])
    def test_an_answer_that_is_let_through_first(
        self, asker: End, worker: End, late: LateResponse
    ) -> None:
        """It is the one answer."""
        play(
            asker.passes(call(1), cancel(1)),
            Waits(4),
            worker.passes(answer(1)),
            Waits(10),
            policy=Policy(answer_cancelled=5, late_response=late),
        )

    @pytest.mark.parametrize("late", list(LateResponse))
    def test_an_answer_that_comes_after_ours(
        self, asker: End, worker: End, late: LateResponse
    ) -> None:
        """It is dropped, whatever is said of late answers."""
        play(
            asker.passes(call(1), cancel(1)),
            Waits(5),
            asker << cancelled(1, 5),
            worker.loses(LATE, error(1), answer(1), id=1),
            policy=Policy(answer_cancelled=5, late_response=late),
        )

    def test_only_errors_are_let_through(self, asker: End, worker: End) -> None:
        """A result is dropped and leaves the caller waiting; an error ends the wait."""
        play(
            asker.passes(call(1), call(2), cancel(1), cancel(2)),
            worker.passes(error(2)),
            worker.loses(LATE, answer(1), answer(2)),
            Waits(5),
            asker << cancelled(1, 5),
            worker.loses(LATE, error(1), error(2)),
            policy=Policy(answer_cancelled=5, late_response=LateResponse.FORWARD_ERRORS),
        )

    def test_an_answer_that_waits_in_the_queue_was_let_through(
        self, asker: End, worker: End
    ) -> None:
        """Ours would be a second one."""
        play(
            asker.passes(call(1), cancel(1)),
            asker.stalls(),
            worker >> answer(1),
            Waits(9),
            asker.reads(),
            asker << answer(1),
            policy=Policy(answer_cancelled=5, late_response=LateResponse.FIRST),
        )

    def test_an_answer_with_a_repeated_key(self, asker: End, worker: End) -> None:
        """It passes, for which id it names is in doubt: then it is the one answer."""
        twice = b'{"id":1,"result":1,"id":1}'
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(twice),
            Waits(9),
            policy=AFTER_5,
        )

    def test_used_again(self, asker: End, worker: End) -> None:
        """The old use gets no answer of ours any more: its issuer waits for the new one's."""
        play(
            asker.passes(call(1), cancel(1)),
            asker >> call(1),
            worker << call(b"<n>"),
            Waits(9),
            worker.loses(LATE, answer(1)),
            worker >> answer(b"<n>"),
            asker << answer(1),
            policy=AFTER_5,
        )

    def test_used_again_and_cancelled_again(self, asker: End, worker: End) -> None:
        """One answer of ours, for the new use."""
        play(
            asker.passes(call(1), cancel(1)),
            Waits(3),
            asker >> call(1),
            worker << call(b"<n>"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            Waits(4),
            Waits(1),
            asker << cancelled(1, 5),
            worker.loses(LATE, answer(b"<n>"), answer(1)),
            policy=AFTER_5,
        )

    def test_used_again_and_forwarded(self, asker: End, worker: End) -> None:
        """``--id-reuse forward``: the first answer goes to the new use."""
        play(
            asker.passes(call(1), cancel(1), call(1)),
            Waits(9),
            worker.passes(answer(1)),
            policy=Policy(answer_cancelled=5, id_reuse=IdReuse.FORWARD),
        )

    def test_a_cancel_that_is_forgotten(self, asker: End, worker: End) -> None:
        """An answer would be let through from now on: ours might be a second one."""
        opaque = b'{"id":1,"method":"x","result":1}'
        play(
            asker.passes(call(1), cancel(1), opaque),
            Waits(9),
            worker.passes(answer(1)),
            policy=AFTER_5,
        )

    def test_a_cancel_that_is_evicted(self, asker: End, worker: End) -> None:
        """Likewise, where few are remembered."""
        play(
            asker.passes(*(call(n) for n in range(5))),
            asker.passes(*(cancel(n) for n in range(5))),
            worker.passes(answer(0)),
            Waits(5),
            asker << cancelled(4, 5),
            policy=Policy(answer_cancelled=5, remember=1),
        )

    def test_the_twin_comes_later(self, asker: End, worker: End) -> None:
        """By the time that ours is due an answer could be either's: there is none of ours."""
        play(
            asker.passes(call(1), cancel(1), call("1")),
            Waits(9),
            worker.passes(answer(1), answer("1")),
            policy=AFTER_5,
        )

    def test_a_twin_that_may_have_been_answered(self, asker: End, worker: End) -> None:
        """What passed may have been the one answer, so ours would be a second."""
        play(
            asker.passes(call(1), cancel(1), call("1")),
            worker.passes(answer(1), answer("1")),
            Waits(9),
            worker.loses(LATE, answer(1)),
            policy=AFTER_5,
        )


class TestTasks:
    """Answers that create a task."""

    def test_before_ours_it_passes_and_is_the_one_answer(self) -> None:
        """Losing it would orphan running work."""
        play(
            client.passes(call(1, token="t"), cancel(1)),
            server.passes(task(1), progress("t")),
            Waits(9),
            server.loses(LATE, answer(1)),
            policy=AFTER_5,
        )

    def test_after_ours_it_is_dropped_and_named_in_the_log(self) -> None:
        """Nobody waits for it any more."""
        how = play(
            client.passes(call(1, token="t"), cancel(1)),
            Waits(5),
            client << cancelled(1, 5),
            server.loses(LATE, task(1)),
            server.loses(What.LATE_PROGRESS, progress("t")),
            policy=AFTER_5,
        )
        assert [n.task for n in how.notes if n.what is LATE] == ["t-1"]

    def test_one_whose_keys_repeat(self) -> None:
        """It passes: then it is the one answer, and its token lives on."""
        twice = b'{"id":1,"result":{"task":{"taskId":"a"},"task":{"taskId":"b"}}}'
        play(
            client.passes(call(1, token="t"), cancel(1)),
            Waits(5),
            client << cancelled(1, 5),
            server.passes(twice, progress("t")),
            client.passes(cancel(1)),
            policy=AFTER_5,
        )


class TestWhereAnAnswerIsOwed:
    """LSP and its kin: a slow server feels prompt."""

    def test_at_once(self) -> None:
        """The real answer is dropped when it comes; a new use has a fresh id."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            client << cancelled(1),
            client >> call(1, dialect=OWED),
            server << call(b"<n>", dialect=OWED),
            server.loses(LATE, answer(1, "old")),
            server >> answer(b"<n>"),
            client << answer(1),
            policy=AT_ONCE,
            dialect=OWED,
            ways=IN_ORDER,
        )

    def test_partial_results_stay_usable(self) -> None:
        """Progress passes as it does without us."""
        play(
            client.passes(call(1, token="t", dialect=OWED), cancel(1, dialect=OWED)),
            client << cancelled(1),
            server.passes(progress("t", dialect=OWED)),
            policy=AT_ONCE,
            dialect=OWED,
        )

    def test_the_answer_comes_first(self) -> None:
        """It is the one that was owed; further ones are dropped."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            server.passes(answer(1)),
            Waits(9),
            server.loses(LATE, answer(1)),
            policy=AFTER_5,
            dialect=OWED,
        )

    def test_the_answer_comes_after_ours(self) -> None:
        """One answer per request."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            Waits(5),
            client << cancelled(1, 5),
            server.loses(LATE, answer(1), answer(1)),
            client.loses(REDUNDANT, cancel(1, dialect=OWED)),
            policy=AFTER_5,
            dialect=OWED,
        )

    def test_an_answer_in_the_queue_is_owed(self) -> None:
        """It is never retracted: it is the one answer."""
        play(
            client.passes(call(1, dialect=OWED)),
            client.stalls(),
            server >> answer(1),
            client.loses(REDUNDANT, cancel(1, dialect=OWED)),
            client.reads(),
            client << answer(1),
            policy=AT_ONCE,
            dialect=OWED,
        )

    def test_used_again_while_the_answer_is_owed(self) -> None:
        """Two uses: ours for neither."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED), call(1, dialect=OWED)),
            Waits(9),
            server.passes(answer(1), answer(1)),
            policy=AFTER_5,
            dialect=OWED,
        )


class TestWithATimeout:
    """Both clocks at once: whichever comes first, and only that."""

    @pytest.mark.parametrize(
        ("timeout", "waits", "heard"),
        [(30, 5, cancelled(1, 5)), (4, 5, timed_out(1, 4)), (5, 5, cancelled(1, 5))],
        ids=("cancelled first", "timed out first", "at the same time"),
    )
    def test_where_an_answer_is_owed(self, timeout: int, waits: int, heard: bytes) -> None:
        """One answer of ours."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            Waits(4),
            *([client << heard] if timeout == 4 else []),
            Waits(1),
            *([client << heard] if timeout > 4 else []),
            Waits(100),
            server.loses(LATE, answer(1)),
            policy=Policy(timeout=timeout, answer_cancelled=waits),
            dialect=OWED,
        )

    @pytest.mark.parametrize("dialect", [MCP, OWED], ids=("mcp", "owed"))
    def test_at_once(self, dialect: Dialect) -> None:
        """What has been answered does not time out."""
        play(
            client.passes(call(1, dialect=dialect), cancel(1, dialect=dialect)),
            client << cancelled(1),
            Waits(4),
            Waits(100),
            server.loses(LATE, answer(1)),
            policy=Policy(timeout=4, answer_cancelled=0),
            dialect=dialect,
        )

    def test_in_mcp(self) -> None:
        """A cancelled request does not time out: it is answered when that is due."""
        play(
            client.passes(call(1), cancel(1)),
            Waits(4),
            Waits(1),
            client << cancelled(1, 5),
            Waits(100),
            policy=Policy(timeout=4, answer_cancelled=5),
        )

    def test_a_cancel_after_the_timeout(self) -> None:
        """The client has had an answer: it gets no other."""
        play(
            client.passes(call(1)),
            Waits(4),
            server << b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":'
            b'{"requestId":1,"reason":"nevermind had no answer after 4 s"}}',
            client << timed_out(1, 4),
            client.loses(REDUNDANT, cancel(1)),
            Waits(100),
            policy=Policy(timeout=4, answer_cancelled=5, redundant_cancel=Fate.DROP),
        )
