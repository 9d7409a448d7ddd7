"""Progress, and what else names a request: it passes unless it is certainly late or stale."""

from __future__ import annotations

from nevermind.ids import spell
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, Policy
from proxy.court import BOTH, Court
from proxy.messages import OWED, answer, call, cancel, listen, note, progress, task, update


def asked(asker: Peer, token: int | str | None = "t", policy: Policy | None = None) -> Court:
    """A court before which ``asker`` has asked for something, with progress."""
    court = Court(policy or Policy())
    court.hear(asker, call(7, token=token))
    return court


@BOTH
class TestProgress:
    """Of a request of the other peer's."""

    def test_live(self, asker: Peer) -> None:
        """It passes."""
        court = asked(asker)
        assert court.sent(asker.other, progress("t")) == progress("t")

    def test_late(self, asker: Peer) -> None:
        """The request was cancelled."""
        court = asked(asker)
        court.hear(asker, cancel(7))
        verdict = court.hear(asker.other, progress("t"))
        assert verdict.held is What.LATE_PROGRESS
        assert verdict.name == "t"
        assert "cancelled" in verdict.why

    def test_stale(self, asker: Peer) -> None:
        """The request has been answered."""
        court = asked(asker)
        court.hear(asker.other, answer(7))
        verdict = court.hear(asker.other, progress("t"))
        assert verdict.held is What.STALE_PROGRESS
        assert "answered" in verdict.why

    def test_of_somebody_else(self, asker: Peer) -> None:
        """Unknown tokens pass, and so does what has none; one's own requests don't count."""
        court = asked(asker)
        court.hear(asker, cancel(7))
        assert court.sent(asker.other, progress("u")) == progress("u")
        assert court.sent(asker.other, progress(b"null")) == progress(b"null")
        assert court.sent(asker, progress("t")) == progress("t")

    def test_after_a_cancel_and_an_answer(self, asker: Peer) -> None:
        """It was cancelled first."""
        court = asked(asker)
        court.hear(asker, cancel(7))
        court.hear(asker.other, answer(7))
        assert court.sent(asker.other, progress("t")) is What.LATE_PROGRESS

    def test_coerced(self, asker: Peer) -> None:
        """A token of the other type stands in, without grace."""
        court = asked(asker, token=3)
        court.hear(asker, cancel(7))
        court.hear(asker, call("7"))
        assert court.sent(asker.other, progress("3")) is What.LATE_PROGRESS

    def test_switches(self, asker: Peer) -> None:
        """Each kind can be forwarded."""
        late = Policy(late_progress=Fate.FORWARD)
        court = asked(asker, policy=late)
        court.hear(asker, cancel(7))
        assert court.sent(asker.other, progress("t")) == progress("t")
        stale = Policy(stale_progress=Fate.FORWARD)
        court = asked(asker, policy=stale)
        court.hear(asker.other, answer(7))
        assert court.sent(asker.other, progress("t")) == progress("t")

    def test_of_a_task(self, asker: Peer) -> None:
        """The token lives on with it."""
        court = asked(asker)
        court.hear(asker, cancel(7))
        court.hear(asker.other, task(7))
        assert court.sent(asker.other, progress("t")) == progress("t")


