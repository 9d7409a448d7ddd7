"""Whatever happens in whatever order: nobody is answered twice, and nobody waits for ever.

A client and a server ask, cancel, answer and report progress under few ids, in any chunks, while
time passes and either may not be reading: in every dialect, with timeouts, answers of our own and
tasks that are cancelled in their issuers' place.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from nevermind.dialects import MCP, Dialect
from nevermind.notes import Event, Note
from nevermind.peers import Peer
from nevermind.policy import FirstCancel, LateResponse, Policy
from nevermind.session import Session
from proxy import messages as say
from proxy.every_dialect import ACP, BSP, CUSTOM, JSONRPC, LSP
from proxy.frame_reader import read_frame
from proxy.header_frames import frame
from proxy.searching import search
from proxy.time_model import Asked, Model

SETTINGS = search(60, 40)
IDS = (1, 2, "a")
LONG = 300
"""Bytes; longer messages are sent on while they arrive, where that is set."""
FOR_EVER = 200.0
PEERS = st.sampled_from(Peer)


def policies(dialect: Dialect) -> st.SearchStrategy[Policy]:
    """The switches for what we say ourselves, with those that they meet."""
    usual = LateResponse.FIRST if dialect.answer_owed else LateResponse.DROP
    late = [usual, LateResponse.DROP, LateResponse.FIRST, LateResponse.FORWARD_ERRORS]
    return st.builds(
        Policy,
        cancel=st.sampled_from((FirstCancel.FORWARD, *FirstCancel)),
        late_response=st.sampled_from(late if not dialect.answer_owed else [usual]),
        timeout=st.sampled_from((None, 3.0, 10.0)),
        max_timeout=st.sampled_from((5.0, 60.0)),
        answer_cancelled=st.sampled_from((None, 0.0, 0.0, 2.0, 10.0)),
        reap_tasks=st.booleans(),
        max_message=st.sampled_from((1 << 26, LONG)),
    )


class Conversation(RuleBasedStateMachine):
    """One session, from the first request until nobody waits any more."""

    dialect: Dialect = MCP

    def begin(self, policy: Policy) -> None:
        """The switches are set once."""
        self.policy = policy
        self.session = Session(policy, self.dialect, nonce="5eed")
        self.model = Model(policy, self.dialect)
        self.now = 0.0
        self.unread = dict.fromkeys(Peer, b"")
        self.begun = dict.fromkeys(Peer, 0)
        """How much had been asked when the message that is half read was begun."""
        self.task_cancels: list[tuple[Peer, int | str]] = []

    # ------------------------------------------------------------------ what is said

    def speak(self, peer: Peer, bodies: list[bytes], cuts: list[int], *, batch: bool) -> None:
        """In one chunk, or cut where it happens to be; an overlong batch could not be judged."""
        if batch and self.policy.max_message > LONG:
            bodies = [say.batch(*bodies)]
        framed = self.dialect.header_framed
        data = b"".join(frame(body) if framed else body + b"\n" for body in bodies)
        places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
        for start, stop in pairwise(places):
            self.model.story.append(f"{peer.value} >> {data[start:stop]!r}")
            self.session.receive_data(peer, data[start:stop], self.now)
            self.note()
        self.model.meant.clear()

    @rule(
        peer=PEERS,
        what=st.lists(
            st.tuples(st.sampled_from(("ask", "ask", "cancel")), st.sampled_from(IDS)),
            min_size=1,
            max_size=3,
        ),
        cuts=st.lists(st.integers(0, 400), max_size=2),
        batch=st.booleans(),
    )
    def asks_and_cancels(
        self, peer: Peer, what: list[tuple[str, int | str]], cuts: list[int], batch: bool
    ) -> None:
        """A peer asks for some work, and gives some up."""
        bodies = []
        for verb, name in what:
            bodies.append(self.ask(peer, name) if verb == "ask" else self.cancel(peer, name))
        self.speak(peer, bodies, cuts, batch=batch)
        self.reads(peer.other, None)

    def ask(self, peer: Peer, name: int | str) -> bytes:
        work = self.model.ask(peer, name)
        token = work if work % 2 and self.dialect.request_tokens else None
        return say.call(name, token, work=work, dialect=self.dialect)

    def cancel(self, peer: Peer, name: int | str) -> bytes:
        if self.dialect.cancel_method is None:
            return say.cancel(name)
        self.model.cancel(peer, name)
        return say.cancel(name, dialect=self.dialect)

    @rule(
        peer=PEERS,
        pick=st.integers(0, 20),
        how=st.sampled_from(("answer", "answer", "error", "task", "long")),
        again=st.booleans(),
        cuts=st.lists(st.integers(0, 400), max_size=2),
        batch=st.booleans(),
    )
    def answers(
        self, peer: Peer, pick: int, how: str, again: bool, cuts: list[int], batch: bool
    ) -> None:
        """A peer answers some work that it was asked for; what was late before, maybe again."""
        open_to = self.model.open_to(peer, again=again)
        if not open_to:
            return
        use = open_to[-1 - pick % len(open_to)]
        self.model.answer(use)
        if use.answers > 1 and how == "task":
            how = "answer"  # every task is handed over, for each would be orphaned
        self.speak(peer, [self.answer(use, how)], cuts, batch=batch)

    def answer(self, use: Asked, how: str) -> bytes:
        assert use.wire is not None
        if how == "error":
            body = b'{"code":1,"message":"%d"}' % use.work
            return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (say.spell(use.wire), body)
        result: dict[str, Any] = {"of": use.work}
        if how == "task" and self.dialect.creates_tasks:
            result["task"] = {"taskId": f"t-{use.work}"}
        if how == "long":
            result["pad"] = "x" * 2 * LONG
        return say.answer(use.wire, result)

    @rule(peer=PEERS, pick=st.integers(0, 20), cuts=st.lists(st.integers(0, 200), max_size=1))
    def reports(self, peer: Peer, pick: int, cuts: list[int]) -> None:
        """A peer says how far it is with some work."""
        asked = self.model.asked
        known = [use for use in asked if use.issuer is peer.other and use.wire is not None]
        if known and self.dialect.progress_method is not None:
            token = known[-1 - pick % len(known)].work
            self.speak(peer, [say.progress(token, dialect=self.dialect)], cuts, batch=False)

    @rule(peer=PEERS)
    def answers_us(self, peer: Peer) -> None:
        """A peer answers a request of our own."""
        while self.task_cancels:
            asked_of, wire = self.task_cancels.pop()
            if asked_of is peer:
                self.speak(peer, [say.answer(wire, {"of": 0})], [], batch=False)

    @rule(seconds=st.sampled_from((0.05, 0.2, 1.0, 2.0, 3.0, 9.0)))
    def time_passes(self, seconds: float) -> None:
        """Nobody says anything; the session is asked when it wants to be."""
        end = self.now + seconds
        self.model.story.append(f"... {seconds} s ...")
        while (due := self.session.next_deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            self.session.expire(self.now)
            self.note()
        self.now = end

    # ------------------------------------------------------------------ what is heard

    @rule(peer=PEERS, count=st.none() | st.integers(1, 150))
    def reads(self, peer: Peer, count: int | None) -> None:
        """A peer takes what waits for it, or a part of it."""
        outbox = self.session.outbox[peer]
        data = b"".join(outbox.buffers(1 << 30))[:count]
        if not data:
            return
        outbox.wrote(len(data))
        self.model.story.append(f"{peer.value} << {data!r}")
        if not self.unread[peer]:
            self.begun[peer] = self.model.work
        self.unread[peer] += data
        while (body := self.next_message(peer)) is not None:
            message = json.loads(body) if body else []
            for one in message if isinstance(message, list) else [message]:
                self.hear(peer, one)
            self.begun[peer] = self.model.work

    def next_message(self, peer: Peer) -> bytes | None:
        """The next whole message that a peer has read."""
        unread = self.unread[peer]
        if not self.dialect.header_framed:
            body, newline, rest = unread.partition(b"\n")
            self.unread[peer] = rest if newline else unread
            return body if newline else None
        found = read_frame(unread)
        if found is None:
            return None
        self.unread[peer] = unread[sum(map(len, found)) :]
        return found[1]

    def hear(self, peer: Peer, message: dict[str, Any]) -> None:
        """A peer hears one message."""
        model = self.model
        match message:
            case {"method": "tasks/cancel", "id": wire}:
                self.task_cancels.append((peer, wire))
            case {"method": "tools/call", "id": wire, "params": {"name": work}}:
                model.asked[work - 1].wire = wire
            case {"result": {"of": work}}:
                model.heard_answer(model.asked[work - 1], peer, message)
            case {"error": {"data": {"answeredBy": "nevermind"}}}:
                model.heard_ours(peer, message, self.begun[peer])
            case {"error": {"message": work}}:
                model.heard_answer(model.asked[int(work) - 1], peer, message)

    def note(self) -> None:
        """The notes say whom the session gave up on, or answered itself."""
        for note in self.session.take_notes():
            if isinstance(note, Note) and note.event in (Event.TIMEOUT, Event.ANSWER):
                self.model.note(note)

    # ------------------------------------------------------------------ the end

    def teardown(self) -> None:
        """Everything is read, and all the time in the world passes: who still waits?"""
        if not hasattr(self, "session") or self.model.failed:
            return
        for peer in Peer:
            self.reads(peer, None)
        self.time_passes(FOR_EVER)
        check = self.model.check
        for peer in Peer:
            self.reads(peer, None)
            check(not self.unread[peer], f"{peer.value} was left with {self.unread[peer]!r}")
            check(self.session.outbox[peer].own == 0, f"ours wait for {peer.value}")
        waits = self.model.waits()
        check(not waits, f"these still wait: {waits}")


def talk(dialect: Dialect) -> Any:
    """The machine in one dialect."""

    class InDialect(Conversation):
        @initialize(policy=policies(dialect))
        def begins(self, policy: Policy) -> None:
            """The switches of this conversation."""
            self.begin(policy)

    InDialect.dialect = dialect
    InDialect.TestCase.settings = SETTINGS
    return InDialect.TestCase


TestMcp, TestLsp, TestBsp = talk(MCP), talk(LSP), talk(BSP)
TestAcp, TestJsonRpc, TestCustom = talk(ACP), talk(JSONRPC), talk(CUSTOM)
