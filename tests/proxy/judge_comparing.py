"""What must agree whenever something has happened: queues, notes and numbers."""

from __future__ import annotations

from itertools import takewhile

from nevermind.notes import Diverted, Event, Note
from nevermind.peers import Peer
from proxy.judge_settling import Settling
from proxy.oracle_memory import SMALL, State
from proxy.oracle_reading import Key, key_of, twin_of
from proxy.oracle_verdicts import Held


class Comparing(Settling):
    """Looks whether the session and the oracle still agree."""

    def compare(self) -> None:
        """Both queues, the notes and the numbers are what they must be."""
        for peer in Peer:
            actual, expected = self.content(peer), self.expected(peer)
            begun = actual[len(expected) :]
            if not actual.startswith(expected) or not self.rest[peer.other].startswith(begun):
                alike = (one == other for one, other in zip(expected, actual, strict=False))
                same = sum(takewhile(bool, alike))
                told = f"{expected[same:]!r}\nand has\n  {actual[same:]!r}"
                self.disagree(f"{peer.value} should have, {same} bytes on,\n  {told}")
            full = len(actual) >= self.policy.queue_limit
            if self.session.may_read(peer.other) is full:
                self.disagree(f"{len(actual)} bytes wait for {peer.value}: may_read is wrong")
        self.compare_notes()
        self.compare_statistics()

    def compare_notes(self) -> None:
        """Every drop has a note that names it, every first cancel has one, noise is diverted."""
        notes = self.session.take_notes()
        drops = [n for n in notes if isinstance(n, Note) and n.event is Event.DROP]
        diverted = b"".join(n.data for n in notes if isinstance(n, Diverted))
        for held in self.oracle.held:
            found = next((note for note in drops if self.says(note, held)), None)
            if found is None or found.what is None:
                self.disagree(f"no note says {held}: {drops}")
                return
            drops.remove(found)
            self.dropped[found.what] += 1
        if drops:
            self.disagree(f"nothing else was held back: {drops}")
        if diverted != self.diverted:
            self.disagree(f"noise {self.diverted!r} was diverted as {diverted!r}")
        cancels = [n for n in notes if isinstance(n, Note) and n.event is Event.CANCEL]
        for issuer, key in self.oracle.cancels:
            mine = next((n for n in cancels if n.issuer is issuer and self.is_id(n.id, key)), None)
            if mine is None:
                self.disagree(f"no note for the cancel of {key}: {cancels}")
                return
            cancels.remove(mine)
        self.cancelled += len(self.oracle.cancels)
        self.oracle.held.clear()
        self.oracle.cancels.clear()
        self.diverted = b""

    def says(self, note: Note, held: Held) -> bool:
        """The note has one of the names, and the issuer and id where both must know them."""
        return (
            note.what in held.whats
            and (held.issuer is None or note.issuer is held.issuer)
            and (held.key is None or self.is_id(note.id, held.key) or self.policy.remember < SMALL)
        )

    def is_id(self, value: int | str | None, key: Key) -> bool:
        """The id by value, in the type of the request or of what named it."""
        if isinstance(value, str):
            return ("s", value) in (key, twin_of(key))
        return value is not None and key_of(str(value).encode()) in (key, twin_of(key))

    def compare_statistics(self) -> None:
        """Drops by kind, cancels, and what is in flight agree with what was seen."""
        statistics = self.session.statistics()
        dropped = {what: count for what, count in statistics.dropped.items() if count}
        if dropped != dict(self.dropped):
            self.disagree(f"dropped {dict(self.dropped)}, statistics say {dropped}")
        if statistics.cancelled < self.cancelled:
            self.disagree(f"{self.cancelled} cancelled, statistics say {statistics.cancelled}")
        for peer, side in self.oracle.sides.items():
            live = [entry.uses for entry in side.entries if entry.state is State.LIVE]
            told = statistics.in_flight.get(peer, 0)
            owed = sum(e.state is State.CANCELLED for e in side.entries if side.answer_owed)
            if not len(live) <= told <= sum(live) + owed:
                self.disagree(f"{live} of {peer.value} in flight, statistics say {told}")
