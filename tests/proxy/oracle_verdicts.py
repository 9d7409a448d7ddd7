"""What a rule of the oracle says: verdicts, and the ways to put them.

It knows how a message is forwarded, translated or held back, not when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from nevermind.dialects import MCP, Dialect
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Fate, LateResponse, Noise, Policy
from proxy.oracle_memory import Entry, Item, Side
from proxy.oracle_reading import Key, Kind, Message, is_cancel, is_progress


def switches(policy: Policy, dialect: Dialect) -> Policy:
    """A switch that nobody touched is as the column of its dialect says."""
    fate = Fate.FORWARD if dialect.answer_owed else Fate.DROP
    answers = LateResponse.FIRST if dialect.answer_owed else LateResponse.DROP
    return replace(
        policy,
        late_response=policy.late_response or answers,
        late_progress=policy.late_progress or fate,
        stale_progress=policy.stale_progress or fate,
        noise=policy.noise or (Noise.STDERR if policy.shield else Noise.FORWARD),
    )


def nothing() -> None:
    """The effect of a message that changes nothing."""


@dataclass(eq=False, slots=True)
class Hole:
    """A place where an id or token may be spelled anew; ``seen`` is what stood there."""

    fits: Callable[[bytes], bool]
    seen: bytes | None = None


@dataclass(eq=False, slots=True)
class Verdict:
    """What may become of one message.

    ``parts`` is what passes, None where nothing may; ``whats`` what a drop would be called,
    empty where nothing may be dropped.
    """

    parts: list[bytes | Hole] | None
    whats: frozenset[What] = frozenset()
    passed: Callable[[], None] = nothing
    dropped: Callable[[], None] = nothing
    issuer: Peer | None = None
    key: Key | None = None
    answers: Entry | None = None
    cancels: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """One thing that was held back, as its note must say."""

    whats: frozenset[What]
    issuer: Peer | None = None
    key: Key | None = None


def one_of(spellings: Iterable[bytes]) -> Hole:
    """A place that must hold one of these."""
    allowed = set(spellings)
    return Hole(lambda seen: seen in allowed)


def within_32_bits(value: bytes) -> bool:
    """Fresh integers are plain ones of 32 bits."""
    return value.lstrip(b"-").isdigit() and -(2**31) <= int(value) < 2**31


@dataclass(eq=False)
class Rules:
    """One session, remembered, and what every rule needs."""

    policy: Policy = field(default_factory=Policy)
    dialect: Dialect = MCP
    is_queued: Callable[[Item], bool] = lambda item: bool(item.left)
    held: list[Held] = field(default_factory=list)
    cancels: list[tuple[Peer, Key]] = field(default_factory=list)

    def __post_init__(self) -> None:
        owed = self.dialect.answer_owed
        self.policy = switches(self.policy, self.dialect)
        self.sides = {peer: Side(self.policy.remember, owed) for peer in Peer}

    def forward(self, message: Message, effect: Callable[[], None] = nothing) -> Verdict:
        """It passes as it came."""
        return Verdict([message.raw], passed=effect)

    def translate(self, message: Message, *holes: tuple[Iterable[str], Hole]) -> list[bytes | Hole]:
        """The message with a hole at every place where one of the paths leads."""
        places = [(span, hole) for path, hole in holes for span in message.spans(tuple(path))]
        parts: list[bytes | Hole] = []
        at = 0
        for (start, end), hole in sorted(places, key=lambda place: place[0]):
            parts += [message.raw[at:start], hole]
            at = end
        return [*parts, message.raw[at:]]

    def hold(
        self,
        message: Message,
        what: What | set[What],
        effect: Callable[[], None] = nothing,
        *,
        either: Verdict | None = None,
        side: Peer | None = None,
        key: Key | None = None,
    ) -> Verdict:
        """It is dropped, unless a key that was read is repeated; ``either``: or it passes."""
        if message.repeats(self.paths_read(message)):
            return either or self.forward(message)
        whats = frozenset(what if isinstance(what, set) else {what})
        if either is None:
            return Verdict(None, whats, dropped=effect, issuer=side, key=key)
        return Verdict(either.parts, whats, either.passed, effect, side, key)

    def paths_read(self, message: Message) -> list[tuple[str, ...]]:
        """The keys that decide about a message."""
        paths: list[tuple[str, ...]] = [("id",), ("method",), ("result",), ("error",)]
        if message.kind is Kind.RESPONSE:
            if self.dialect.creates_tasks and (b"task" in message.raw or b"\\u" in message.raw):
                paths += [("result", "task", "taskId"), ("result", "resultType")]
        elif is_cancel(message, self.dialect):
            paths.append(self.dialect.cancel_id)
        elif is_progress(message, self.dialect):
            paths.append(self.dialect.progress_token)
        return paths

    def nobody_else_used(self, message: Message, what: What, issuer: Peer) -> Verdict:
        """What names an issued id whose entry is gone is dropped as late."""
        return self.hold(message, what, side=issuer)
