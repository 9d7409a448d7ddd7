"""The switches, the dialects and the peers: what they are when nobody says anything."""

from __future__ import annotations

import pytest
from msgspec.structs import fields

from nevermind.dialects import MCP
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, IdReuse, LateResponse, Noise, Policy


class TestPolicy:
    """The defaults are the table of what may be held back."""

    def test_where_a_cancelled_request_stays_unanswered(self) -> None:
        """Late answers and progress are dropped."""
        policy = Policy().resolved(answer_owed=False)
        assert policy.cancel is FirstCancel.FORWARD
        assert policy.late_response is LateResponse.DROP
        assert policy.late_progress is Fate.DROP
        assert policy.stale_progress is Fate.DROP
        assert policy.redundant_cancel is Fate.DROP
        assert policy.id_reuse is IdReuse.ALIAS
        assert policy.noise is Noise.FORWARD
        assert not policy.shield

    def test_where_an_answer_is_owed(self) -> None:
        """The first answer passes, and partial results stay usable."""
        policy = Policy().resolved(answer_owed=True)
        assert policy.late_response is LateResponse.FIRST
        assert policy.late_progress is Fate.FORWARD
        assert policy.stale_progress is Fate.FORWARD
        assert policy.redundant_cancel is Fate.DROP

    def test_a_shield_keeps_noise_from_the_host(self) -> None:
        """Unless somebody said what becomes of it."""
        assert Policy(shield=True).resolved(answer_owed=False).noise is Noise.STDERR
        quiet = Policy(shield=True, noise=Noise.DROP).resolved(answer_owed=False)
        assert quiet.noise is Noise.DROP

    @pytest.mark.parametrize("answer_owed", [True, False])
    def test_what_was_said_stays_said(self, answer_owed: bool) -> None:
        """Whatever the dialect's default is; and resolving again changes nothing."""
        policy = Policy(
            late_response=LateResponse.FORWARD_ERRORS,
            late_progress=Fate.DROP,
            stale_progress=Fate.FORWARD,
            noise=Noise.FORWARD,
            shield=True,
            remember=3,
        )
        assert policy.resolved(answer_owed) == policy
        once = Policy().resolved(answer_owed)
        assert once.resolved(not answer_owed) == once

    def test_nothing_is_left_open(self) -> None:
        """Whoever asks the policy gets an answer."""
        policy = Policy().resolved(answer_owed=False)
        unsaid = {"late_response", "late_progress", "stale_progress", "noise"}
        assert all(getattr(policy, name) is not None for name in unsaid)
        assert {f.name for f in fields(Policy)} >= unsaid

    def test_it_is_a_value(self) -> None:
        """One session's switches do not change."""
        with pytest.raises(AttributeError, match="immutable"):
            Policy().shield = True  # type: ignore[misc]


class TestMcp:
    """The Model Context Protocol, by its specification."""

    def test_names_and_paths(self) -> None:
        """basic/utilities/cancellation and progress of 2024-11-05 and since."""
        assert MCP.cancel_method == "notifications/cancelled"
        assert MCP.cancel_id == ("params", "requestId")
        assert MCP.progress_method == "notifications/progress"
        assert MCP.progress_token == ("params", "progressToken")
        assert MCP.request_tokens == (("params", "_meta", "progressToken"),)

    def test_what_a_cancel_means(self) -> None:
        """The receiver does not answer; initialize is not to be cancelled."""
        assert not MCP.answer_owed
        assert MCP.uncancellable == {"initialize"}
        assert MCP.creates_tasks
        assert not MCP.header_framed


def test_each_peer_has_the_other() -> None:
    """There are two."""
    assert Peer.CLIENT.other is Peer.SERVER
    assert Peer.SERVER.other is Peer.CLIENT
    assert [peer.value for peer in Peer] == ["client", "server"]
    assert {Peer.CLIENT: 1, Peer.SERVER: 2}[Peer("server")] == 2
