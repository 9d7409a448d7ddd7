"""A session against the oracle: generated conversations, compared byte for byte.

Two peers with few ids between them say whatever they like, in any chunks, while the other may
not be reading.
"""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nevermind.dialects import MCP, Dialect
from nevermind.peers import Peer
from nevermind.policy import LateResponse, Policy
from proxy import messages as say
from proxy.generated import Saying, policies, sayings
from proxy.judge import Judge
from proxy.searching import search

SETTINGS = search(60, 30)


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

    def say_lines(
        self, sender: Peer, sayings: list[Saying], cuts: list[int], ending: bytes
    ) -> None:
        """Several messages, a line each."""
        self.say(sender, b"".join(self.sound(sender, one) + ending for one in sayings), cuts)

    def say_batch(self, sender: Peer, sayings: list[Saying], cuts: list[int], gap: bytes) -> None:
        """Several messages, in one array."""
        heard = [self.sound(sender, one) for one in sayings]
        objects = [one for one in heard if one.startswith(b"{") and one.endswith(b"}")]
        line = b"[" + gap + (gap + b"," + gap).join(objects) + gap + b"]\n"
        self.say(sender, line, cuts)

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


CUTS = st.lists(st.integers(0, 4000), max_size=3)


class McpConversation(Conversation):
    """Where a cancelled request stays unanswered."""

    @initialize(policy=policies(MCP))
    def begins(self, policy: Policy) -> None:
        """The switches of this conversation."""
        self.begin(policy)

    @rule(
        said=st.lists(sayings(Peer.CLIENT, MCP), min_size=1, max_size=4),
        cuts=CUTS,
        ending=st.sampled_from((b"\n", b"\n", b"\r\n", b" \n")),
    )
    def client_says(self, said: list[Saying], cuts: list[int], ending: bytes) -> None:
        """The client says some lines."""
        self.say_lines(Peer.CLIENT, said, cuts, ending)

    @rule(
        said=st.lists(sayings(Peer.SERVER, MCP), min_size=1, max_size=4),
        cuts=CUTS,
        ending=st.sampled_from((b"\n", b"\n", b"\r\n", b" \n")),
    )
    def server_says(self, said: list[Saying], cuts: list[int], ending: bytes) -> None:
        """The server says some lines."""
        self.say_lines(Peer.SERVER, said, cuts, ending)

    @rule(
        said=st.lists(sayings(Peer.CLIENT, MCP), min_size=1, max_size=4),
        cuts=CUTS,
        gap=st.sampled_from((b"", b" ", b"\t")),
    )
    def client_says_at_once(self, said: list[Saying], cuts: list[int], gap: bytes) -> None:
        """The client says a batch."""
        self.say_batch(Peer.CLIENT, said, cuts, gap)

    @rule(
        said=st.lists(sayings(Peer.SERVER, MCP), min_size=1, max_size=4),
        cuts=CUTS,
        gap=st.sampled_from((b"", b" ", b"\t")),
    )
    def server_says_at_once(self, said: list[Saying], cuts: list[int], gap: bytes) -> None:
        """The server says a batch."""
        self.say_batch(Peer.SERVER, said, cuts, gap)

    @rule(said=sayings(Peer.SERVER, MCP), newline=st.booleans())
    def server_forgets_the_newline(self, said: Saying, newline: bool) -> None:
        """The server says one object and is still; the newline comes later, or never."""
        sound = self.sound(Peer.SERVER, said)
        if sound.startswith(b"{") and sound.endswith(b"}") and not self.judge.rest[Peer.SERVER]:
            self.say(Peer.SERVER, sound, [])
            self.judge.still()
            if newline:
                self.say(Peer.SERVER, b"\n", [])


class OwedConversation(Conversation):
    """Where a cancelled request is still owed an answer."""

    dialect = say.OWED

    @initialize(policy=policies(say.OWED))
    def begins(self, policy: Policy) -> None:
        """The switches of this conversation."""
        self.begin(policy)

    @rule(said=st.lists(sayings(Peer.CLIENT, say.OWED), min_size=1, max_size=4), cuts=CUTS)
    def client_says(self, said: list[Saying], cuts: list[int]) -> None:
        """The client says some lines."""
        self.say_lines(Peer.CLIENT, said, cuts, b"\n")

    @rule(said=st.lists(sayings(Peer.SERVER, say.OWED), min_size=1, max_size=4), cuts=CUTS)
    def server_says(self, said: list[Saying], cuts: list[int]) -> None:
        """The server says some lines."""
        self.say_lines(Peer.SERVER, said, cuts, b"\n")

    @rule(said=st.lists(sayings(Peer.SERVER, say.OWED), min_size=1, max_size=4))
    def server_says_at_once(self, said: list[Saying]) -> None:
        """The server says a batch."""
        self.say_batch(Peer.SERVER, said, [], b"")


TestMcp = McpConversation.TestCase
TestMcp.settings = SETTINGS
TestOwed = OwedConversation.TestCase
TestOwed.settings = SETTINGS
