"""A session whose client does not read: what waits for it, and what is taken out of that."""

from __future__ import annotations

from dataclasses import dataclass, field

from nevermind.dialects import MCP, Dialect
from nevermind.ledger import Ledger
from nevermind.notes import Note, What
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.messages import Spelling, answer, call
from proxy.wire import CLIENT, SERVER


@dataclass
class Stalled:
    """A session whose client does not read, unless it is told to; its server reads all."""

    policy: Policy = field(default_factory=Policy)
    dialect: Dialect = MCP

    def __post_init__(self) -> None:
        self.session = Session(self.policy, self.dialect, nonce="0")

    def client(self, *lines: bytes) -> None:
        """The client says these lines, in one chunk."""
        self.session.receive_data(CLIENT, b"".join(line + b"\n" for line in lines), 0.0)
        outbox = self.session.outbox[SERVER]
        outbox.wrote(outbox.pending)

    def server(self, *lines: bytes) -> None:
        """The server says these lines, in one chunk."""
        self.session.receive_data(SERVER, b"".join(line + b"\n" for line in lines), 0.0)

    def reads(self, count: int) -> None:
        """The client reads so many bytes."""
        self.session.outbox[CLIENT].wrote(count)

    @property
    def waiting(self) -> list[bytes]:
        """The lines that wait for the client."""
        data = b"".join(self.session.outbox[CLIENT].buffers(1 << 20))
        return data.split(b"\n")[:-1]

    @property
    def held(self) -> list[What | None]:
        """What was held back since it was asked last."""
        notes = [one for one in self.session.take_notes() if isinstance(one, Note)]
        return [one.what for one in notes if one.what is not None]

    @property
    def ledger(self) -> Ledger:
        """What the session knows."""
        return self.session._judge.ledger


def answered(*ids: Spelling, policy: Policy | None = None) -> Stalled:
    """A client that has asked and not read the answers yet."""
    stalled = Stalled(policy or Policy())
    stalled.client(*(call(one) for one in ids))
    stalled.server(*(answer(one) for one in ids))
    return stalled
