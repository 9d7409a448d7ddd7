"""``--shield``: the host is spared answers, and the server cancels, that nobody asked for."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Policy
from proxy.messages import answer, batch, call, cancel, error, nobodys_error, note, progress, task
from proxy.playbook import client, held, play, server

UNASKED = What.UNASKED_ANSWER


class TestShield:
    """``--shield`` guards the host from what it never asked for."""

    POLICY = Policy(shield=True)

    @pytest.mark.parametrize(
        "stray",
        [
            answer(99),
            error("x"),
            nobodys_error(),
            nobodys_error(null=False),
            answer(b"null"),
            b'{"result":{}}',
        ],
    )
    def test_answers_to_nobody(self, stray: bytes) -> None:
        """Unknown ids, id null, id absent."""
        play(
            server.loses(UNASKED, stray),
            client.passes(call(2)),
            server.passes(answer(2)),
            policy=self.POLICY,
        )

    def test_second_answers(self) -> None:
        """The first has been delivered."""
        play(
            client.passes(call(1)),
            server.passes(answer(1)),
            server.loses(UNASKED, answer(1), error(1)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("odd", [b"true", b"1.5", b"[1]", b"{}", b'"%b"' % (b"x" * 1100)])
    def test_ids_of_a_kind_never_tracked_pass(self, odd: bytes) -> None:
        """We can't know whether anybody asked."""
        play(server.passes(answer(odd)), client.passes(cancel(odd)), policy=self.POLICY)

    def test_cancels_for_ids_never_seen(self) -> None:
        """The server can do nothing with them."""
        play(
            client.loses(What.UNKNOWN_CANCEL, cancel(77), cancel("x")),
            client.passes(call(77)),
            server.passes(answer(77)),
            policy=self.POLICY,
        )

    def test_it_guards_the_host_alone(self) -> None:
        """What the client answers and what the server cancels passes."""
        play(
            client.passes(answer(99), nobodys_error(), nobodys_error(null=False)),
            server.passes(cancel(77), call(1)),
            client.passes(answer(1), answer(1)),
            policy=self.POLICY,
        )

    def test_the_other_type_was_asked(self) -> None:
        """A stringified answer is an answer."""
        play(client.passes(call(7)), server.passes(answer("7")), policy=self.POLICY)

    def test_while_the_twin_is_in_flight(self) -> None:
        """A second answer for 7 may be the first for "7"."""
        play(
            client.passes(call(7), call("7")),
            server.passes(answer(7), answer(7), answer("7")),
            server.loses(UNASKED, answer(7)),
            policy=self.POLICY,
        )

    def test_requests_and_notifications_are_never_dropped(self) -> None:
        """Whatever they look like."""
        play(
            server.passes(call(1), call(b"null"), note(), progress("nobody"), b'{"method":"x"}'),
            client.passes(call(1), note(), progress("nobody")),
            policy=self.POLICY,
        )

    def test_in_a_batch(self) -> None:
        """Element by element, and nothing is sent where nothing is left."""
        play(
            client.passes(call(1)),
            server >> batch(nobodys_error(), answer(1), answer(9)),
            client.spliced(answer(1)),
            held(UNASKED),
            held(UNASKED),
            server >> batch(answer(9)),
            held(UNASKED),
            policy=self.POLICY,
        )

    def test_a_task(self) -> None:
        """A cancelled request's task is no stray."""
        play(client.passes(call(1), cancel(1)), server.passes(task(1)), policy=self.POLICY)
