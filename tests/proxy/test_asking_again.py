"""Requests under a known id: sent under a fresh wire id, which is never one that is in use."""

from __future__ import annotations

import json

import pytest

from nevermind.ids import Key, spell
from nevermind.ledger import FORWARD
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import IdReuse, Policy
from nevermind.uses import Use
from proxy.court import BOTH, Court, reused
from proxy.messages import Spelling, answer, call, cancel, progress

UNEDITABLE = b'{"id":7,"method":"x",%b}' % b",".join(b'"k%d":1' % n for n in range(100_000))
"""A request with more small members than are looked through."""


def seen(court: Court, asker: Peer, body: bytes) -> tuple[Key, Key | None]:
    """The id and the progress token that the receiver of ``body`` sees."""
    sent = court.sent(asker, body)
    assert isinstance(sent, bytes)
    message = json.loads(sent)
    meta = message["params"].get("_meta", {})
    return message["id"], meta.get("progressToken")


@BOTH
class TestReuse:
    """An id that is used again while its tombstone stands."""

    @pytest.mark.parametrize("id", [7, "a", 10**30, b"7.0", b"1e5000"])
    def test_it_goes_out_under_a_fresh_id(self, asker: Peer, id: Spelling) -> None:
        """Of the same type; its own stays a tombstone."""
        court = reused(asker, id)
        verdict = court.hear(asker, call(id))
        assert verdict.aliased
        use = verdict.record
        assert isinstance(use, Use)
        assert isinstance(use.wire, str) == isinstance(id, str)
        assert use.spelling == (id if isinstance(id, bytes) else json.dumps(id).encode())
        assert use.name is not None
        assert court.alias(use.name, asker) is use
        assert court.state(use.wire, asker) is State.IN_FLIGHT
        assert court.state(use.name, asker) is State.TOMBSTONE

    def test_only_the_id_is_replaced(self, asker: Peer) -> None:
        """Where the token is another."""
        court = reused(asker, token="t")
        wire, token = seen(court, asker, call(7, token="u"))
        assert wire != 7
        assert token == "u"

    def test_the_same_token_is_replaced_too(self, asker: Peer) -> None:
        """Its progress is told from the old one's."""
        court = reused(asker, token="t")
        wire, token = seen(court, asker, call(7, token="t"))
        assert token not in (None, "t")
        use = court.alias(7, asker)
        assert use.wire == wire
        assert use.tokens == (token,)

    def test_a_token_equals_another_by_its_value(self, asker: Peer) -> None:
        """However it is spelled."""
        court = reused(asker, token=3)
        _, token = seen(court, asker, call(7, token=b"3.0"))
        assert isinstance(token, int)
        assert token != 3
        assert court.sent(asker.other, progress(token)) == progress(b"3.0")

    def test_an_old_use_that_was_answered_in_between(self, asker: Peer) -> None:
        """The tombstone stands all the same, so the next goes under a fresh id again."""
        court = reused(asker)
        first, _ = seen(court, asker, call(7))
        court.hear(asker.other, answer(spell(first)))
        second, _ = seen(court, asker, call(7))
        assert second not in (7, first)

    def test_again_and_again(self, asker: Peer) -> None:
        """Every use has tokens of its own: the old ones are late."""
        court = reused(asker, token="t")
        known: set[Key | None] = {"t"}
        for _ in range(5):
            _, token = seen(court, asker, call(7, token="t"))
            assert token not in known
            known.add(token)
            court.hear(asker, cancel(7))
        assert court.sent(asker.other, progress("t")) is What.LATE_PROGRESS

    def test_while_the_new_one_is_live_a_further_use_shares_its_id(self, asker: Peer) -> None:
        """Both are ambiguous then."""
        court = reused(asker, token="t")
        wire, token = seen(court, asker, call(7, token="t"))
        assert seen(court, asker, call(7, token="t")) == (wire, token)
        assert seen(court, asker, call(7, token="u")) == (wire, "u")
        use = court.alias(7, asker)
        assert (use.uses, use.state, use.tokens) == (3, State.AMBIGUOUS, (token, "u"))

    def test_sharing_with_the_old_uses_token(self, asker: Peer) -> None:
        """It is told from that one's."""
        court = reused(asker, token="t")
        seen(court, asker, call(7))
        _, token = seen(court, asker, call(7, token="t"))
        assert token != "t"
        assert seen(court, asker, call(7, token="t"))[1] == token
        assert court.sent(asker.other, progress(spell(token or 0))) == progress("t")
        assert court.sent(asker.other, progress("t")) is What.LATE_PROGRESS

    def test_sharing_when_the_old_use_is_forgotten(self, asker: Peer) -> None:
        """``--id-reuse forward`` comes too late for that one, say."""
        court = reused(asker, token="t")
        wire, _ = seen(court, asker, call(7))
        court.books(asker).requests.forget(7)
        assert seen(court, asker, call(7, token="t")) == (wire, "t")

    def test_sharing_without_tokens(self, asker: Peer) -> None:
        """Nothing but the id is replaced."""
        court = reused(asker)
        wire, _ = seen(court, asker, call(7))
        assert seen(court, asker, call(7)) == (wire, None)

    def test_when_the_tombstone_is_gone(self, asker: Peer) -> None:
        """The id is its own again, and means this use, not the one under a fresh id."""
        court = reused(asker)
        wire, _ = seen(court, asker, call(7))
        court.hear(asker.other, answer(spell(wire)))
        court.books(asker).requests.ended.pop(7)
        assert court.hear(asker, call(7)) is FORWARD
        assert court.hear(asker, cancel(7)).effective
        assert court.state(7, asker) is State.TOMBSTONE

    def test_forwarding_instead(self, asker: Peer) -> None:
        """``--id-reuse forward``: the new request takes the id over."""
        court = Court(Policy(id_reuse=IdReuse.FORWARD))
        court.hear(asker, call(7))
        court.hear(asker, cancel(7))
        assert court.hear(asker, call(7)) is FORWARD
        assert court.state(7, asker) is State.IN_FLIGHT
        assert court.hear(asker.other, answer(7)).held is None

    def test_a_request_that_cannot_be_edited(self, asker: Peer) -> None:
        """It takes the id over: its answer comes under that."""
        court = reused(asker)
        assert court.hear(asker, UNEDITABLE) is FORWARD
        assert court.state(7, asker) is State.IN_FLIGHT
        assert court.hear(asker.other, answer(7)).held is None

    def test_a_further_use_that_cannot_be_edited(self, asker: Peer) -> None:
        """It goes under its own name, beside the one that does not."""
        court = reused(asker)
        wire, _ = seen(court, asker, call(7))
        assert court.hear(asker, UNEDITABLE) is FORWARD
        assert court.state(7, asker) is State.IN_FLIGHT
        assert court.sent(asker.other, answer(7)) == answer(7)
        assert court.sent(asker.other, answer(spell(wire))) == answer(7)


