"""``--timeout``: the proxy gives a request up, tells both peers, and answers once."""

from __future__ import annotations

import json

import pytest

from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, IdReuse, LateResponse, Policy
from nevermind.session import Session
from proxy.messages import (
    OWED,
    PLAIN,
    answer,
    batch,
    call,
    cancel,
    error,
    initialize,
    listen,
    note,
    progress,
    task,
)
from proxy.ours import stop, timed_out
from proxy.playbook import Script, Waits, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
AFTER_30 = Policy(timeout=30)
IN_ORDER = ("one by one", "byte by byte")
"""Where it matters whether something has been sent by the time the next thing is said."""


def gives_up(id: int | str | bytes, after: float = 30) -> list[Script]:
    """Both peers are told that the request has timed out."""
    return [
        server << stop(id, after),
        client << timed_out(id, after),
    ]


class TestTheClock:
    """When a request is given up."""

    def test_it_runs_from_reading_the_request(self) -> None:
        """Nothing happens a moment before; then both peers are told."""
        play(
            client.passes(call(1)),
            Waits(29.9),
            Waits(0.2),
            gives_up(1, 30.1),
            policy=AFTER_30,
        )

    def test_what_the_client_hears(self) -> None:
        """The error names the proxy and the time, for people and programs, in no reserved code."""
        how = play(client.passes(call(1)), Waits(30), gives_up(1), policy=AFTER_30)
        said = json.loads(timed_out(1))
        assert said["id"] == 1
        assert "nevermind" in said["error"]["message"]
        assert "30 s" in said["error"]["message"]
        assert said["error"]["data"] == {"answeredBy": "nevermind", "timedOutAfterSeconds": 30}
        assert not -32768 <= said["error"]["code"] <= -32000
        told = [note for note in how.notes if note.event is Event.TIMEOUT]
        assert [(n.issuer, n.id, n.method, n.since_request_s) for n in told] == [
            (Peer.CLIENT, 1, "tools/call", 30)
        ]
        assert told[0].why == "no answer after 30 s"

    def test_an_answer_in_time_stops_it(self) -> None:
        """Nobody is told anything that is no longer true."""
        play(
            client.passes(call(1), call(2)),
            Waits(29),
            server.passes(answer(1), error(2)),
            Waits(100),
            policy=AFTER_30,
        )

    def test_an_answer_that_is_read_before_the_clock_is_looked_at_is_the_one_answer(self) -> None:
        """However late it is: it was let through first."""
        session = Session(AFTER_30)
        session.receive_data(Peer.CLIENT, call(1) + b"\n", 0.0)
        session.receive_data(Peer.SERVER, answer(1) + b"\n", 31.0)
        session.expire(31.0)
        assert b"".join(session.outbox[Peer.CLIENT].buffers()) == answer(1) + b"\n"
        assert b"".join(session.outbox[Peer.SERVER].buffers()) == call(1) + b"\n"

    def test_when_the_shell_must_look_again(self) -> None:
        """The next deadline is the earliest of all, of rests that are still and of clocks."""
        session = Session(Policy(timeout=30, timeouts={"fast": 5}))
        assert session.next_deadline() is None
        session.receive_data(Peer.CLIENT, call(1) + b"\n", 0.0)
        assert session.next_deadline() == 30
        session.receive_data(Peer.CLIENT, call(2, method="fast") + b"\n", 1.0)
        assert session.next_deadline() == 6
        session.receive_data(Peer.SERVER, b'{"half":', 2.0)
        assert session.next_deadline() == 2.1
        session.expire(6.0)
        assert session.next_deadline() == 30
        session.expire(30.0)
        assert session.next_deadline() is None

    def test_progress_starts_it_again(self) -> None:
        """As long as the server says that it is at work, it is not given up."""
        play(
            client.passes(call(1, token="t")),
            [step for n in range(9) for step in (Waits(20), *server.passes(progress("t", n)))],
            Waits(29),
            Waits(1),
            gives_up(1, 210),
            policy=AFTER_30,
        )

    def test_progress_starts_it_again_up_to_a_maximum(self) -> None:
        """After that no progress helps any more."""
        play(
            client.passes(call(1, token=1)),
            Waits(25),
            server.passes(progress(1)),
            Waits(25),
            server.passes(progress(1)),
            Waits(9),
            Waits(1),
            gives_up(1, 60),
            server.loses(What.LATE_PROGRESS, progress(1)),
            policy=Policy(timeout=30, max_timeout=60),
        )

    def test_a_timeout_longer_than_the_maximum_holds(self) -> None:
        """The maximum bounds what progress can do, not what was asked for."""
        play(
            client.passes(call(1, token=1)),
            Waits(80),
            server.passes(progress(1)),
            Waits(19),
            Waits(1),
            gives_up(1, 100),
            policy=Policy(timeout=100, max_timeout=60),
        )

    def test_progress_of_others_does_not_help(self) -> None:
        """Not for another token, not the client's own, not without one."""
        play(
            client.passes(call(1, token=1), call(2, token=2), call(3)),
            server.passes(answer(2), call(1, token=1)),
            Waits(20),
            server.passes(progress("x"), progress(b"null"), progress(3)),
            client.passes(progress(1), progress(7)),
            Waits(10),
            gives_up(1),
            gives_up(3),
            policy=AFTER_30,
        )

    def test_progress_under_the_token_of_the_other_type(self) -> None:
        """SDKs turn 7 into "7": where no such token is about, the other is meant."""
        play(
            client.passes(call(1, token=7), call(2, token="8")),
            Waits(20),
            server.passes(progress("7"), progress(8)),
            Waits(20),
            server.passes(answer(1), answer(2)),
            policy=AFTER_30,
        )

    def test_it_is_the_clients_requests_that_have_one(self) -> None:
        """What the server asks a person may take a day."""
        play(
            server.passes(call(1, method="elicitation/create")),
            Waits(86400),
            client.passes(answer(1)),
            policy=AFTER_30,
        )

    def test_ids_that_are_not_tracked_have_none(self) -> None:
        """An answer to them could not be told from another's."""
        play(client.passes(call(b"null"), call(b"1.5")), Waits(100), policy=AFTER_30)

    def test_requests_beyond_the_live_bound_have_none(self) -> None:
        """They pass untracked, and may be answered at any time."""
        play(
            client.passes(call(1), call(2)),
            Waits(30),
            gives_up(1),
            server.passes(answer(2)),
            policy=Policy(timeout=30, live_limit=1),
        )

    def test_zero_is_no_timeout(self) -> None:
        """As everywhere: 0 seconds are none at all."""
        play(client.passes(call(1)), Waits(100), server.passes(answer(1)), policy=Policy(timeout=0))

    def test_a_cancel_by_the_client_stops_it(self) -> None:
        """A cancelled request stays unanswered in MCP; the server was told already."""
        play(client.passes(call(1), cancel(1)), Waits(100), policy=AFTER_30)


