"""A session against the oracle: generated conversations, compared byte for byte.

Two peers with few ids between them say whatever they like, in any chunks, while the other may
not be reading: in every dialect, and in LSP's way without its headers.  What we say ourselves is
for the machine of clocks.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nevermind.dialects import MCP, Dialect
from nevermind.peers import Peer
from nevermind.policy import LateResponse, Policy
from proxy import messages as say
from proxy.every_dialect import ACP, BSP, CUSTOM, JSONRPC, LSP
from proxy.generated import Saying, policies, sayings
from proxy.header_frames import HEADER, frame
from proxy.judge import Judge
from proxy.searching import search

SETTINGS = search(40, 30)
CUTS = st.lists(st.integers(0, 4000), max_size=3)
ENDINGS = st.sampled_from((b"\n", b"\n", b"\r\n", b" \n"))
GAPS = st.sampled_from((b"", b" ", b"\t"))
HEADERS = {
    b"\n": HEADER,
    b"\r\n": b"Content-Type: application/vscode-jsonrpc\r\ncontent-length:<n>\r\n\r\n",
    b" \n": b"CONTENT-LENGTH : <n> \r\nContent-Type: text/x; charset=utf8\r\n\r\n",
}
"""For each way to end a line, a header of the same kind: usual, and less so."""


class Conversation(RuleBasedStateMachine):
    """One session, from the first byte to the end of both sides."""

    dialect: Dialect = MCP

    def __init__(self) -> None:
        super().__init__()
        self.judge = Judge(Policy(), self.dialect)
        self.serial = 0

    def begin(self, policy: Policy) -> None:
        """The switches are set once."""
        self.judge = Judge(policy, self.dialect)

    def sound(self, sender: Peer, saying: Saying) -> bytes:
        """What is said, told from all else by its number."""
        self.serial += 1
        return saying.sound(sender, self.judge.oracle, self.serial)

    def say(self, sender: Peer, data: bytes, cuts: list[int]) -> None:
        """In one chunk, or cut where it happens to be."""
        if not self.judge.session.may_read(sender):
            self.judge.drain(sender.other)
        places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
        for start, end in pairwise(places):
            self.judge.feed(sender, data[start:end])

    def say_all(self, sender: Peer, bodies: list[bytes], cuts: list[int], ending: bytes) -> None:
        """Several messages: a line each, or each behind a header."""
        header = HEADERS[ending]
        if self.dialect.header_framed:
            data = b"".join(frame(body, header) for body in bodies if body)
        else:
            data = b"".join(body + ending for body in bodies)
        self.say(sender, data, cuts)

    def say_batch(self, sender: Peer, sayings: list[Saying], cuts: list[int], gap: bytes) -> None:
        """Several messages, in one array."""
        heard = [self.sound(sender, one) for one in sayings]
        objects = [one for one in heard if one.startswith(b"{") and one.endswith(b"}")]
        array = b"[" + gap + (gap + b"," + gap).join(objects) + gap + b"]"
        self.say_all(sender, [array], cuts, b"\n")

    @rule(peer=st.sampled_from(Peer), count=st.none() | st.integers(1, 200))
    def reads(self, peer: Peer, count: int | None) -> None:
        """A peer takes what waits for it, or a part of it."""
        self.judge.drain(peer, count)

    @rule(peer=st.sampled_from(Peer))
    def falls_silent(self, peer: Peer) -> None:
        """Nobody says anything for a while."""
        self.judge.still()

    @invariant()
    def nobody_is_answered_twice(self) -> None:
        """A cancelled request is answered at most once, tasks left out, unless all is forwarded."""
        if self.judge.policy.late_response is LateResponse.FORWARD:
            return
        for side in self.judge.oracle.sides.values():
            for entry in side.entries:
                if entry.answers_passed > 1:
                    self.judge.disagree(f"answered twice: {entry}")

    def teardown(self) -> None:
        """Both sides end, and everything that is owed is read."""
        if self.judge.disagreed:
            return
        for peer in Peer:
            self.judge.end(peer)
        for peer in Peer:
            self.judge.drain(peer)


def talk(dialect: Dialect) -> Any:
    """The machine in one dialect."""
    client = st.lists(sayings(Peer.CLIENT, dialect), min_size=1, max_size=4)
    server = st.lists(sayings(Peer.SERVER, dialect), min_size=1, max_size=4)

    class InDialect(Conversation):
        @initialize(policy=policies(dialect))
        def begins(self, policy: Policy) -> None:
            """The switches of this conversation."""
            self.begin(policy)

        @rule(said=client, cuts=CUTS, ending=ENDINGS)
        def client_says(self, said: list[Saying], cuts: list[int], ending: bytes) -> None:
            """The client says some messages."""
            bodies = [self.sound(Peer.CLIENT, one) for one in said]
            self.say_all(Peer.CLIENT, bodies, cuts, ending)

        @rule(said=server, cuts=CUTS, ending=ENDINGS)
        def server_says(self, said: list[Saying], cuts: list[int], ending: bytes) -> None:
            """The server says some messages."""
            bodies = [self.sound(Peer.SERVER, one) for one in said]
            self.say_all(Peer.SERVER, bodies, cuts, ending)

        @rule(said=client, cuts=CUTS, gap=GAPS)
        def client_says_at_once(self, said: list[Saying], cuts: list[int], gap: bytes) -> None:
            """The client says a batch."""
            self.say_batch(Peer.CLIENT, said, cuts, gap)

        @rule(said=server, cuts=CUTS, gap=GAPS)
        def server_says_at_once(self, said: list[Saying], cuts: list[int], gap: bytes) -> None:
            """The server says a batch."""
            self.say_batch(Peer.SERVER, said, cuts, gap)

        @rule(said=sayings(Peer.SERVER, dialect), newline=st.booleans())
        def server_forgets_the_newline(self, said: Saying, newline: bool) -> None:
            """The server says one object and is still; the newline comes later, or never."""
            if self.dialect.header_framed or self.judge.rest[Peer.SERVER]:
                return
            sound = self.sound(Peer.SERVER, said)
            if sound.startswith(b"{") and sound.endswith(b"}"):
                self.say(Peer.SERVER, sound, [])
                self.judge.still()
                if newline:
                    self.say(Peer.SERVER, b"\n", [])

    InDialect.dialect = dialect
    InDialect.TestCase.settings = SETTINGS
    return InDialect.TestCase


TestMcp, TestLsp, TestBsp = talk(MCP), talk(LSP), talk(BSP)
TestAcp, TestJsonRpc, TestCustom = talk(ACP), talk(JSONRPC), talk(CUSTOM)
TestOwed = talk(say.OWED)
