"""One script on its way through one session: what was said, what came of it, and the difference.

A mismatch shows the script as written and as it went.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nevermind.dialects import Dialect
from nevermind.notes import Diverted, Event, Note, Statistics
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.oracle_reading import body, elements, end_of_value, key_of
from proxy.script import Diverts, Ends, Heard, Held, Reads, Said, Stalls, Step, Waits

_NAME = re.compile(rb"<([a-z]+)>")


@dataclass(frozen=True, slots=True)
class Performance:
    """How a script went: the notes in order, the statistics, and what the names stood for."""

    notes: list[Note]
    statistics: Statistics
    names: dict[bytes, bytes]


@dataclass(eq=False)
class Run:
    """A script on its way through one session."""

    policy: Policy
    dialect: Dialect
    way: str
    now: float = 0.0
    names: dict[bytes, bytes] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    went: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session = self.make_session()
        self.may_take: dict[Peer, int | None] = dict.fromkeys(Peer)
        self.came = dict.fromkeys(Peer, b"")
        self.held: list[Note] = []
        self.diverted = b""

    def make_session(self) -> Session:
        """The session that the script is about."""
        return Session(self.policy, self.dialect, nonce="5eed")

    def hand_over(self, sender: Peer, data: bytes) -> None:
        """``sender`` says ``data`` in one go."""
        size = 1 if self.way == "byte by byte" else len(data)
        for at in range(0, len(data), size):
            self.session.receive_data(sender, data[at : at + size], self.now)
            self.take()

    def collect(self, peer: Peer) -> bytes:
        """What ``peer`` reads now of all that waits for it."""
        outbox = self.session.outbox[peer]
        data = b"".join(outbox.buffers(1 << 30))
        allowed = self.may_take[peer]
        if allowed is not None:
            data = data[:allowed]
            self.may_take[peer] = allowed - len(data)
        if data:
            outbox.wrote(len(data))
        return data

    def perform(self, steps: list[Step]) -> None:
        """The whole script, act by act."""
        for act in self.acts(steps):
            self.enact([step for step in act if not isinstance(step, Heard | Held | Diverts)])
            self.take()
            self.compare([step for step in act if isinstance(step, Heard | Held | Diverts)])
        self.compare([])

    def acts(self, steps: list[Step]) -> Iterator[list[Step]]:
        """What is said in one go, with what must come of it."""
        act: list[Step] = []
        for step in steps:
            if isinstance(step, Heard | Held | Diverts) or not act or self.joins(act, step):
                act.append(step)
            else:
                yield act
                act = [step]
        if act:
            yield act

    def joins(self, act: list[Step], step: Step) -> bool:
        """Whether ``step`` may be said in the same chunk as ``act``."""
        said = [one for one in act if isinstance(one, Said)]
        return (
            self.way == "together"
            and isinstance(step, Said)
            and bool(said)
            and said[-1].peer is step.peer
            and all(name in self.names for name in _NAME.findall(step.data))
        )

    def enact(self, steps: list[Step]) -> None:
        """Do it."""
        said = [step for step in steps if isinstance(step, Said)]
        if said:
            data = b"".join(self.filled(step.data) for step in said)
            self.written += [f"{said[0].peer.value} >> {shown(data)}"]
            self.went += [self.written[-1]]
            self.hand_over(said[0].peer, data)
            return
        for step in steps:
            self.written.append(f"... {step}")
            self.went.append(self.written[-1])
            match step:
                case Stalls(peer, count):
                    self.may_take[peer] = count
                case Reads(peer):
                    self.may_take[peer] = None
                case Waits(seconds):
                    self.now += seconds
                    self.session.expire(self.now)
                case Ends(peer):
                    self.session.receive_eof(peer, self.now)
                case _:
                    raise TypeError(step)

    def take(self) -> None:
        """What is in the queues is read, and the notes are taken."""
        for peer in Peer:
            self.came[peer] += self.collect(peer)
        for one in self.session.take_notes():
            if isinstance(one, Diverted):
                self.diverted += one.data
                continue
            self.notes.append(one)
            if one.event is Event.DROP:
                self.held.append(one)

    def compare(self, awaited: list[Heard | Held | Diverts]) -> None:
        """What was to come has come, and nothing else."""
        right = True
        for step in awaited:
            went = self.follow(step)
            right &= went is None
            self.written.append(told(step))
            if went is None or went:
                self.went.append(went or self.written[-1])
        for peer in Peer:
            if self.came[peer]:
                right = False
                self.went += [f"{peer.value} << {shown(self.came[peer])}"]
        right &= not (self.held or self.diverted)
        self.went += [f"held back: {note}" for note in self.held]
        self.went += [f"stderr << {shown(self.diverted)}"] if self.diverted else []
        if not right:
            lines = "\n".join(difflib.ndiff(self.written, self.went))
            raise AssertionError(f"said {self.way}, as written (-) and as it went (+):\n{lines}")

    def follow(self, step: Heard | Held | Diverts) -> str | None:
        """None where it came as awaited, else what came instead ("": nothing)."""
        match step:
            case Heard(peer, data, None):
                end = self.found(data, self.came[peer])
                if end is None:
                    return ""
                self.came[peer] = self.came[peer][end:]
            case Heard(peer, _, spliced):
                line, newline, rest = self.came[peer].partition(b"\n")
                spans = (elements(line, body(line)) if line else None) or []
                got = [line[start:end] for start, end in spans]
                wanted = list(spliced or ())
                fits = len(got) == len(wanted) and all(
                    self.found(one, other) == len(other)
                    for one, other in zip(wanted, got, strict=True)
                )
                if not (fits and newline):
                    return ""
                self.came[peer] = rest
            case Held(what, id, issuer):
                note = self.held.pop(0) if self.held else None
                if note is None:
                    return ""
                if note.what is not what or id not in (None, note.id):
                    return f"held back: {note}"
                if issuer not in (None, note.issuer):
                    return f"held back: {note}"
            case Diverts(data):
                if not self.diverted.startswith(data):
                    return ""
                self.diverted = self.diverted[len(data) :]
        return None

    def filled(self, data: bytes) -> bytes:
        """The bytes with each known name replaced by what it stands for."""
        return _NAME.sub(lambda name: self.names.get(name[1], name[0]), data)

    def found(self, awaited: bytes, actual: bytes) -> int | None:
        """Where ``awaited`` ends in ``actual``, which learns new names on the way."""
        at, learned = 0, dict(self.names)
        for n, part in enumerate(_NAME.split(awaited)):
            if n % 2:
                end = end_of_value(actual, at)
                if end is None or key_of(actual[at:end]) is None:
                    return None
                if learned.setdefault(part, actual[at:end]) != actual[at:end]:
                    return None
                at = end
            elif actual.startswith(part, at):
                at += len(part)
            else:
                return None
        self.names = learned
        return at


def shown(data: bytes, most: int = 600) -> str:
    """Bytes as a script shows them."""
    text = repr(data)[2:-1]
    return text if len(text) <= most else f"{text[:most]}… ({len(data)} bytes)"


def told(step: Heard | Held | Diverts) -> str:
    """An expectation as a script shows it."""
    match step:
        case Heard(peer, data):
            return f"{peer.value} << {shown(data)}"
        case Held(what, id):
            return f"held back: {what.value}" + (f" of {id!r}" if id is not None else "")
        case Diverts(data):
            return f"stderr << {shown(data)}"
