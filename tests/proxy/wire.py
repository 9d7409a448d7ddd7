"""A session between two peers that read all they get, and what comes out of it.

For the tests of what happens to bytes.  What verdicts mean is for ``playbook``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from nevermind.dialects import MCP, Dialect
from nevermind.lifecycle import State
from nevermind.notes import Note, What
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session

CLIENT, SERVER = Peer.CLIENT, Peer.SERVER


@dataclass
class Wire:
    """A session that is fed in chunks, and what came out of it."""

    policy: Policy = field(default_factory=Policy)
    dialect: Dialect = MCP
    chunk: int = 4096
    quick: bool = True
    now: float = 0.0

    def __post_init__(self) -> None:
        self.session = Session(self.policy, self.dialect, nonce="0", quick=self.quick)
        self.ledger = self.session._judge.ledger
        self.diverted = b""

    def say(self, sender: Peer, *lines: bytes) -> bytes:
        """``sender`` says these lines; what the other gets."""
        return self.feed(sender, b"".join(line + b"\n" for line in lines))

    def feed(self, sender: Peer, data: bytes) -> bytes:
        """``sender`` writes ``data``, in chunks; what the other gets.

        As in a shell, what passes as it is is not received.
        """
        got = b""
        stream = self.session.stream(sender)
        for at in range(0, len(data), self.chunk):
            piece = data[at : at + self.chunk]
            if stream.clean and stream.passes(piece, self.now):
                got += piece
                continue
            self.session.receive_data(sender, piece, self.now)
            got += self.taken(sender.other)
        return got

    def still(self, sender: Peer, seconds: float = 0.2) -> bytes:
        """Nobody says anything for a while; what the other peer of ``sender`` gets of that."""
        self.now += seconds
        self.session.expire(self.now)
        return self.taken(sender.other)

    def ends(self, sender: Peer) -> bytes:
        """``sender`` says nothing more; what the other still gets."""
        self.session.receive_eof(sender, self.now)
        return self.taken(sender.other)

    def taken(self, peer: Peer) -> bytes:
        """All that waits for ``peer``."""
        return taken(self.session, peer)

    def client(self, *lines: bytes) -> bytes:
        """The client says these lines; what the server gets, without the last newline."""
        return self.say(CLIENT, *lines).removesuffix(b"\n")

    def server(self, *lines: bytes) -> bytes:
        """The server says these lines; what the client gets, without the last newline."""
        return self.say(SERVER, *lines).removesuffix(b"\n")

    def begun(self, sender: Peer, message: bytes) -> bool:
        """Whether ``message`` goes on before it is whole; its end is said then, too."""
        early = self.feed(sender, message[:-10])
        late = self.feed(sender, message[-10:] + b"\n")
        assert early + late in (message + b"\n", b"")
        return bool(early)

    def state(self, key: int | str, issuer: Peer = CLIENT) -> State:
        """Where ``key`` stands."""
        found = self.ledger.books[issuer].requests.find(key)
        return State.ABSENT if found is None else found[0]

    @property
    def notes(self) -> list[Note]:
        """What is told since it was asked last; ``diverted`` gathers what goes to stderr."""
        notes: list[Note] = []
        for one in self.session.take_notes():
            if isinstance(one, Note):
                notes.append(one)
            else:
                self.diverted += one.data
        return notes

    @property
    def held(self) -> list[What]:
        """What was held back since it was asked last."""
        return [note.what for note in self.notes if note.what is not None]


def taken(session: Session, peer: Peer, most: int | None = None) -> bytes:
    """What waits for ``peer`` is written, or the first ``most`` bytes of it."""
    data = b"".join(session.outbox[peer].buffers(1 << 20))[:most]
    session.outbox[peer].wrote(len(data))
    return data


def line(message: bytes) -> bytes:
    """``message`` as a line."""
    return message + b"\n"