class TestMethods:
    """Which requests have a clock, and how long it runs."""

    def test_initialize_and_subscriptions_have_none(self) -> None:
        """A server may take its time to start, and a subscription lasts for hours."""
        play(client.passes(initialize(0), listen(1)), Waits(1e6), policy=AFTER_30)

    def test_initialize_has_one_where_it_is_named(self) -> None:
        """It must not be cancelled, so only the client is told; its late answer is dropped."""
        play(
            client.passes(initialize(0)),
            Waits(60),
            client << timed_out(0, 60),
            server.loses(LATE, answer(0), id=0),
            client.loses(REDUNDANT, cancel(0)),
            policy=Policy(timeouts={"initialize": 60}, redundant_cancel=Fate.FORWARD),
        )

    def test_a_subscription_has_one_where_it_is_named(self) -> None:
        """It is cancelled like any request."""
        play(
            client.passes(listen(1)),
            Waits(9),
            gives_up(1, 9),
            policy=Policy(timeouts={"subscriptions/listen": 9}),
        )

    def test_a_method_of_its_own(self) -> None:
        """Named methods have their own; others have the usual one, named with 0 or nothing none."""
        policy = Policy(timeout=30, timeouts={"a": 5, "b": None, "c": 0})
        play(
            client.passes(call(1, method="a"), call(2, method="b"), call(3, method="c"), call(4)),
            Waits(5),
            gives_up(1, 5),
            Waits(25),
            gives_up(4, 30),
            Waits(500),
            server.passes(answer(2), answer(3)),
            policy=policy,
        )

    def test_progress_of_a_request_without_one(self) -> None:
        """It starts no clock that was not running."""
        play(
            client.passes(call(1, token=1)),
            server.passes(progress(1)),
            Waits(1000),
            server.passes(answer(1)),
            policy=Policy(timeouts={"a": 5}),
        )

    def test_only_named_methods(self) -> None:
        """Without a usual timeout the others have none, wherever they stand among them."""
        play(
            client.passes(call(1), call(2, method="a"), call(3)),
            Waits(5),
            gives_up(2, 5),
            server.passes(answer(1), answer(3)),
            policy=Policy(timeouts={"a": 5}),
        )


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


