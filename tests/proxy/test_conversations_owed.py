"""One request id where an answer is owed, state by state."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import LateResponse, Policy
from proxy.messages import OWED, Spelling, answer, call, cancel, error
from proxy.playbook import End, both_ways, client, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


@both_ways
class TestOwed:
    """Where an answer is owed (LSP, BSP, ACP)."""

    def test_the_first_answer_is_forwarded_and_no_other(self, asker: End, worker: End) -> None:
        """A cancelled request is answered once: then it is settled."""
        play(
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            asker.loses(REDUNDANT, cancel(1, dialect=OWED)),
            worker.passes(error(1, -32800)),
            worker.loses(LATE, answer(1), error(1)),
            asker.loses(REDUNDANT, cancel(1, dialect=OWED)),
            dialect=OWED,
        )

    def test_a_settled_id_is_used_again_as_it_is(self, asker: End, worker: End) -> None:
        """No fresh id: nothing is owed from before."""
        play(
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            worker.passes(error(1, -32800)),
            asker.passes(call(1, dialect=OWED)),
            worker.passes(answer(1), answer(1)),
            asker.loses(REDUNDANT, cancel(1, dialect=OWED)),
            dialect=OWED,
        )

    def test_a_cancelled_id_used_again_has_two_uses(self, asker: End, worker: End) -> None:
        """Both are owed an answer; a cancel between them is forwarded and marks nothing."""
        play(
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            worker.passes(error(1, -32800), answer(1), answer(1)),
            dialect=OWED,
        )

    def test_one_of_two_left_is_ordinary(self, asker: End, worker: End) -> None:
        """n uses, one answered: the cancel marks the one that is left."""
        play(
            asker.passes(call(1, dialect=OWED), call(1, dialect=OWED)),
            worker.passes(answer(1)),
            asker.passes(cancel(1, dialect=OWED)),
            asker.loses(REDUNDANT, cancel(1, dialect=OWED)),
            worker.passes(answer(1)),
            worker.loses(LATE, answer(1)),
            dialect=OWED,
        )

    def test_answered_as_everywhere(self, asker: End, worker: End) -> None:
        """A cancel after the answer is redundant; a second answer passes."""
        play(
            asker.passes(call(1, dialect=OWED)),
            worker.passes(answer(1), answer(1)),
            asker.loses(REDUNDANT, cancel(1, dialect=OWED)),
            dialect=OWED,
        )

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7)])
    def test_coerced_second(self, asker: End, worker: End, one: Spelling, other: Spelling) -> None:
        """The cancel under the other type means the only candidate, and so does its repeat."""
        play(
            asker.passes(call(one, dialect=OWED), cancel(other, dialect=OWED)),
            asker.loses(REDUNDANT, cancel(one, dialect=OWED), cancel(other, dialect=OWED)),
            worker.passes(answer(other)),
            worker.loses(LATE, answer(one), answer(other)),
            asker.loses(REDUNDANT, cancel(other, dialect=OWED)),
            dialect=OWED,
        )

    def test_absent_as_everywhere(self, asker: End, worker: End) -> None:
        """A cancel for an id never seen is forwarded and remembered nowhere."""
        play(
            asker.passes(cancel(1, dialect=OWED), call(1, dialect=OWED)),
            worker.passes(answer(1), answer(2)),
            dialect=OWED,
        )

    def test_all_answers_pass_when_told(self, asker: End, worker: End) -> None:
        """``--late-response forward``: as without us."""
        play(
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            worker.passes(error(1), answer(1), answer(1)),
            dialect=OWED,
            policy=Policy(late_response=LateResponse.FORWARD),
        )


def test_a_servers_cancel_for_its_own_after_the_clients() -> None:
    """An answer is owed to the client, but nothing is in flight: the server means its own."""
    play(
        client.passes(call(7, dialect=OWED)),
        server.passes(call(7, dialect=OWED)),
        client.passes(answer(7)),
        server.passes(cancel(7, dialect=OWED)),
        client.passes(cancel(7, dialect=OWED)),
        server.loses(REDUNDANT, cancel(7, dialect=OWED)),
        server.passes(answer(7)),
        dialect=OWED,
    )
