"""Fresh ids and what is remembered of them: tasks, subscriptions, forgetting, eviction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nevermind.notes import What
from nevermind.policy import Policy
from proxy.messages import Spelling, answer, call, cancel, listen, progress, task, update
from proxy.playbook import End, both_ways, client, play, server
from proxy.using_again import again

OPAQUE = b'{"jsonrpc":"2.0","id":"o","method":"x","result":{}}'
LATE = What.LATE_RESPONSE
LATE_PROGRESS = What.LATE_PROGRESS


@both_ways
class TestRemembered:
    """A live fresh id keeps the tombstone that it was made for."""

    def test_a_task_of_a_fresh_id(self, asker: End, worker: End) -> None:
        """Its progress is turned back for as long as it is remembered."""
        play(
            again(asker, 1, "t"),
            worker >> task(b"<n>"),
            asker << task(1),
            worker >> progress(b"<t>"),
            asker << progress("t"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            worker >> progress(b"<t>"),
            asker << progress("t"),
        )

    def test_forgetting_spares_the_tombstone_of_a_live_fresh_id(
        self, asker: End, worker: End
    ) -> None:
        """What could not be tracked may have asked, but this one's old answer is still wrong."""
        play(
            again(asker, 1),
            asker.passes(OPAQUE),
            worker.loses(LATE, answer(1, "old")),
            worker >> answer(b"<n>", "new"),
            asker << answer(1, "new"),
        )

    def test_a_fresh_id_that_was_forgotten(self, asker: End, worker: End) -> None:
        """What names it is dropped as late: nobody else used it."""
        play(
            again(asker, 1, "t"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            asker.passes(OPAQUE),
            worker.loses(LATE, answer(b"<n>")),
            worker.loses(LATE_PROGRESS, progress(b"<t>")),
            worker.passes(answer(1), progress("t")),
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1)),
        )

    def test_a_cancel_of_the_newest_use_after_forgetting(self, asker: End, worker: End) -> None:
        """An issuer's id means its newest use, whatever older ones are still remembered."""
        play(
            again(asker, 2),
            asker >> call(b"<n>"),
            worker << call(b"<m>"),
            asker >> cancel(2),
            worker << cancel(b"<n>"),
            asker.passes(OPAQUE, call(2), cancel(2)),
            worker.loses(LATE, answer(2)),
        )

    def test_eviction_spares_the_tombstone_of_a_live_fresh_id(
        self, asker: End, worker: End
    ) -> None:
        """However many are cancelled after it."""
        play(
            again(asker, 1),
            asker.passes(*(line for n in range(10, 40) for line in (call(n), cancel(n)))),
            worker.loses(LATE, answer(1, "old")),
            worker >> answer(b"<n>", "new"),
            asker << answer(1, "new"),
            policy=Policy(remember=2),
        )


class TestSubscriptions:
    """A listen under a fresh id: what names it is turned back."""

    def test_its_notifications_and_the_servers_cancel(self) -> None:
        """``_meta[…/subscriptionId]``, cancel and answer; the old listen's pass as they are."""
        play(
            client.passes(listen(5), cancel(5)),
            client >> listen(5),
            server << listen(b"<n>"),
            server >> update(b"<n>"),
            client << update(5),
            server.passes(update(5)),
            server >> cancel(b"<n>"),
            client << cancel(5),
            server >> cancel(b"<n>"),
            client << cancel(5),
            server >> answer(b"<n>"),
            client << answer(5),
        )

    def test_the_servers_cancel_of_another_request(self) -> None:
        """In flight with the client under a fresh id: it is turned back, and marks nothing."""
        play(
            client.passes(call(3), cancel(3)),
            client >> call(3),
            server << call(b"<n>"),
            server >> cancel(b"<n>"),
            client << cancel(3),
            server >> answer(b"<n>"),
            client << answer(3),
        )

    @pytest.mark.parametrize(
        "ask",
        [listen, call],
    )
    def test_both_peers_have_fresh_ids(self, ask: Callable[[Spelling], bytes]) -> None:
        """There are two counters: one number may stand for both, and this is the client's."""
        play(
            server.passes(call(1), cancel(1)),
            server >> call(1),
            client << call(b"<m>"),
            client.passes(ask(5), cancel(5)),
            client >> ask(5),
            server << ask(b"<n>"),
            server >> cancel(b"<n>"),
            client << cancel(5),
            client >> answer(b"<m>"),
            server << answer(1),
        )
