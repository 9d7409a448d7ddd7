"""Progress tokens: a name space of their own, with owners that are live or have ended."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Fate, Policy
from proxy.messages import OWED, answer, batch, call, cancel, note, progress
from proxy.playbook import End, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
LATE_PROGRESS = What.LATE_PROGRESS
STALE = What.STALE_PROGRESS


@both_ways
class TestOneOwner:
    """The token of one request."""

    def test_in_flight(self, asker: End, worker: End) -> None:
        """Progress passes."""
        play(asker.passes(call(1, token=1)), worker.passes(progress(1, 1), progress(1, 2)))

    def test_cancelled(self, asker: End, worker: End) -> None:
        """From the cancel on all is dropped, before and after the late answer."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(progress("t", 1)),
            asker.passes(cancel(1)),
            worker.loses(LATE_PROGRESS, progress("t", 2), progress("t", 3), id="t"),
            worker.loses(LATE, answer(1)),
            worker.loses(LATE_PROGRESS, progress("t", 4)),
        )

    def test_answered(self, asker: End, worker: End) -> None:
        """Work has ended, and so has its progress."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(progress("t", 1), answer(1)),
            worker.loses(STALE, progress("t", 2), id="t"),
        )

    def test_unknown(self, asker: End, worker: End) -> None:
        """Only tokens that a request carried are ever looked at."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(progress("nobody"), progress(1), progress(99)),
        )

    def test_the_id_is_no_token(self, asker: End, worker: End) -> None:
        """Separate name spaces, though many use the one as the other."""
        play(
            asker.passes(call(1, token=2), call(2, token=1), cancel(1)),
            worker.passes(progress(1)),
            worker.loses(LATE_PROGRESS, progress(2)),
            worker.passes(answer(2)),
        )

    def test_in_a_batch(self, asker: End, worker: End) -> None:
        """Element by element."""
        play(
            asker.passes(batch(call(1, token=1), call(2, token=2)), cancel(1)),
            worker >> batch(progress(1), progress(2), note()),
            asker.spliced(progress(2), note()),
            held(LATE_PROGRESS, 1),
        )

    def test_malformed_progress(self, asker: End, worker: End) -> None:
        """Without a usable token it is nobody's."""
        play(
            asker.passes(call(1, token=1), cancel(1)),
            worker.passes(
                b'{"jsonrpc":"2.0","method":"notifications/progress"}',
                b'{"jsonrpc":"2.0","method":"notifications/progress","params":[1]}',
                b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"token":1}}',
                b'{"jsonrpc":"2.0","method":"$/progress","params":{"token":1}}',
            ),
        )

    def test_where_a_token_is_not_looked_for(self, asker: End, worker: End) -> None:
        """Only ``params._meta.progressToken`` carries one."""
        play(
            asker.passes(
                b'{"id":1,"method":"x","params":{"progressToken":1}}',
                b'{"id":2,"method":"x","_meta":{"progressToken":1}}',
                b'{"id":3,"method":"x","params":{"x":{"_meta":{"progressToken":1}}}}',
                cancel(1),
                cancel(2),
                cancel(3),
            ),
            worker.passes(progress(1)),
        )


