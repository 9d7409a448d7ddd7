"""``--cancel absorb``: cancels that a server would crash on end with us."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Fate, FirstCancel, Policy
from proxy.messages import OWED, answer, batch, call, cancel, initialize, note, progress
from proxy.playbook import client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
ABSORBED = What.ABSORBED_CANCEL


class TestAbsorb:
    """``--cancel absorb``: for servers that crash on a cancel."""

    POLICY = Policy(cancel=FirstCancel.ABSORB)

    def test_the_clients_cancels_never_reach_the_server(self) -> None:
        """Everything else about them holds: what comes late is dropped."""
        play(
            client.passes(call(1, token=1)),
            client.loses(ABSORBED, cancel(1)),
            server.loses(What.LATE_PROGRESS, progress(1)),
            server.loses(LATE, answer(1)),
            client.passes(call(2)),
            server.passes(answer(2)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("redundant", Fate)
    def test_nor_do_their_repeats(self, redundant: Fate) -> None:
        """Whatever ``--redundant-cancel`` says."""
        play(
            client.passes(call(1)),
            client.loses(ABSORBED, cancel(1)),
            client.loses(REDUNDANT, cancel(1), cancel(1)),
            server.loses(LATE, answer(1)),
            policy=Policy(cancel=FirstCancel.ABSORB, redundant_cancel=redundant),
        )

    def test_unknown_ids_pass(self) -> None:
        """No request is in flight that a server could crash for."""
        play(client.passes(cancel(9), cancel(b"null")), policy=self.POLICY)

    def test_ambiguous_ids_are_absorbed_and_mark_nothing(self) -> None:
        """Both answers pass."""
        play(
            client.passes(call(1), call(1)),
            client.loses(ABSORBED, cancel(1), cancel(1)),
            server.passes(answer(1, "a"), answer(1, "b")),
            policy=self.POLICY,
        )

    def test_the_servers_own_cancels_are_not_touched(self) -> None:
        """The switch is about servers, not hosts."""
        play(
            server.passes(call(1), cancel(1)),
            client.loses(LATE, answer(1)),
            server.loses(REDUNDANT, cancel(1)),
            policy=self.POLICY,
        )

    def test_initialize(self) -> None:
        """It is not forwarded anyhow, and changes no state."""
        play(
            client.passes(initialize(0)),
            client.loses(What.INITIALIZE_CANCEL, cancel(0)),
            server.passes(answer(0)),
            policy=self.POLICY,
        )

    def test_the_answered(self) -> None:
        """A cancel after the answer is redundant as always."""
        play(
            client.passes(call(1)),
            server.passes(answer(1)),
            client.loses(REDUNDANT, cancel(1)),
            policy=self.POLICY,
        )

    def test_in_a_batch(self) -> None:
        """The cancel is cut out of the array."""
        play(
            client.passes(call(1)),
            client >> batch(note(), cancel(1)),
            server.spliced(note()),
            held(ABSORBED, 1),
            server.loses(LATE, answer(1)),
            policy=self.POLICY,
        )

    def test_where_an_answer_is_owed(self) -> None:
        """Absorbed, and the one answer passes."""
        play(
            client.passes(call(1, dialect=OWED)),
            client.loses(ABSORBED, cancel(1, dialect=OWED)),
            server.passes(answer(1)),
            server.loses(LATE, answer(1)),
            policy=self.POLICY,
            dialect=OWED,
        )