class TestIds:
    """Answers of ours name the id as the client knows it, the cancel as the server does."""

    @pytest.mark.parametrize(
        ("asked", "answered"),
        [
            (b'"a\\u0062"', '"ab"'),
            (b'"\\"\\ud800\\n"', '"\\"\\ud800\\n"'),
            (b"7.0", "7"),
            (b"-0", "0"),
            (b"1e2000", "1e2000"),
            (b"-20e2000", "-2e2001"),
            (b'""', '""'),
        ],
    )
    def test_by_value(self, asked: bytes, answered: str) -> None:
        """The spelling may be another, the value is the same."""
        play(client.passes(call(asked)), Waits(30), gives_up(answered.encode()), policy=AFTER_30)

    def test_used_again_it_goes_out_under_a_fresh_one(self) -> None:
        """The old, late answer never passes for the new request's, in either order."""
        for new_first in (True, False):
            new: list[Script] = [server >> answer(b"<n>", "new"), client << answer(1, "new")]
            old = server.loses(LATE, answer(1, "old"), id=1)
            play(
                client.passes(call(1)),
                Waits(30),
                gives_up(1),
                client >> call(1),
                server << call(b"<n>"),
                [*new, *old] if new_first else [*old, *new],
                policy=AFTER_30,
                ways=IN_ORDER,
            )

    def test_under_a_fresh_one_it_can_time_out_too(self) -> None:
        """Each peer hears the id that it knows, the client in its own spelling."""
        play(
            client.passes(call(1)),
            Waits(30),
            gives_up(1),
            client >> call(b"1.0"),
            server << call(b"<n>"),
            Waits(30),
            server << stop(b"<n>"),
            client << timed_out(b"1.0"),
            server.loses(LATE, answer(b"<n>"), answer(1)),
            policy=AFTER_30,
        )

    def test_used_again_before_our_answer_is_sent(self) -> None:
        """It would be taken for the new request's answer: it is taken back."""
        how = play(
            client.passes(call(1), call(2)),
            client.stalls(),
            Waits(30),
            server << stop(1),
            server << stop(2),
            client >> call(1),
            server << call(b"<n>"),
            client.reads(),
            client << timed_out(2),
            server >> answer(b"<n>"),
            client << answer(1),
            policy=AFTER_30,
        )
        told = [note for note in how.notes if note.event is Event.REVOKE]
        assert [(n.id, n.why) for n in told] == [(1, "its id is in use again")]
        assert (how.statistics.timed_out, how.statistics.answered) == (2, 1)

    def test_used_again_while_our_answer_is_being_sent(self) -> None:
        """What has begun is sent whole."""
        play(
            client.passes(call(1)),
            client.stalls(5),
            Waits(30),
            server << stop(1),
            client.hears_raw(timed_out(1)[:5]),
            client >> call(1),
            server << call(b"<n>"),
            client.reads(),
            client.hears_raw(timed_out(1)[5:] + b"\n"),
            policy=AFTER_30,
            ways=IN_ORDER,
        )

    def test_used_again_and_forwarded(self) -> None:
        """``--id-reuse forward`` clears the tombstone; our answer goes back all the same."""
        play(
            client.passes(call(1)),
            client.stalls(),
            Waits(30),
            server << stop(1),
            client.passes(call(1)),
            client.reads(),
            server.passes(answer(1)),
            policy=Policy(timeout=30, id_reuse=IdReuse.FORWARD),
        )

    def test_two_uses_at_a_time_are_never_answered(self) -> None:
        """Which of the two an answer would be for can't be told."""
        play(
            client.passes(call(1)),
            Waits(20),
            client.passes(call(1)),
            Waits(10),
            Waits(20),
            Waits(1000),
            server.passes(answer(1), answer(1)),
            Waits(1000),
            policy=AFTER_30,
        )

    def test_with_one_use_left_it_is_an_ordinary_request_again(self) -> None:
        """Its clock has started over."""
        play(
            client.passes(call(1), call(1)),
            Waits(20),
            server.passes(answer(1, "a")),
            Waits(10),
            gives_up(1),
            server.loses(LATE, answer(1, "b")),
            policy=AFTER_30,
        )

    def test_while_the_twin_of_the_other_type_is_in_flight(self) -> None:
        """An answer to "1" may be spelled 1: such ids are as good as ambiguous."""
        play(
            client.passes(call(1), call("1")),
            Waits(30),
            server.passes(answer("1")),
            Waits(29),
            Waits(1),
            gives_up(1, 60),
            server.loses(LATE, answer(1)),
            policy=AFTER_30,
        )


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
