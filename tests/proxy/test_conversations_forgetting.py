"""What is no longer known: by the bounds, and after what could not be tracked."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Policy
from proxy.messages import OWED, answer, call, cancel, error, note, progress
from proxy.playbook import End, both_ways, client, play, server

LATE = What.LATE_RESPONSE
LATE_PROGRESS = What.LATE_PROGRESS
REDUNDANT = What.REDUNDANT_CANCEL


@both_ways
class TestBounds:
    """Ended ids are remembered, oldest gone first; live ones are never evicted."""

    def test_the_newest_tombstones_are_known(self, asker: End, worker: End) -> None:
        """At least COUNT, at most twice as many; evicted means forwarded from then on."""
        count = 4
        ids = range(20)
        play(
            asker.passes(*(line for n in ids for line in (call(n, token=n), cancel(n)))),
            worker.loses(LATE, *(answer(n) for n in ids[-count:])),
            worker.loses(LATE_PROGRESS, *(progress(n) for n in ids[-count:])),
            asker.loses(REDUNDANT, *(cancel(n) for n in ids[-count:])),
            worker.passes(*(answer(n) for n in ids[: -2 * count])),
            worker.passes(*(progress(n) for n in ids[: -2 * count])),
            asker.passes(*(cancel(n) for n in ids[: -2 * count])),
            policy=Policy(remember=count),
        )

    def test_the_newest_answered_are_known(self, asker: End, worker: End) -> None:
        """The answered memory is another one, as large."""
        count = 4
        ids = range(20)
        play(
            asker.passes(call("c", token="c"), cancel("c")),
            asker.passes(*(call(n, token=n) for n in ids)),
            worker.passes(*(answer(n) for n in ids)),
            asker.loses(REDUNDANT, *(cancel(n) for n in ids[-count:])),
            worker.loses(What.STALE_PROGRESS, *(progress(n) for n in ids[-count:])),
            asker.passes(*(cancel(n) for n in ids[: -2 * count])),
            worker.passes(*(progress(n) for n in ids[: -2 * count])),
            worker.loses(LATE, answer("c")),
            policy=Policy(remember=count),
        )

    def test_live_ones_are_never_evicted(self, asker: End, worker: End) -> None:
        """A long poll waits for hours while others come and go."""
        play(
            asker.passes(call("long", token="long")),
            asker.passes(*(line for n in range(20) for line in (call(n), cancel(n)))),
            worker.passes(progress("long")),
            asker.passes(cancel("long")),
            worker.loses(LATE, answer("long")),
            policy=Policy(remember=2),
        )

    def test_beyond_the_live_bound_requests_are_untracked(self, asker: End, worker: End) -> None:
        """They pass, and so does all that names them; when there is room again, new ones count."""
        play(
            asker.passes(call(1), call(2), call(3), cancel(3), cancel(3)),
            worker.passes(answer(3), answer(1)),
            asker.passes(call(4), cancel(4)),
            worker.loses(LATE, answer(4)),
            worker.passes(answer(2)),
            policy=Policy(live_limit=2),
        )


class TestWhatCouldNotBeTracked:
    """A message that the other side may understand, and we did not track, may have asked."""

    OPAQUE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}'
    MIXED = b"[%b,17]" % call(1)

    @both_ways
    @pytest.mark.parametrize("odd", [OPAQUE, MIXED, b"[%b,%b]" % (note(), OPAQUE)])
    def test_that_peers_ended_ids_are_forgotten(self, asker: End, worker: End, odd: bytes) -> None:
        """Tombstones, answered ids, and what their tokens meant; live ones stay."""
        play(
            asker.passes(call(1, token=1), cancel(1), call(2, token=2), call(3)),
            worker.passes(answer(2)),
            asker.passes(odd),
            worker.passes(answer(1), progress(1), progress(2)),
            asker.passes(cancel(1), cancel(2), cancel(3)),
            worker.loses(LATE, answer(3)),
        )

    @both_ways
    def test_where_an_answer_is_owed(self, asker: End, worker: End) -> None:
        """The array may hold a second use of the cancelled id: both are owed their answers."""
        play(
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED), self.MIXED),
            asker.passes(cancel(1, dialect=OWED)),
            worker.passes(error(1), answer(1)),
            dialect=OWED,
        )

    @both_ways
    def test_the_other_peers_are_not(self, asker: End, worker: End) -> None:
        """Who said it is whose table it concerns."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(self.OPAQUE),
            worker.loses(LATE, answer(1)),
        )

    @both_ways
    @pytest.mark.parametrize(
        "broken",
        [
            b'{"id":1,"method":"x"',
            b"{bad",
            b"[",
            b"17",
            b'"str"',
            b"[]",
            b"[1,2]",
            b"[[]]",
            b"null",
        ],
    )
    def test_broken_json_is_no_such_message(self, asker: End, worker: End, broken: bytes) -> None:
        """Nobody can have understood it as a request."""
        play(
            asker.passes(call(1), cancel(1), broken),
            worker.loses(LATE, answer(1)),
        )

    def test_the_shield_no_longer_knows_what_is_unknown(self) -> None:
        """Unknown answers to that peer pass, and unknown cancels from it."""
        shield = Policy(shield=True)
        play(
            server.loses(What.UNASKED_ANSWER, answer(9)),
            client.loses(What.UNKNOWN_CANCEL, cancel(9)),
            client.passes(self.OPAQUE),
            server.passes(answer(9)),
            client.passes(cancel(9)),
            server.loses(What.UNASKED_ANSWER, error(b"null")),
            policy=shield,
        )

    def test_what_the_server_may_have_asked_weakens_no_shield(self) -> None:
        """The shield is about the client's requests."""
        play(
            server.passes(self.OPAQUE),
            server.loses(What.UNASKED_ANSWER, answer(9)),
            client.loses(What.UNKNOWN_CANCEL, cancel(9)),
            policy=Policy(shield=True),
        )
