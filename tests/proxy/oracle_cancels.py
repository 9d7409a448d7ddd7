"""The oracle on cancels: whose request is meant, and what of it is redundant.

It knows the exceptions for servers, and what is taken back from the queue.
"""

from __future__ import annotations

from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, LateResponse
from proxy.oracle_memory import Entry, Known, State
from proxy.oracle_reading import Key, Message, key_of, twin_of
from proxy.oracle_verdicts import Held, Hole, Rules, Verdict, nothing, one_of

ENDED = (State.CANCELLED, State.SETTLED)


class Cancels(Rules):
    """The rules for cancels."""

    def cancel(self, sender: Peer, message: Message) -> Verdict:
        """A cancel means its issuer's newest use of the id: exact first, coerced second."""
        side = self.sides[sender]
        value = message.value(self.dialect.cancel_id)
        key = key_of(value) if value is not None else None
        if key is None or value is None:
            return self.forward(message)
        entry = side.newest(key)
        if entry is None and (twin := twin_of(key)) is not None:
            entry = side.newest(twin)
        if sender is Peer.SERVER:
            foreign = self.foreign_cancel(message, key, entry)
            if foreign is not None:
                return foreign
        if entry is None:
            shielded = self.policy.shield and sender is Peer.CLIENT and not side.may_have_asked
            if shielded:
                return self.hold(message, What.UNKNOWN_CANCEL, key=key)
            return self.forward(message)
        absorbed = sender is Peer.CLIENT and self.policy.cancel is FirstCancel.ABSORB
        if entry.state is State.LIVE:
            return self.first_cancel(sender, message, entry, absorbed)
        return self.repeated_cancel(sender, message, entry, absorbed)

    def foreign_cancel(self, message: Message, key: Key, entry: Entry | None) -> Verdict | None:
        """A server's cancel for what the client asked: forwarded, marks nothing."""
        client = self.sides[Peer.CLIENT]
        named = client.on_wire(key)
        if named is None:
            if entry is None and key in client.issued_ids:
                return self.hold(message, What.REDUNDANT_CANCEL)
            return None
        parts = self.translate(message, (self.dialect.cancel_id, one_of(named.spellings)))
        passing = Verdict(parts if named.fresh else [message.raw])
        if named.state is State.LIVE and self.dialect.subscriptions & set(named.methods):
            return passing
        mine = entry is not None and entry.state is not State.ANSWERED
        if mine or (entry is not None and named.state is not State.LIVE):
            return None
        return passing

    def names(self, message: Message, entry: Entry) -> list[bytes | Hole]:
        """The cancel with the id that the receiver knows."""
        if not entry.fresh:
            return [message.raw]
        spelled = [entry.wire_bytes, b'"%b"' % entry.wire_bytes, entry.wire_bytes.strip(b'"')]
        return self.translate(message, (self.dialect.cancel_id, one_of(spelled)))

    def first_cancel(self, sender: Peer, message: Message, entry: Entry, absorbed: bool) -> Verdict:
        """In flight: a tombstone, the cancel goes on; not for initialize, not for two uses."""
        side = self.sides[sender]
        single = entry.uses == 1

        def mark() -> None:
            entry.state = State.CANCELLED
            entry.since = side.tick()
            if not absorbed:
                self.cancels.append((sender, entry.own))

        effect = mark if single else nothing
        passing = Verdict(self.names(message, entry), passed=effect, cancels=single)
        if sender is Peer.CLIENT and self.dialect.uncancellable & set(entry.methods):
            either = None if single else Verdict(passing.parts)
            whats = {What.INITIALIZE_CANCEL}
            if absorbed:
                whats.add(What.ABSORBED_CANCEL)
            return self.hold(message, whats, either=either, side=sender, key=entry.own)
        if absorbed:
            held = self.hold(message, What.ABSORBED_CANCEL, effect, side=sender, key=entry.own)
            return passing if held.parts is not None else held
        return passing

    def repeated_cancel(
        self, sender: Peer, message: Message, entry: Entry, absorbed: bool
    ) -> Verdict:
        """A repeat for a tombstone, or a cancel for what was answered: redundant."""
        side = self.sides[sender]
        repeat = absorbed and entry.state in ENDED
        value = message.value(self.dialect.cancel_id) or b""
        certain = side.known(entry) is Known.YES
        hole = one_of([entry.wire_bytes, value])
        either_way = self.translate(message, (self.dialect.cancel_id, hole))
        passing = Verdict(self.names(message, entry) if certain else either_way)
        if entry.task and not (entry.state in ENDED and (absorbed or entry.ambiguous)):
            return passing
        twin = twin_of(entry.own)
        other = side.newest(twin) if twin is not None else None
        if other is not None and other.state is State.LIVE:
            if absorbed:
                whats = {What.ABSORBED_CANCEL, What.REDUNDANT_CANCEL}
                return self.hold(message, whats, either=passing, side=sender, key=entry.own)
            return passing

        def effect() -> None:
            self.retract(sender, entry, coerced=key_of(value) != entry.own)

        def forgotten() -> None:
            entry.evicted = True

        if self.policy.redundant_cancel is Fate.FORWARD and not repeat:
            passing.passed = effect
            if not certain and self.policy.shield and sender is Peer.CLIENT:
                return self.hold(message, What.UNKNOWN_CANCEL, either=passing, key=entry.own)
            return passing
        passing.passed = effect if certain else forgotten
        unsure = entry.task or entry.taken_back or not certain
        either = passing if unsure else None
        whats = {What.REDUNDANT_CANCEL} | ({What.ABSORBED_CANCEL} if absorbed else set())
        if not certain and self.policy.shield:
            whats.add(What.UNKNOWN_CANCEL)
        return self.hold(message, whats, effect, either=either, side=sender, key=entry.own)

    def retract(self, issuer: Peer, entry: Entry, *, coerced: bool) -> None:
        """An answer that has not begun to go out when its cancel is read is late after all."""
        answer = entry.answer
        if entry.state is not State.ANSWERED or answer is None or answer.retracted:
            return
        if entry.ambiguous or entry.task or self.dialect.answer_owed:
            return
        if issuer is Peer.CLIENT and self.dialect.uncancellable & set(entry.methods[-1:]):
            return
        side = self.sides[issuer]
        corner = coerced or answer.corner or entry.own in side.doubtful
        certain = side.known(entry) is Known.YES and not corner
        if answer.taken or (not certain and self.is_queued(answer)):
            return  # begun; or evicted, coerced, unterminated: corners with simpler rules
        answer.retracted = True
        entry.answers_seen += 1
        self.held.append(Held(frozenset({What.LATE_RESPONSE}), issuer, entry.own))
        entry.taken_back = self.policy.redundant_cancel is Fate.FORWARD
        entry.state = State.CANCELLED
        entry.since = self.sides[issuer].tick()

    def may_be_retracted(self, message: Message) -> bool:
        """Never what the switches would forward."""
        if message.repeats(self.paths_read(message)):
            return False
        if not message.is_json and b"task" in message.raw:
            return False
        error = message.value(("error",)) not in (None, b"null")
        match self.policy.late_response:
            case LateResponse.DROP:
                return True
            case LateResponse.FORWARD_ERRORS:
                return not error
            case _:
                return False
