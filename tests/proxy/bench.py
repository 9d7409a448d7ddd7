"""A bench: one judge whose queues are looked into, for what it tells and takes back."""

from __future__ import annotations

from dataclasses import dataclass, field

from nevermind.dialects import MCP
from nevermind.judge import Judge
from nevermind.notes import Note
from nevermind.outbox import Outbox
from nevermind.peers import Peer
from nevermind.policy import Policy
from proxy.messages import call, cancel
from proxy.wire import CLIENT, SERVER


@dataclass
class Bench:
    """A judge, and a clock that stands still unless it is set."""

    policy: Policy = field(default_factory=Policy)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.judge = Judge(self.policy, MCP, "5eed")
        self.queues = {peer: Outbox(1 << 20) for peer in Peer}
        self.judge.author.queues = self.queues
        self.taken_back: list[tuple[Peer, object]] = []
        self.judge.retract_from = dict.fromkeys(Peer, self._retract)

    def client(self, body: bytes) -> bytes | None:
        """The client says ``body``."""
        return self.judge.message(CLIENT, body, self.now)

    def server(self, body: bytes) -> bytes | None:
        """The server says ``body``."""
        return self.judge.message(SERVER, body, self.now)

    def note(self) -> Note:
        """The one note since the last."""
        [found] = self.judge.notes
        self.judge.notes.clear()
        assert isinstance(found, Note)
        return found

    def said(self, peer: Peer) -> bytes:
        """What we have to say to ``peer`` ourselves."""
        return b"".join(self.queues[peer].buffers())

    def _retract(self, issuer: Peer, name: object, use: object, now: float) -> None:
        self.taken_back.append((issuer, name))


def cancelled(policy: Policy | None = None) -> Bench:
    """A bench before which request 7 has been cancelled a second after it was asked."""
    bench = Bench(policy or Policy())
    bench.client(call(7, token="t"))
    bench.now = 1.0
    bench.client(cancel(7))
    bench.judge.notes.clear()
    bench.now = 3.5
    return bench
