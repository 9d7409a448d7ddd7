"""What two peers know of what they asked and answered: whom an answer is for, and who still waits.

The model knows nothing of states: it attributes every answer that is heard to the use that it is
for (the work that it names, or for one of ours the newest use of the id) and counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nevermind.dialects import MCP, Dialect
from nevermind.notes import Event, Note
from nevermind.peers import Peer
from nevermind.policy import Policy

EVERYTHING = 1 << 30


@dataclass(eq=False, slots=True)
class Group:
    """Uses that share an id at the same time: which of them an answer is for can't be told.

    ``said`` counts the answers that were given, ``heard`` the ones that arrived.
    """

    size: int = 0
    said: int = 0
    heard: int = 0


@dataclass(eq=False, slots=True)
class Asked:
    """One use of an id; ``work`` tells it from all others, ``wire`` is the id its receiver saw.

    ``given_up``: answered by us; ``answered_in_time``: before any of that, or a cancel.
    ``repeats``: its answers are late, so that one may be said again.
    """

    issuer: Peer
    id: int | str
    work: int
    group: Group
    wire: int | str | None = None
    cancelled: bool = False
    given_up: bool = False
    answers: int = 0
    repeats: bool = False
    answered_in_time: bool = False


@dataclass(eq=False)
class Model:
    """Both peers' bookkeeping; ``story`` is what was said and heard so far."""

    policy: Policy = field(default_factory=Policy)
    dialect: Dialect = MCP
    story: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    failed: bool = False
    meant: list[Asked] = field(default_factory=list)
    """The uses that the cancels of this moment are for, in order."""

    @property
    def work(self) -> int:
        """The number of what was asked last."""
        return len(self.asked)

    def check(self, holds: bool, what: str) -> None:
        """It holds, or else the whole conversation is told."""
        if not holds:
            self.failed = True
            story = "\n".join(self.story)
            raise AssertionError(f"{what}\n\n{self.dialect.name}, {self.policy}\n{story}")

    def newest(self, peer: Peer, name: int | str, most: int = EVERYTHING) -> Asked | None:
        """What an issuer means by an id, the first ``most`` uses of all considered."""
        for use in reversed(self.asked[:most]):
            if use.issuer is peer and use.id == name:
                return use
        return None

    # ------------------------------------------------------------------ what is said

    def ask(self, peer: Peer, name: int | str) -> int:
        """A peer asks for the work whose number is given back."""
        before = self.newest(peer, name)
        group = Group()
        if before is not None and self.in_flight(before):
            group = before.group
        group.size += 1
        self.asked.append(Asked(peer, name, self.work + 1, group))
        return self.work

    def in_flight(self, use: Asked) -> bool:
        """Whether the id is in use: an answer is to come, or one that is owed."""
        if use.group.size > 1:
            return use.group.said < use.group.size
        if use.given_up or use.answered_in_time:
            return False
        if not use.cancelled:
            return True
        at_once = self.policy.answer_cancelled == 0 and use.group.size == 1
        return self.dialect.answer_owed and not use.answers and not at_once

    def cancel(self, peer: Peer, name: int | str) -> None:
        """A peer gives up what it means by the id."""
        use = self.newest(peer, name)
        if use is not None:
            self.meant.append(use)
        if use is not None and use.group.size == 1 and not use.answered_in_time:
            use.cancelled = True
        elif use is not None and use.answered_in_time and not self.dialect.answer_owed:
            use.cancelled = True  # the answer may still be taken out of the queue

    def open_to(self, peer: Peer, *, again: bool) -> list[Asked]:
        """What a peer may answer now; ``again``: also what was late before."""
        return [
            use
            for use in self.asked
            if use.issuer is peer.other
            and use.wire is not None
            and (not use.answers or (again and self.may_repeat(use)))
        ]

    def may_repeat(self, use: Asked) -> bool:
        """Whether a further answer is told from one to a newer use: by its id, or there is none."""
        newest = self.newest(use.issuer, use.id) is use
        return use.repeats and (newest or not self.dialect.answer_owed)

    def answer(self, use: Asked) -> None:
        """The receiver answers."""
        over = use.cancelled or use.given_up
        use.repeats = over and use.group.size == 1
        use.answers += 1
        use.group.said += 1
        use.answered_in_time |= not over

    # ------------------------------------------------------------------ what is heard

    def heard_answer(self, use: Asked, peer: Peer, message: dict[str, Any]) -> None:
        """It is for the issuer, under the id that it knows, and there is only one."""
        self.check(use.issuer is peer, f"{peer} heard {message}, which is for {use}")
        self.check(use.id == message["id"], f"{use} heard {message}")
        use.group.heard += 1
        self.check(use.group.heard <= use.group.size, f"{use} was answered twice: {message}")

    def heard_ours(self, peer: Peer, message: dict[str, Any], most: int) -> None:
        """An answer of ours is for the newest of the first ``most`` uses, which was given up."""
        use = self.newest(peer, message["id"], most)
        if use is None:
            raise AssertionError(f"nobody asked for {message}")
        over = use.cancelled or use.given_up or use.group.size > 1
        self.check(over, f"nobody gave up on {use}, which heard {message}")
        self.heard_answer(use, peer, message)

    def note(self, note: Note) -> None:
        """The session gave up on a use, or answered it itself."""
        use = self._given_up(note)
        use.given_up = True
        use.group.said += 1

    def _given_up(self, note: Note) -> Asked:
        """The use that the note is about: the id may have been used again in the same chunk."""
        uses = reversed(self.asked)
        if note.event is Event.ANSWER:
            meant = [use for use in self.meant if use.cancelled or use.group.size > 1]
            uses = iter([*sorted(meant, key=lambda use: use.answers > 0), *uses])
        for use in uses:
            if (use.issuer, use.id) == (note.issuer, note.id) and not use.given_up:
                return use
        self.check(False, f"nobody waits for this: {note}")
        raise AssertionError

    def waits(self) -> list[Asked]:
        """Who has no answer, though it must have had one by now: the newest use of its id."""
        return [
            use
            for use in self.asked
            if self.newest(use.issuer, use.id) is use
            and use.group.size == 1
            and use.group.heard != 1
            and self._is_certain(use)
        ]

    def _is_certain(self, use: Asked) -> bool:
        if use.cancelled and not (use.answered_in_time and self.dialect.answer_owed):
            return self.policy.answer_cancelled is not None
        timed = use.issuer is Peer.CLIENT and self.policy.timeout is not None
        return use.answered_in_time or timed
