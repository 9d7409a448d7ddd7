"""A court: one judge before whom two peers speak, with verdicts instead of bytes.

For the tests of single rulings.  Whole conversations, byte for byte, are for ``playbook``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from nevermind import spans
from nevermind.dialects import MCP, Dialect
from nevermind.ids import Key
from nevermind.judge import Judge
from nevermind.ledger import Books, Verdict
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.uses import Record, Use
from proxy.messages import Spelling, call, cancel

Call = tuple[Peer, Key]

BOTH = pytest.mark.parametrize("asker", list(Peer), ids=("client asks", "server asks"))
"""The ruling is the same whoever asks."""


@dataclass(eq=False)
class Court:
    """``client`` and ``server`` hear a message from that peer and give the verdict on it.

    ``retracted`` are the answers that were to be taken back from a peer's queue.
    """

    policy: Policy = field(default_factory=Policy)
    dialect: Dialect = MCP
    now: float = 0.0

    def __post_init__(self) -> None:
        self.judge = Judge(self.policy, self.dialect, "5eed")
        self.retracted: list[Call] = []
        self.judge.retract_from = dict.fromkeys(Peer, self._retract)
        self.ledger = self.judge.ledger

    def client(self, body: bytes) -> Verdict:
        """The client says ``body``."""
        return self.hear(Peer.CLIENT, body)

    def server(self, body: bytes) -> Verdict:
        """The server says ``body``."""
        return self.hear(Peer.SERVER, body)

    def hear(self, sender: Peer, body: bytes) -> Verdict:
        """``sender`` says ``body``, one message."""
        return self.judge.rule(sender, self.judge.look(body), body, self.now)

    def sent(self, sender: Peer, body: bytes) -> bytes | What:
        """What goes on of ``body``, or as what it is held back."""
        verdict = self.hear(sender, body)
        if verdict.held is not None:
            return verdict.held
        return spans.replace(body, verdict.edits)

    def books(self, issuer: Peer = Peer.CLIENT) -> Books:
        """The records of ``issuer``."""
        return self.ledger.books[issuer]

    def record(self, key: Key, issuer: Peer = Peer.CLIENT) -> Record | None:
        """What is recorded under the wire id ``key``."""
        found = self.books(issuer).requests.find(key)
        return None if found is None else found[1]

    def state(self, key: Key, issuer: Peer = Peer.CLIENT) -> State:
        """Where the wire id ``key`` stands."""
        found = self.books(issuer).requests.find(key)
        return State.ABSENT if found is None else found[0]

    def alias(self, name: Key, issuer: Peer = Peer.CLIENT) -> Use:
        """The newest use of ``name``, which goes under a fresh wire id."""
        use = self.books(issuer).requests.newest_use(name)
        assert use is not None
        return use

    def _retract(self, issuer: Peer, name: Key, use: object, now: float) -> None:
        assert now == self.now
        self.retracted.append((issuer, name))


def asked(asker: Peer, *ids: Spelling, policy: Policy | None = None) -> Court:
    """A court before which these requests are in flight."""
    court = Court(policy or Policy())
    for one in ids:
        court.hear(asker, call(one))
    return court


def cancelled(asker: Peer, *ids: Spelling, policy: Policy | None = None) -> Court:
    """A court before which these requests have been cancelled."""
    court = asked(asker, *ids, policy=policy)
    for one in ids:
        court.hear(asker, cancel(one))
    return court


def reused(asker: Peer = Peer.CLIENT, id: Spelling = 7, token: Spelling | None = None) -> Court:
    """A court before which a request of this id has been cancelled."""
    court = Court()
    court.hear(asker, call(id, token=token))
    court.hear(asker, cancel(id))
    return court
