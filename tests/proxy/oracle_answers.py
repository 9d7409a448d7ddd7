"""The oracle on answers: exact first, coerced second, then the state of the id decides.

It knows when an answer is the first, a second or a late one.
"""

from __future__ import annotations

from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import LateResponse
from proxy.oracle_memory import Entry, Known, Side, State
from proxy.oracle_reading import Key, Message, key_of, twin_of
from proxy.oracle_verdicts import Hole, Rules, Verdict, nothing, one_of


class Answers(Rules):
    """The rules for responses."""

    def response(self, sender: Peer, message: Message) -> Verdict:
        """An answer meets the state of its wire id: exact first, coerced second."""
        side = self.sides[sender.other]
        value = message.value(("id",))
        shielded = self.policy.shield and sender is Peer.SERVER
        if value is None or value == b"null":
            if shielded:
                return self.hold(message, What.UNASKED_ANSWER)
            return self.forward(message)
        key = key_of(value)
        if key is None:
            return self.forward(message)
        twin = twin_of(key)
        entry = side.on_wire(key)
        if entry is None and key in side.issued_ids:
            return self.nobody_else_used(message, What.LATE_RESPONSE, sender.other)
        if entry is None and twin is not None:
            entry = side.on_wire(twin)
        if entry is None:
            return self.unasked(sender, message, shielded and not side.may_have_asked, key)
        if entry.state is State.LIVE:
            return self.first_answer(sender, message, entry)
        grace = self.twin_in_flight(side, entry.wire)
        if entry.state is State.ANSWERED:
            return self.second_answer(sender, message, entry, shielded and not grace, grace)
        if self.dialect.answer_owed:
            return self.owed_answer(sender, message, entry, grace=grace)
        return self.late_answer(sender, message, entry, grace=grace)

    def twin_in_flight(self, side: Side, wire: Key) -> bool:
        """While it is, what would be dropped is forwarded and marks nothing."""
        twin = twin_of(wire)
        other = side.on_wire(twin) if twin is not None else None
        return other is not None and other.state is State.LIVE

    def unasked(self, sender: Peer, message: Message, shielded: bool, key: Key) -> Verdict:
        """An answer to an unknown id passes; ``--shield`` drops it on its way to the host."""
        if shielded:
            return self.hold(message, What.UNASKED_ANSWER, key=key)
        return self.forward(message, lambda: self.sides[sender.other].doubtful.add(key))

    def back(self, message: Message, entry: Entry) -> list[bytes | Hole]:
        """A fresh id is turned back into the issuer's own, spelled as the issuer wrote it."""
        if not entry.fresh:
            return [message.raw]
        return self.translate(message, (("id",), one_of(entry.spellings)))

    def first_answer(self, sender: Peer, message: Message, entry: Entry) -> Verdict:
        """In flight: forwarded; the last use's answer makes the id answered."""
        side = self.sides[sender.other]
        last = entry.uses == 1

        def effect() -> None:
            entry.uses -= 1
            if self.creates_task(message):
                self.let_go(side, entry)
            if last:
                entry.state = State.ANSWERED
                entry.since = side.tick()

        verdict = Verdict(self.back(message, entry), passed=effect)
        verdict.answers = entry if last else None
        return verdict

    def creates_task(self, message: Message) -> bool:
        """``result.task.taskId`` is a string, or ``result.resultType`` is "task"."""
        return self.dialect.creates_tasks and message.creates_task

    def second_answer(
        self, sender: Peer, message: Message, entry: Entry, shielded: bool, grace: bool
    ) -> Verdict:
        """Answered: forwarded (shield: dropped), but never as an answer to a newer use."""
        side = self.sides[sender.other]
        coerced = key_of(message.value(("id",)) or b"") != entry.wire
        doubt = (lambda: side.doubtful.add(entry.own)) if coerced else nothing
        passing = Verdict(self.back(message, entry), passed=doubt)
        if side.known(entry) is not Known.YES and entry.fresh:
            hole = one_of([*entry.spellings, message.value(("id",)) or b""])
            passing.parts = self.translate(message, (("id",), hole))
        if message.repeats(self.paths_read(message)):
            return passing
        if not grace and side.newer_use(entry) is not None:
            whats = {What.LATE_RESPONSE, What.UNASKED_ANSWER}
            key = entry.own if side.known(entry) is Known.YES else None
            return self.hold(message, whats, side=sender.other, key=key)
        if shielded:
            either = self.forward(message) if side.known(entry) is not Known.YES else None
            if side.may_have_asked:
                return self.hold(message, What.UNASKED_ANSWER, either=either, key=entry.own)
            return self.hold(message, What.UNASKED_ANSWER, key=entry.own)
        return passing

    def late_answer(self, sender: Peer, message: Message, entry: Entry, *, grace: bool) -> Verdict:
        """Tombstone: dropped as late, but for the switches, tasks, and what can't be told."""
        side = self.sides[sender.other]
        error = message.value(("error",)) not in (None, b"null")
        task = self.creates_task(message)

        def seen() -> None:
            entry.answers_seen += 1

        def passes() -> None:
            seen()
            entry.answers_passed += not task
            entry.first_passed = True
            entry.error_passed |= error
            if task:
                self.let_go(side, entry)

        passing = Verdict(self.back(message, entry), passed=passes)
        newer = side.newer_use(entry)
        # dropped all the same where only the counter remembers a fresh id, but under that id
        own = None if entry.fresh and side.may_have_asked else entry.own
        held = self.hold(message, What.LATE_RESPONSE, seen, side=sender.other, key=own)
        if task and newer is None:
            if entry.fresh and entry.shaky:
                return self.hold(message, What.LATE_RESPONSE, either=passing)
            if side.known(entry) is Known.YES or not self.policy.shield or side.may_have_asked:
                return passing
            return self.hold(message, What.UNASKED_ANSWER, either=passing)
        if grace:
            return Verdict(self.back(message, entry))
        if held.parts is not None or (not message.is_json and b"task" in message.raw):
            return Verdict(self.back(message, entry))
        if newer is not None:
            unsure = task or side.known(newer) is not Known.YES
            return self.hold(
                message,
                What.LATE_RESPONSE,
                seen,
                either=passing if unsure else None,
                side=sender.other,
                key=own,
            )
        if self.lets_pass(entry, error=error):
            return passing
        if side.known(entry) is not Known.YES and self.policy.shield:
            held.whats |= {What.UNASKED_ANSWER}
        if side.known(entry) is not Known.YES and not entry.fresh:
            held.parts, held.passed = [message.raw], lambda: setattr(entry, "evicted", True)
        return held

    def lets_pass(self, entry: Entry, *, error: bool) -> bool:
        """``--late-response``: none, the first, the first error, or all."""
        match self.policy.late_response:
            case LateResponse.DROP:
                return False
            case LateResponse.FIRST:
                return not entry.first_passed
            case LateResponse.FORWARD_ERRORS:
                return error and not entry.error_passed
            case _:
                return True

    def let_go(self, side: Side, entry: Entry) -> None:
        """A task was created: its token is nobody's, and a cancel that comes now may mean it."""
        side.release(entry)
        entry.task = True

    def owed_answer(self, sender: Peer, message: Message, entry: Entry, *, grace: bool) -> Verdict:
        """Where an answer is owed the first one passes and settles it; there is one per request."""
        side = self.sides[sender.other]

        def settle() -> None:
            entry.state = State.SETTLED
            entry.since = side.tick()
            entry.answers_passed += 1
            entry.answers_seen += 1
            if self.creates_task(message):
                self.let_go(side, entry)

        if entry.state is State.CANCELLED:
            return self.forward(message, settle)
        if self.creates_task(message):
            return self.forward(message, lambda: self.let_go(side, entry))
        if grace or self.policy.late_response is LateResponse.FORWARD:
            return self.forward(message)
        held = self.hold(message, What.LATE_RESPONSE, side=sender.other, key=entry.own)
        if side.known(entry) is not Known.YES:
            held.parts, held.passed = [message.raw], lambda: setattr(entry, "evicted", True)
        return held
