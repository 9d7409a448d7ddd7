"""``--timeout``: when the proxy gives a request up, and which requests have a clock at all."""

from __future__ import annotations

import json

from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import Fate, Policy
from nevermind.session import Session
from proxy.messages import OWED, answer, call, cancel, error, initialize, listen, progress
from proxy.ours import timed_out
from proxy.playbook import Waits, client, play, server
from proxy.timing_out import AFTER_30, gives_up

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


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
        assert told[0].since_cancel_s is None, "nobody cancelled it"

    def test_one_that_is_cancelled_and_owed_an_answer(self) -> None:
        """Its clock runs on; the note says how long ago the client gave it up."""
        how = play(
            client.passes(call(1, dialect=OWED)),
            Waits(20),
            client.passes(cancel(1, dialect=OWED)),
            Waits(10),
            client << timed_out(1),
            policy=AFTER_30,
            dialect=OWED,
        )
        told = [note for note in how.notes if note.event is Event.TIMEOUT]
        assert [(n.since_request_s, n.since_cancel_s) for n in told] == [(30, 10)]

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
