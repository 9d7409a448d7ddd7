"""A session and the oracle, fed the same bytes: whatever they disagree on is an error.

The judge splits what a peer says into lines, asks the oracle about each, and looks for what may
pass at the end of the other peer's queue.  It knows how verdicts and bytes are matched, not why
a verdict is what it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from nevermind.dialects import MCP, Dialect
from nevermind.notes import Diverted, Event, Note, What
from nevermind.peers import Peer
from nevermind.policy import Noise, Policy
from nevermind.session import Session
from proxy.oracle import Oracle
from proxy.oracle_memory import Item, State
from proxy.oracle_reading import (
    WHITE,
    Key,
    Message,
    body,
    elements,
    end_of_value,
    is_noise,
    key_of,
    read_object,
    twin_of,
)
from proxy.oracle_verdicts import Held, Hole, Verdict

STILL = 0.2
"""Longer than the 0.1 s after which an unterminated rest counts as still."""


class DisagreementError(AssertionError):
    """The session did what the oracle does not allow."""


def match(parts: list[bytes | Hole] | None, actual: bytes, at: int) -> int | None:
    """Where ``parts``, found at ``at``, end; None where they are not there."""
    if parts is None:
        return None
    seen: dict[int, bytes] = {}
    for part in parts:
        if isinstance(part, bytes):
            if not actual.startswith(part, at):
                return None
            at += len(part)
            continue
        end = end_of_value(actual, at)
        if end is None:
            return None
        value = actual[at:end]
        if seen.setdefault(id(part), value) != value or not part.fits(value):
            return None
        at = end
    for part in parts:
        if isinstance(part, Hole):
            part.seen = seen[id(part)]
    return at


@dataclass(eq=False)
class Judge:
    """One conversation through a session, compared with the oracle after every chunk."""

    policy: Policy = field(default_factory=Policy)
    dialect: Dialect = MCP
    now: float = 0.0
    script: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session = Session(self.policy, self.dialect, nonce="5eed")
        self.oracle = Oracle(self.policy, self.dialect)
        self.oracle.is_queued = lambda item: any(item.left in self.content(p) for p in Peer)
        self.rest = dict.fromkeys(Peer, b"")
        self.queue: dict[Peer, list[Item]] = {peer: [] for peer in Peer}
        self.tail: dict[Peer, bool | None] = dict.fromkeys(Peer)
        self.diverted = b""
        self.dropped: Counter[What] = Counter()
        self.cancelled = 0
        self.disagreed = False

    # ------------------------------------------------------------------ inputs

    def feed(self, sender: Peer, data: bytes) -> None:
        """The peer says ``data``, in one chunk."""
        self.script.append(f"{sender.value} >> {data!r}")
        self.session.receive_data(sender, data, self.now)
        actual = self.content(sender.other)
        at = len(self.expected(sender.other))
        self.rest[sender] += data
        at = self.settle_tail(sender, actual, at)
        *lines, self.rest[sender] = self.rest[sender].split(b"\n")
        for line in lines:
            at = self.settle_line(sender, line + b"\n", actual, at)
        self.compare()

    def still(self) -> None:
        """Nothing comes for a while: whole objects of unterminated rests are judged."""
        self.script.append("... still ...")
        self.now += STILL
        self.session.expire(self.now)
        for sender in Peer:
            actual = self.content(sender.other)
            at = len(self.expected(sender.other))
            while self.rest[sender]:
                rest = self.rest[sender]
                start = body(rest)[0]
                end = end_of_value(rest, start) if rest[start : start + 1] in (b"{", b"[") else None
                if end is None:
                    break
                before = at
                at = self.settle_line(sender, rest[:end], actual, at)
                self.tail[sender] = at > before
                self.rest[sender] = rest[end:]
        self.compare()

    def end(self, sender: Peer) -> None:
        """The peer closes its side: its rest is judged as it is."""
        self.script.append(f"{sender.value} ends")
        self.session.receive_eof(sender, self.now)
        rest, self.rest[sender] = self.rest[sender], b""
        at = len(self.expected(sender.other))
        if rest:
            self.settle_line(sender, rest, self.content(sender.other), at)
        self.compare()

    def drain(self, peer: Peer, count: int | None = None) -> bytes:
        """The peer reads: everything, or ``count`` bytes."""
        outbox = self.session.outbox[peer]
        data = self.content(peer)[:count]
        self.script.append(f"{peer.value} reads {len(data)} bytes")
        if data:
            outbox.wrote(len(data))
        left = len(data)
        for item in self.queue[peer]:
            step = min(left, len(item.left))
            item.taken += step
            left -= step
        self.queue[peer] = [item for item in self.queue[peer] if item.left]
        self.compare()
        return data

    # ------------------------------------------------------------------ matching

    def content(self, peer: Peer) -> bytes:
        """What really waits for the peer."""
        return b"".join(self.session.outbox[peer].buffers(1 << 30))

    def expected(self, peer: Peer) -> bytes:
        """What should wait for the peer."""
        return b"".join(item.left for item in self.queue[peer])

    def settle_tail(self, sender: Peer, actual: bytes, at: int) -> int:
        """White space up to and with the next newline shares the fate of what it ends."""
        fate = self.tail[sender]
        rest = self.rest[sender]
        if fate is None or not rest:
            return at
        end = 0
        while end < len(rest) and rest[end] in WHITE:
            end += 1
            if rest[end - 1 : end] == b"\n":
                self.tail[sender] = None
                break
        else:
            if end < len(rest):
                self.tail[sender] = None
        self.rest[sender] = rest[end:]
        if fate and end:
            self.queue[sender.other].append(Item(rest[:end]))
            at += end
        return at

    def settle_line(self, sender: Peer, line: bytes, actual: bytes, at: int) -> int:
        """Judge one line; gives the place behind what of it passed."""
        start, end = body(line)
        message = read_object(line)
        inner = elements(line, (start, end)) if start < end else None
        if message is not None:
            return self.settle(
                sender, self.oracle.judge(sender, message), message, line, actual, at
            )
        if not inner or (sender is Peer.SERVER and is_noise(line)):
            verdict = self.oracle.judge_line(sender, line)
            if not verdict.parts and self.oracle.policy.noise is Noise.STDERR:
                self.diverted += line
            return self.settle(sender, verdict, None, line, actual, at)
        messages = [read_object(line[first:last]) for first, last in inner]
        if all(one is None for one in messages):
            return self.settle(sender, self.oracle.judge_line(sender, line), None, line, actual, at)
        if any(one is None for one in messages):
            verdict = self.oracle.judge_mixed_array(sender, line)
            return self.settle(sender, verdict, None, line, actual, at)
        batch = [one for one in messages if one is not None]
        return self.settle_batch(sender, batch, line, actual, at)

    def settle(
        self,
        sender: Peer,
        verdict: Verdict,
        message: Message | None,
        line: bytes,
        actual: bytes,
        at: int,
    ) -> int:
        """It passed, or it was dropped as it may be."""
        end = match(verdict.parts, actual, at)
        if end is None:
            self.drop(verdict, line, actual[at:])
            return at
        item = Item(actual[at:end])
        self.queue[sender.other].append(item)
        if verdict.answers is not None and message is not None:
            can = self.oracle.may_be_retracted(message)
            verdict.answers.answer = item if can else None
            coerced = key_of(message.value(("id",)) or b"") != verdict.answers.wire
            item.corner = coerced or not line.endswith(b"\n")
        verdict.passed()
        return end

    def drop(self, verdict: Verdict, line: bytes, actual: bytes) -> None:
        """It was dropped: was that allowed?"""
        if not verdict.whats:
            parts = verdict.parts or []
            wanted = b"".join(p if isinstance(p, bytes) else b"<anew>" for p in parts)
            self.disagree(f"{line!r}\n  must pass as  {wanted!r}\n  but there is  {actual[:300]!r}")
        verdict.dropped()
        self.oracle.held.append(Held(verdict.whats, verdict.issuer, verdict.key))

    def settle_batch(
        self, sender: Peer, batch: list[Message], line: bytes, actual: bytes, at: int
    ) -> int:
        """Element by element, left to right; nothing dropped or translated → the original bytes."""
        end = actual.find(b"\n", at) + 1 if line.endswith(b"\n") else len(actual)
        sent = actual[at : end or len(actual)]
        start, stop = body(sent)
        there = (elements(sent, (start, stop)) if start < stop else None) or []
        kept = 0
        changed = False
        for message in batch:
            verdict = self.oracle.judge(sender, message)
            span = there[kept] if kept < len(there) else (len(sent), len(sent))
            after = match(verdict.parts, sent, span[0])
            if after is None or after != span[1]:
                self.drop(verdict, message.raw, sent)
                changed = True
                continue
            changed |= sent[span[0] : span[1]] != message.raw
            kept += 1
            verdict.passed()
        if not kept:
            return at
        if kept < len(there):
            self.disagree(f"{line!r}\n  has fewer elements left than  {sent!r}")
        if not changed and sent != line:
            self.disagree(f"{line!r}\n  must pass as it is, not as  {sent!r}")
        self.check_splice(line, sent, there)
        self.queue[sender.other].append(Item(sent))
        return at + len(sent)

    def check_splice(self, line: bytes, sent: bytes, there: list[tuple[int, int]]) -> None:
        """Between the elements of an array that was spliced: white space and single commas."""
        between = [sent[a[1] : b[0]] for a, b in pairwise(there)]
        if any(part.strip(WHITE) != b"," for part in between):
            self.disagree(f"{sent!r} is no array")
        ending = line[body(line)[1] :]
        if not sent.endswith(ending):
            self.disagree(f"{sent!r}\n  must end with  {ending!r}")

    # ------------------------------------------------------------------ comparing

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
        """The note has one of the names, and the issuer and id where the oracle knows them."""
        return (
            note.what in held.whats
            and (held.issuer is None or note.issuer is held.issuer)
            and (held.key is None or self.is_id(note.id, held.key))
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

    def disagree(self, what: str) -> None:
        """Say what is wrong, and the conversation that led to it."""
        story = "\n".join(self.script)
        self.disagreed = True
        raise DisagreementError(f"{what}\n\n{self.policy}\n{story}")
