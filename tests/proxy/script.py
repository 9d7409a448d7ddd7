"""The words of a script: ``client >> …`` says, ``server << …`` hears, ``held`` held it back.

A script only says what is to happen: ``performance`` makes it happen, ``playbook`` every way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from nevermind.notes import What
from nevermind.peers import Peer


@dataclass(frozen=True, slots=True)
class Said:
    """A peer says these bytes."""

    peer: Peer
    data: bytes


@dataclass(frozen=True, slots=True)
class Heard:
    """A peer hears these bytes next; with ``spliced``, an array of these elements."""

    peer: Peer
    data: bytes
    spliced: tuple[bytes, ...] | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """Something was held back; ``id`` and ``issuer`` are compared where given."""

    what: What
    id: int | str | None = None
    issuer: Peer | None = None


@dataclass(frozen=True, slots=True)
class Diverts:
    """These bytes go to stderr."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Stalls:
    """From here on the peer reads nothing, or ``count`` bytes and then nothing."""

    peer: Peer
    count: int = 0


@dataclass(frozen=True, slots=True)
class Reads:
    """The peer reads again."""

    peer: Peer


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds pass in which nobody says a thing."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ends:
    """The peer closes its side."""

    peer: Peer


Step = Said | Heard | Held | Diverts | Stalls | Reads | Waits | Ends
Script: TypeAlias = "Step | list[Script]"


@dataclass(frozen=True, slots=True)
class End:
    """One end of the conversation, as a script speaks of it."""

    peer: Peer

    def __rshift__(self, message: bytes) -> Said:
        return Said(self.peer, message + b"\n")

    def __lshift__(self, message: bytes) -> Heard:
        return Heard(self.peer, message + b"\n")

    def raw(self, data: bytes) -> Said:
        """Says bytes that are no line."""
        return Said(self.peer, data)

    def hears_raw(self, data: bytes) -> Heard:
        """Hears bytes that are no line."""
        return Heard(self.peer, data)

    def spliced(self, *messages: bytes) -> Heard:
        """Hears an array of exactly these elements, whatever white space is between them."""
        return Heard(self.peer, b"[" + b",".join(messages) + b"]\n", messages)

    def passes(self, *messages: bytes) -> list[Script]:
        """Says these lines, and the other end hears each as it is."""
        steps: list[Script] = []
        for message in messages:
            steps += [self >> message, End(self.peer.other) << message]
        return steps

    def loses(self, what: What, *messages: bytes, id: int | str | None = None) -> list[Script]:
        """Says these lines, and each is held back as ``what``."""
        steps: list[Script] = []
        for message in messages:
            steps += [self >> message, Held(what, id)]
        return steps

    def stalls(self, count: int = 0) -> Stalls:
        """Stops reading, after ``count`` more bytes."""
        return Stalls(self.peer, count)

    def reads(self) -> Reads:
        """Goes on reading."""
        return Reads(self.peer)

    def ends(self) -> Ends:
        """Closes its side."""
        return Ends(self.peer)


client = End(Peer.CLIENT)
server = End(Peer.SERVER)
ENDS = ((client, server), (server, client))
"""Whoever asks and whoever answers: most rules hold in both directions."""


def held(what: What, id: int | str | None = None, issuer: Peer | None = None) -> Held:
    """Something was held back."""
    return Held(what, id, issuer)


def flat(steps: Iterable[Script]) -> list[Step]:
    """A script may hold scripts."""
    found: list[Step] = []
    for step in steps:
        found += flat(step) if isinstance(step, list) else [step]
    return found
