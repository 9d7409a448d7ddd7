"""Playbooks once more in whole messages: the client's, the server's, or both peers'.

A script that speaks of lines (blank ones, their ends, parts of them) has no such performance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nevermind.dialects import Dialect
from nevermind.messages import from_body
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.performance import Run
from proxy.script import Heard, Said, Stalls, Step

PAIRINGS: tuple[tuple[Peer, ...], ...] = (
    (Peer.CLIENT,),
    (Peer.SERVER,),
    (Peer.CLIENT, Peer.SERVER),
)


def is_whole(script: Sequence[Step], policy: Policy, dialect: Dialect) -> bool:
    """Whether ``script`` can be said in whole messages: a longer one never gets to a session."""
    longest = max((len(step.data) for step in script if isinstance(step, Said)), default=0)
    return (
        not dialect.header_framed and longest <= policy.max_message and all(map(_is_whole, script))
    )


def _is_whole(step: Step) -> bool:
    match step:
        case Said(_, data) | Heard(_, data, _):
            lines = data.split(b"\n")
            return lines.pop() == b"" and all(map(_is_message, lines))
        case Stalls(_, count):
            return count == 0
    return True


def _is_message(line: bytes) -> bool:
    # a line that may be a header is only known by the line behind it
    blank_or_header = not line.strip() or line.lstrip().lower().startswith(b"content-")
    return not blank_or_header and b"\r" not in line


class MessageRun(Run):
    """A performance in which these peers speak in whole messages."""

    def __init__(self, policy: Policy, dialect: Dialect, messaging: Collection[Peer]) -> None:
        self._messaging = messaging
        names = " and ".join(peer.value for peer in messaging)
        super().__init__(policy, dialect, f"in messages by {names}")

    def make_session(self) -> Session:
        return Session(self.policy, self.dialect, nonce="5eed", messaging=self._messaging)

    def hand_over(self, sender: Peer, data: bytes) -> None:
        if sender not in self._messaging:
            super().hand_over(sender, data)
            return
        for line in data.splitlines(keepends=True):
            self.session.receive_message(sender, from_body(line[:-1]), self.now)
            self.take()

    def collect(self, peer: Peer) -> bytes:
        if peer not in self._messaging:
            return super().collect(peer)
        data = b""
        mailbox = self.session.mailbox[peer]
        while self.may_take[peer] is None and (message := mailbox.begin()) is not None:
            mailbox.sent()
            data += message.body + b"\n"
        return data
