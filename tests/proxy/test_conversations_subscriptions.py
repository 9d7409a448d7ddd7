"""Subscriptions, which a server may end, and a server's cancels of what the client asked."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from proxy.messages import answer, batch, call, cancel, listen, update
from proxy.playbook import client, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


class TestSubscriptions:
    """A server may end a listen of the client's with a cancel that names the client's id."""

    @pytest.mark.parametrize("id", [5, "sub"])
    def test_the_servers_cancel_is_always_forwarded(self, id: int | str) -> None:
        """It is never redundant and marks nothing: the answer passes."""
        play(
            client.passes(listen(id)),
            server.passes(update(id), cancel(id), cancel(id), update(id), answer(id)),
        )

    def test_also_when_the_server_used_that_id_itself(self) -> None:
        """Whether its own request is in flight, cancelled or answered."""
        play(
            client.passes(listen(5)),
            server.passes(call(5), cancel(5)),
            client.passes(answer(5, "the client's")),
            server.passes(cancel(5), answer(5)),
        )

    def test_its_own_tombstone_makes_no_redundant_one(self) -> None:
        """The server cancelled its own 5 before the client listened as 5."""
        play(
            server.passes(call(5), cancel(5)),
            server.loses(REDUNDANT, cancel(5)),
            client.passes(listen(5)),
            server.passes(cancel(5), cancel(5), answer(5)),
            client.loses(LATE, answer(5)),
        )

    def test_one_of_two_uses(self) -> None:
        """The use that is left may be the listen."""
        play(
            client.passes(call(5), listen(5)),
            server.passes(answer(5)),
            server.passes(call(5), cancel(5), cancel(5)),
        )

    def test_both_cancel(self) -> None:
        """The client's cancel marks; the server's is then for an id not in flight: it passes."""
        play(
            client.passes(listen(5), cancel(5)),
            server.passes(cancel(5), update(5)),
            server.loses(LATE, answer(5)),
        )

    def test_in_a_batch(self) -> None:
        """The same out of an array."""
        play(
            client.passes(listen(5)),
            server.passes(batch(update(5), cancel(5)), answer(5)),
        )

    def test_any_other_request_of_the_client(self) -> None:
        """Neither in flight nor tombstoned with the server, in flight with the client: passes."""
        play(
            client.passes(call(3), call(4)),
            server.passes(cancel(3), cancel(3), answer(3)),
            server.passes(call(4)),
            client.passes(answer(4, "the client's")),
            server.passes(cancel(4), answer(4)),
        )

    def test_the_servers_own_comes_first(self) -> None:
        """In flight in both tables, and no listen: the server means its own."""
        play(
            client.passes(call(3)),
            server.passes(call(3), cancel(3)),
            server.loses(REDUNDANT, cancel(3)),
            client.loses(LATE, answer(3)),
            server.passes(answer(3)),
        )

    def test_a_cancelled_listens_notifications_pass(self) -> None:
        """They may evict caches."""
        play(
            client.passes(listen(5), cancel(5)),
            server.passes(update(5), update(5)),
            server.loses(LATE, answer(5)),
        )
