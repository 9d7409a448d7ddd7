"""The oracle on requests: they always pass; in doubt is only under which id.

It knows ids, fresh ids and the claims on tokens.
"""

from __future__ import annotations

from nevermind.peers import Peer
from nevermind.policy import IdReuse
from proxy.oracle_memory import Entry, Known, Side, State
from proxy.oracle_reading import Key, Message, key_of
from proxy.oracle_verdicts import Hole, Rules, Verdict, within_32_bits


class Asking(Rules):
    """The rules for requests."""

    def request(self, sender: Peer, message: Message) -> Verdict:
        """A request is forwarded, always; what is in doubt is only under which id."""
        side = self.sides[sender]
        own = key_of(message.value(("id",)) or b"")
        if own is None:
            return self.forward(message, lambda: self.claim_untracked(side, message))
        standing = side.on_wire(own)
        if self.is_too_many(side, own, standing):
            return self.untracked(side, message)
        certain = standing is None or side.known(standing) is Known.YES
        if self.needs_fresh_id(side, own, standing):
            return self.under_fresh_id(side, message, own, must=certain or own in side.issued_ids)
        return self.forward(message, lambda: self.ask(side, message, own))

    def needs_fresh_id(self, side: Side, own: Key, standing: Entry | None) -> bool:
        """Its own id stands tombstoned on the wire, or lies in a range issued as fresh to it."""
        if self.dialect.answer_owed or self.policy.id_reuse is IdReuse.FORWARD:
            return False
        tombstoned = standing is not None and standing.state is State.CANCELLED
        return tombstoned or own in side.issued_ids

    def is_too_many(self, side: Side, own: Key, standing: Entry | None) -> bool:
        """It would be one more live id than is tracked.

        A further use of a live id is none, and what is remembered of an id must be dealt with in
        any case: untracked, its answer would be taken for the old one.
        """
        known = standing is not None or own in side.issued_ids or side.live_fresh(own) is not None
        live = sum(self.joins(entry) and not entry.gone for entry in side.entries)
        return not known and live >= self.policy.live_limit

    def untracked(self, side: Side, message: Message) -> Verdict:
        """Beyond the live bound requests pass untracked, and what is not tracked may have asked."""

        def effect() -> None:
            self.claim_untracked(side, message)
            side.forget()

        return self.forward(message, effect)

    def claim_untracked(self, side: Side, message: Message) -> None:
        """A request without a usable id owns nothing, but its token belongs to no ended one."""
        for path in self.dialect.request_tokens:
            value = message.value(path)
            token = key_of(value) if value is not None else None
            if token is not None and value is not None:
                side.claim(token, value, False, None)

    def ask(self, side: Side, message: Message, own: Key) -> None:
        """→ in flight under its own id; a further use of a live id makes it ambiguous."""
        value = message.value(("id",)) or b""
        entry = side.on_wire(own)
        if entry is not None and self.joins(entry):
            entry.uses += 1
            entry.state = State.LIVE
            entry.ambiguous = True
        else:
            if entry is not None:
                entry.replaced = True
                entry.cleared = entry.state is State.CANCELLED
            entry = Entry(own, own, value, fresh=False)
            side.entries.append(entry)
        self.note_use(side, message, entry)
        for path in self.dialect.request_tokens:
            token = message.value(path)
            key = key_of(token) if token is not None else None
            if key is not None and token is not None:
                side.claim(key, token, False, entry)

    def joins(self, entry: Entry) -> bool:
        """In flight, or cancelled where the answer is still owed: two uses share the id."""
        return entry.state is State.LIVE or (
            entry.state is State.CANCELLED and self.dialect.answer_owed
        )

    def note_use(self, side: Side, message: Message, entry: Entry) -> None:
        """What every use leaves behind, whatever its wire id."""
        value = message.value(("id",)) or b""
        entry.since = side.tick()
        entry.spellings.append(value)
        entry.methods.append(message.method)
        entry.answer = None
        side.seen_ids.add(entry.own)
        for path in self.dialect.request_tokens:
            token = message.value(path)
            key = key_of(token) if token is not None else None
            if key is not None:
                entry.tokens.add(key)
                side.seen_tokens.add(key)

    def under_fresh_id(self, side: Side, message: Message, own: Key, *, must: bool) -> Verdict:
        """A fresh id goes out, the live one where there is one; nothing but id and token change."""
        shared = side.live_fresh(own)
        original = message.value(("id",)) or b""

        def fits(seen: bytes) -> bool:
            if shared is not None:
                return seen == shared.wire_bytes
            if seen == original and not must:
                return True
            key = key_of(seen)
            if key is None or key[0] != own[0] or key in side.seen_ids | side.issued_ids:
                return False
            return key[0] == "s" or within_32_bits(seen)

        hole = Hole(fits)
        tokens = [
            (path, self.token_hole(side, own, value, shared), value)
            for path in self.dialect.request_tokens
            if (value := message.value(path)) is not None and key_of(value) is not None
        ]

        def effect() -> None:
            seen = hole.seen or b""
            if seen == original:
                standing = side.on_wire(own)
                if standing is not None:
                    standing.gone = True
                self.ask(side, message, own)
                return
            wire = key_of(seen) or ("s", "")
            entry = shared
            if entry is None:
                entry = Entry(own, wire, seen, fresh=True)
                side.entries.append(entry)
                side.issued_ids.add(wire)
            else:
                entry.uses += 1
                entry.ambiguous = True
            self.note_use(side, message, entry)
            for _, token, value in tokens:
                as_sent = token.seen or value
                key = key_of(as_sent) or ("s", "")
                if as_sent != value:
                    side.issued_tokens.add(key)
                side.claim(key, value, as_sent != value, entry)

        paths = [(path, token) for path, token, _ in tokens]
        return Verdict(self.translate(message, (("id",), hole), *paths), passed=effect)

    def token_hole(self, side: Side, own: Key, value: bytes, shared: Entry | None) -> Hole:
        """The token is fresh where the old use carried the same one, else as it came."""
        key = key_of(value)
        older = [e for e in side.entries if e.own == own and e is not shared and key in e.tokens]
        claim = side.tokens.get(key) if key is not None else None
        # the use that stands on the wire, and the one before this one: chains of fresh ids are
        # a corner that may be met by a simpler rule
        near = [e for e in older if e.wire == own or (shared is None and e is side.newest(own))]
        must = claim is not None and any(
            e.state is State.CANCELLED
            and not e.replaced
            and e in claim.owners
            and side.token_known(e) is Known.YES
            for e in near
        )

        def fits(seen: bytes) -> bool:
            new = key_of(seen)
            if seen == value:
                return not must
            if not older or key is None or new is None or new[0] != key[0]:
                return False
            known = side.tokens.get(new)
            if known is not None and known.fresh and shared is not None and shared in known.owners:
                return True
            if new in side.seen_tokens | side.issued_tokens:
                return False
            return new[0] == "s" or within_32_bits(seen)

        return Hole(fits)
