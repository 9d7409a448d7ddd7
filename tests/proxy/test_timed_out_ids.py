"""``--timeout``: ids of requests that were given up, odd ones, twins, and ones used again."""

from __future__ import annotations

import pytest

from nevermind.notes import Event, What
from nevermind.policy import IdReuse, Policy
from proxy.messages import answer, call
from proxy.ours import stop, timed_out
from proxy.playbook import IN_ORDER, Script, Waits, client, play, server
from proxy.timing_out import AFTER_30, gives_up

LATE = What.LATE_RESPONSE


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