@BOTH
class TestIssuedRange:
    """An id or token that a peer takes from the range in which ours are."""

    def test_an_id(self, asker: Peer) -> None:
        """It goes out under a fresh one: an answer to it could be ours."""
        court = reused(asker)
        wire, _ = seen(court, asker, call(7))
        assert isinstance(wire, int)
        for its_own in (wire, wire + 1):
            other, _ = seen(court, asker, call(its_own))
            assert other not in (wire, its_own)
            assert court.sent(asker.other, answer(spell(other))) == answer(its_own)

    def test_a_token(self, asker: Peer) -> None:
        """Where the request is translated at all."""
        court = reused(asker, token=3)
        _, token = seen(court, asker, call(7, token=3))
        assert isinstance(token, int)
        court.hear(asker, cancel(7))
        _, other = seen(court, asker, call(7, token=token + 1))
        assert other != token + 1

    def test_an_id_that_is_in_flight_already(self, asker: Peer) -> None:
        """Forwarding then counts one more use of it."""
        court = reused(asker)
        wire, _ = seen(court, asker, call(7))
        assert isinstance(wire, int)
        late = Court(Policy(id_reuse=IdReuse.FORWARD))
        late.books(asker).fresh.issue(0)
        late.hear(asker, call(wire))
        late.hear(asker, call(wire))
        assert late.state(wire, asker) is State.AMBIGUOUS
