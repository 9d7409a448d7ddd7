"""A naive model of one session: what becomes of each message, one rule per function.

It is slow and simple on purpose, and was written from the rules alone, so that it can judge the
real thing.  Bytes go in one message at a time; out comes a ``Verdict``: what may pass, what may be
held back, and what each of the two means for the messages that follow.  Where the rules leave a
choice, or a bound leaves one open, both are allowed and what was seen decides.  Fresh ids are
not predicted but learned: a ``Hole`` says what one must look like.
"""

from __future__ import annotations

from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, Noise
from proxy.oracle_answers import Answers
from proxy.oracle_asking import Asking
from proxy.oracle_cancels import Cancels
from proxy.oracle_memory import Entry, Known, State
from proxy.oracle_reading import (
    Kind,
    Message,
    is_cancel,
    is_noise,
    is_progress,
    key_of,
    twin_of,
)
from proxy.oracle_verdicts import Verdict, one_of


class Oracle(Asking, Answers, Cancels):
    """One session, judged message by message."""

    def judge(self, sender: Peer, message: Message) -> Verdict:
        """The verdict on one JSON object, alone or out of a batch."""
        if message.kind is Kind.OPAQUE:
            return Verdict([message.raw], passed=self.sides[sender].forget)
        if message.kind is Kind.REQUEST:
            return self.request(sender, message)
        if message.kind is Kind.RESPONSE:
            return self.response(sender, message)
        if is_cancel(message, self.dialect):
            return self.cancel(sender, message)
        if is_progress(message, self.dialect):
            return self.progress(sender, message)
        return self.notification(sender, message)

    def judge_line(self, sender: Peer, line: bytes) -> Verdict:
        """The verdict on a line that is no object and no array of objects."""
        forwarded = self.policy.noise is Noise.FORWARD or self.dialect.header_framed
        if sender is Peer.SERVER and is_noise(line) and not forwarded:
            return Verdict(None, frozenset({What.NOISE}))
        return Verdict([line])

    def judge_mixed_array(self, sender: Peer, line: bytes) -> Verdict:
        """An array that mixes objects with other values passes; it may have asked."""
        return Verdict([line], passed=self.sides[sender].forget)

    def progress(self, sender: Peer, message: Message) -> Verdict:
        """While an owner is live it passes; with none, the owner that ended last decides."""
        side = self.sides[sender.other]
        value = message.value(self.dialect.progress_token)
        key = key_of(value) if value is not None else None
        if key is None:
            return self.forward(message)
        token = side.tokens.get(key)
        owners = side.owners(token)
        twin = twin_of(key)
        other = side.tokens.get(twin) if twin is not None else None
        known = token is not None and (owners or token.released)
        if not known and key not in side.issued_tokens and twin is not None:
            token, key = (other, twin) if other is not None else (token, key)
            owners = side.owners(token)
        if token is None or not (owners or token.released):
            if key in side.issued_tokens:
                return self.nobody_else_used(message, What.LATE_PROGRESS, sender.other)
            return self.forward(message)
        path = self.dialect.progress_token
        translated = self.translate(message, (path, one_of(token.spellings)))
        passing = Verdict(translated if token.fresh else [message.raw])
        if token.released:
            if (token.fresh and token.shaky) or other not in (None, token):
                whats = {What.LATE_PROGRESS, What.STALE_PROGRESS}
                return self.hold(message, whats, either=passing, side=sender.other)
            return passing
        if any(owner.state is State.LIVE for owner in owners):
            return passing
        if token.shaky and other not in (None, token):
            whats = {What.LATE_PROGRESS, What.STALE_PROGRESS}
            return self.hold(message, whats, either=passing, side=sender.other)
        last = max(owners, key=lambda owner: owner.since)
        verdict = self.ended_progress(sender.other, message, last, passing)
        if token.shaky and verdict.parts is None:
            # its id is remembered for a fresh id's sake, its token need not be
            verdict.parts = passing.parts
        return verdict

    def ended_progress(
        self, issuer: Peer, message: Message, last: Entry, passing: Verdict
    ) -> Verdict:
        """Cancelled → late, answered → stale; for an older use of the id: dropped."""
        side = self.sides[issuer]
        fates = {
            What.LATE_PROGRESS: self.policy.late_progress,
            What.STALE_PROGRESS: self.policy.stale_progress,
        }
        whats = {What.STALE_PROGRESS if last.state is State.ANSWERED else What.LATE_PROGRESS}
        if last.state is not State.ANSWERED and (last.ambiguous or last.state is State.SETTLED):
            whats = set(fates)
        verdicts = {fates[what] for what in whats}
        older = side.newer_use(last) is not None
        if older and last.state is State.CANCELLED:
            verdicts = {Fate.DROP}
        unsure = (
            (older and last.state is State.ANSWERED)
            or last.cleared
            or side.token_known(last) is not Known.YES
            or (last.replaced and self.dialect.answer_owed)
        )
        if Fate.DROP not in verdicts and not unsure:
            return passing
        if Fate.FORWARD in verdicts:
            unsure = True
        return self.hold(message, whats, either=passing if unsure else None, side=issuer)

    def notification(self, sender: Peer, message: Message) -> Verdict:
        """Any other notification passes; a subscription's fresh id is turned back."""
        path = self.dialect.subscription_id
        value = message.value(path) if path else None
        key = key_of(value) if value is not None else None
        entry = self.sides[sender.other].on_wire(key) if key is not None else None
        if entry is None or not entry.fresh:
            return self.forward(message)
        return Verdict(self.translate(message, (path, one_of(entry.spellings))))