@BOTH
class TestTranslation:
    """Of a request whose id is used again: token and progress meet under fresh names."""

    def twice(self, asker: Peer, token: int | str = "t", policy: Policy | None = None) -> Court:
        """A request, cancelled, and another with the same id and token."""
        court = asked(asker, token, policy)
        court.hear(asker, cancel(7))
        court.hear(asker, call(7, token=token))
        return court

    def test_the_old_use_is_late_and_the_new_is_live(self, asker: Peer) -> None:
        """The issuer sees its own token, as it wrote it."""
        court = self.twice(asker)
        [fresh] = court.alias(7, asker).tokens
        assert fresh != "t"
        assert court.sent(asker.other, progress(spell(fresh))) == progress("t")
        assert court.sent(asker.other, progress("t")) is What.LATE_PROGRESS

    def test_the_old_use_is_late_whatever_the_switches_say(self, asker: Peer) -> None:
        """It would be taken for the new one's."""
        policy = Policy(late_progress=Fate.FORWARD, stale_progress=Fate.FORWARD)
        court = self.twice(asker, policy=policy)
        [fresh] = court.alias(7, asker).tokens
        assert court.sent(asker.other, progress("t")) is What.LATE_PROGRESS
        court.hear(asker, cancel(7))
        assert court.sent(asker.other, progress(spell(fresh))) == progress("t")

    def test_people_know_the_token_as_its_issuer_wrote_it(self, asker: Peer) -> None:
        """Whatever it is on the wire."""
        court = self.twice(asker)
        [fresh] = court.alias(7, asker).tokens
        court.hear(asker, cancel(7))
        verdict = court.hear(asker.other, progress(spell(fresh)))
        assert (verdict.held, verdict.name) == (What.LATE_PROGRESS, "t")

    def test_a_coerced_fresh_token(self, asker: Peer) -> None:
        """It is still ours."""
        court = self.twice(asker, token=3)
        [fresh] = court.alias(7, asker).tokens
        assert court.sent(asker.other, progress(spell(str(fresh)))) == progress(3)

    def test_a_token_of_its_own(self, asker: Peer) -> None:
        """The old use did not carry it: nothing to translate."""
        court = asked(asker)
        court.hear(asker, cancel(7))
        court.hear(asker, call(7, token="u"))
        assert court.sent(asker.other, progress("u")) == progress("u")
        court.hear(asker.other, answer(spell(court.alias(7, asker).wire)))
        assert court.sent(asker.other, progress("u")) is What.STALE_PROGRESS

    def test_a_fresh_token_that_lives_on_with_a_task(self, asker: Peer) -> None:
        """It is still translated."""
        court = self.twice(asker)
        use = court.alias(7, asker)
        [fresh] = use.tokens
        assert court.sent(asker.other, task(spell(use.wire))) == task(7)
        assert court.sent(asker.other, progress(spell(fresh))) == progress("t")

    def test_a_fresh_token_whose_request_is_forgotten(self, asker: Peer) -> None:
        """Nobody else used it: late."""
        court = self.twice(asker)
        use = court.alias(7, asker)
        [fresh] = use.tokens
        court.hear(asker, cancel(7))
        court.books(asker).forget()
        assert court.sent(asker.other, progress(spell(fresh))) is What.LATE_PROGRESS


class TestOwed:
    """Where an answer is owed partial results stay usable."""

    def test_it_passes(self) -> None:
        """Late and stale."""
        court = Court(dialect=OWED)
        step = progress("t", dialect=OWED)
        court.client(call(7, token="t", dialect=OWED))
        court.client(cancel(7, dialect=OWED))
        assert court.sent(Peer.SERVER, step) == step
        court.server(answer(7))
        assert court.sent(Peer.SERVER, step) == step


class TestSubscriptions:
    """Notifications that are tagged with the request that opened a subscription."""

    def test_they_always_pass(self) -> None:
        """They may evict caches: of a live one, a cancelled one, an unknown one."""
        court = Court()
        court.client(listen("s"))
        assert court.sent(Peer.SERVER, update("s")) == update("s")
        court.client(cancel("s"))
        assert court.sent(Peer.SERVER, update("s")) == update("s")
        assert court.sent(Peer.SERVER, update("u")) == update("u")
        assert court.sent(Peer.SERVER, note()) == note()

    def test_the_tag_is_translated(self) -> None:
        """Back into the id that the client knows, also when the listen was cancelled."""
        court = Court()
        court.client(listen("s"))
        court.client(cancel("s"))
        court.client(listen("s"))
        wire = court.alias("s").wire
        assert court.sent(Peer.SERVER, update(spell(wire))) == update("s")
        court.client(cancel("s"))
        assert court.sent(Peer.SERVER, update(spell(wire))) == update("s")
        assert court.sent(Peer.SERVER, update("s")) == update("s")
