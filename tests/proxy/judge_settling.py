"""How verdicts and bytes are matched: what must stand in a queue, and what may be missing there.

It does not know why a verdict is what it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from nevermind.dialects import MCP, Dialect
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Noise, Policy
from nevermind.session import Session
from proxy.frame_reader import read_frame, with_length
from proxy.oracle import Oracle
from proxy.oracle_memory import Item
from proxy.oracle_reading import (
    WHITE,
    Message,
    body,
    elements,
    end_of_value,
    is_noise,
    key_of,
    read_object,
)
from proxy.oracle_verdicts import Held, Hole, Verdict


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
class Settling:
    """A session, the oracle, and what should wait for either peer."""

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

    def content(self, peer: Peer) -> bytes:
        """What really waits for the peer."""
        return b"".join(self.session.outbox[peer].buffers(1 << 30))

    def expected(self, peer: Peer) -> bytes:
        """What should wait for the peer."""
        return b"".join(item.left for item in self.queue[peer])

    def settle_frame(
        self, sender: Peer, header: bytes, inner: bytes, actual: bytes, at: int
    ) -> int:
        """Judge what a header announced; the header goes with it, and tells its length."""
        head, sent = read_frame(actual, at) or (b"", b"")
        end = self.settle_line(sender, inner, sent, 0)
        if not end:
            return at
        if end != len(sent) or head != with_length(header, len(inner), len(sent)):
            self.disagree(f"{header + inner!r}\n  must not pass as  {head + sent!r}")
        self.queue[sender.other][-1].data = head + sent
        return at + len(head) + len(sent)

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
        noisy = sender is Peer.SERVER and is_noise(line) and not self.dialect.header_framed
        if not inner or noisy:
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
            unended = not self.dialect.header_framed and not line.endswith(b"\n")
            item.corner = coerced or unended
        verdict.passed()
        return end

    def drop(self, verdict: Verdict, line: bytes, actual: bytes) -> None:
        """It was dropped: was that allowed?"""
        if not verdict.whats:
            parts = verdict.parts or []
            wanted = b"".join(p if isinstance(p, bytes) else b"<anew>" for p in parts)
            there = f"{actual[:300]!r}\n  and it says  {self.session.take_notes()}"
            self.disagree(f"{line!r}\n  must pass as  {wanted!r}\n  but there is  {there}")
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

    def disagree(self, what: str) -> None:
        """Say what is wrong, and the conversation that led to it."""
        story = "\n".join(self.script)
        self.disagreed = True
        raise DisagreementError(f"{what}\n\n{self.policy}\n{story}")