@both_ways
class TestSeveralOwners:
    """The uses that carried it."""

    def test_while_one_is_live(self, asker: End, worker: End) -> None:
        """It passes."""
        play(
            asker.passes(call(1, token="t"), call(2, token="t"), cancel(1)),
            worker.passes(progress("t")),
            asker.passes(cancel(2)),
            worker.loses(LATE_PROGRESS, progress("t")),
        )

    @pytest.mark.parametrize("cancelled_last", [True, False])
    def test_the_one_that_ended_last_decides(
        self, asker: End, worker: End, cancelled_last: bool
    ) -> None:
        """Cancelled → late, answered → stale."""
        ends = [worker.passes(answer(1)), asker.passes(cancel(2))]
        if not cancelled_last:
            ends.reverse()
        play(
            asker.passes(call(1, token="t"), call(2, token="t")),
            *ends,
            worker.loses(LATE_PROGRESS if cancelled_last else STALE, progress("t")),
        )

    @pytest.mark.parametrize("cancelled_last", [True, False])
    def test_and_so_does_its_switch(self, asker: End, worker: End, cancelled_last: bool) -> None:
        """With one of the two switches open."""
        ends = [worker.passes(answer(1)), asker.passes(cancel(2))]
        if not cancelled_last:
            ends.reverse()
        last = (
            worker.loses(LATE_PROGRESS, progress("t"))
            if cancelled_last
            else worker.passes(progress("t"))
        )
        play(
            asker.passes(call(1, token="t"), call(2, token="t")),
            *ends,
            last,
            policy=Policy(stale_progress=Fate.FORWARD),
        )

    @pytest.mark.parametrize("cancelled", [True, False])
    def test_a_new_request_removes_the_claims_of_ended_ones(
        self, asker: End, worker: End, cancelled: bool
    ) -> None:
        """The token is the new request's."""
        end = asker.passes(cancel(1)) if cancelled else worker.passes(answer(1))
        play(
            asker.passes(call(1, token="t")),
            end,
            asker.passes(call(2, token="t")),
            worker.passes(progress("t"), answer(2)),
            worker.loses(STALE, progress("t")),
        )

    def test_never_those_of_live_ones(self, asker: End, worker: End) -> None:
        """The second request ends, the first still works."""
        play(
            asker.passes(call(1, token="t"), call(2, token="t"), cancel(2)),
            worker.passes(progress("t")),
            asker.passes(call(3, token="t"), cancel(3)),
            worker.passes(progress("t"), answer(1)),
            worker.loses(STALE, progress("t")),
        )

    def test_a_request_with_an_untracked_id_takes_it_too(self, asker: End, worker: End) -> None:
        """Nobody tracked owns it any more: it is unknown, and passes."""
        play(
            asker.passes(call(1, token="t"), cancel(1), call(b"null", token="t")),
            worker.passes(progress("t")),
        )

    def test_two_uses_of_one_id(self, asker: End, worker: End) -> None:
        """While one of an ambiguous id's uses is in flight the tokens of both are live."""
        play(
            asker.passes(call(1, token="t"), call(1, token="u")),
            worker.passes(progress("t"), progress("u"), answer(1)),
            worker.passes(progress("t"), progress("u"), answer(1)),
            worker.loses(STALE, progress("t"), progress("u")),
        )

    def test_the_id_is_used_again_without_it(self, asker: End, worker: End) -> None:
        """The use that carried the token has been answered, whatever became of its id."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(answer(1)),
            asker.passes(call(1)),
            worker.loses(STALE, progress("t")),
            worker.passes(answer(1)),
        )


class TestDirections:
    """Progress for a request comes from the other peer."""

    def test_tokens_belong_to_an_issuer(self) -> None:
        """The same token in both directions is two tokens."""
        play(
            client.passes(call(1, token="t"), cancel(1)),
            server.passes(call(1, token="t")),
            client.passes(progress("t")),
            server.loses(LATE_PROGRESS, progress("t")),
            client.passes(answer(1)),
            client.loses(STALE, progress("t")),
        )


class TestOwed:
    """LSP: two tokens in a request; what a server makes up is tied to no request."""

    POLICY = Policy(late_progress=Fate.DROP, stale_progress=Fate.DROP)

    def test_both_places(self) -> None:
        """``workDoneToken`` and ``partialResultToken``."""
        two = b'{"id":1,"method":"x","params":{"workDoneToken":"w","partialResultToken":"p"}}'
        play(
            client.passes(two),
            server.passes(progress("w", dialect=OWED), progress("p", dialect=OWED)),
            client.passes(cancel(1, dialect=OWED)),
            server.loses(LATE_PROGRESS, progress("w", dialect=OWED), progress("p", dialect=OWED)),
            server.passes(progress("made up", dialect=OWED)),
            dialect=OWED,
            policy=self.POLICY,
        )
