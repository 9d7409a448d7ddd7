"""``--answer-cancelled 0``: with its cancel a request is answered, by us, and only once."""

from __future__ import annotations

import json

from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import FirstCancel, Policy
from proxy.messages import answer, batch, call, cancel, error, initialize, note
from proxy.ours import cancelled
from proxy.playbook import IN_ORDER, End, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
AT_ONCE = Policy(answer_cancelled=0)


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
