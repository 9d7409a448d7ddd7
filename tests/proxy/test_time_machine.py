"""Whatever happens in whatever order: nobody is answered twice, and nobody waits for ever.

A client and a server ask, cancel, answer and report progress under few ids, in any chunks, while
time passes and either may not be reading.  The model knows nothing of states: it attributes every
answer that is heard to the use that it is for (the work that it names, or for one of ours the
newest use of the id) and counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
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
from proxy.messages import OWED
from proxy.searching import search

SETTINGS = search(150, 40)
IDS = (1, 2, "a")
LONG = 300
"""Bytes; longer messages are sent on while they arrive, where that is set."""
FOR_EVER = 200.0
EVERYTHING = 1 << 30
PEERS = st.sampled_from(Peer)


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
        self.now = 0.0
        self.work = 0
        self.asked: list[Asked] = []
        self.heard = dict.fromkeys(Peer, b"")
        self.begun = dict.fromkeys(Peer, 0)
        """How much had been asked when the line that is half read was begun."""
        self.task_cancels: list[tuple[Peer, int | str]] = []
        self.notes: list[Note] = []

    # ------------------------------------------------------------------ what is said

    def speak(self, peer: Peer, bodies: list[bytes], cuts: list[int], *, batch: bool) -> None:
        """In one chunk, or cut where it happens to be; an overlong batch could not be judged."""
        batch = batch and self.policy.max_message > LONG
        data = say.batch(*bodies) + b"\n" if batch else b"".join(b + b"\n" for b in bodies)
        places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
        for start, stop in pairwise(places):
            self.session.receive_data(peer, data[start:stop], self.now)
            self.note()

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
        self.work += 1
        before = self.newest(peer, name)
        group = Group()
        if before is not None and self.in_flight(before):
            group = before.group
        group.size += 1
        self.asked.append(Asked(peer, name, self.work, group))
        token = self.work if self.work % 2 else None
        return say.call(name, token, work=self.work, dialect=self.dialect)

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

    def cancel(self, peer: Peer, name: int | str) -> bytes:
        use = self.newest(peer, name)
        if use is not None and use.group.size == 1 and not use.answered_in_time:
            use.cancelled = True
        elif use is not None and use.answered_in_time and not self.dialect.answer_owed:
            use.cancelled = True  # the answer may still be taken out of the queue
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
        open_to = [
            use
            for use in self.asked
            if use.issuer is peer.other
            and use.wire is not None
            and (not use.answers or (again and self.may_repeat(use)))
        ]
        if not open_to:
            return
        use = open_to[-1 - pick % len(open_to)]
        over = use.cancelled or use.given_up
        use.repeats = over and use.group.size == 1
        use.answers += 1
        use.group.said += 1
        use.answered_in_time |= not over
        if use.answers > 1 and how == "task":
            how = "answer"  # every task is handed over, for each would be orphaned
        self.speak(peer, [self.answer(use, how)], cuts, batch=batch)

    def may_repeat(self, use: Asked) -> bool:
        """Whether a further answer is told from one to a newer use: by its id, or there is none."""
        newest = self.newest(use.issuer, use.id) is use
        return use.repeats and (newest or not self.dialect.answer_owed)

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
        known = [use for use in self.asked if use.issuer is peer.other and use.wire is not None]
        if known:
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
        if not self.heard[peer]:
            self.begun[peer] = self.work
        *lines, self.heard[peer] = (self.heard[peer] + data).split(b"\n")
        for line in lines:
            if line:
                message = json.loads(line)
                for one in message if isinstance(message, list) else [message]:
                    self.hear(peer, one)
            self.begun[peer] = self.work

    def hear(self, peer: Peer, message: dict[str, Any]) -> None:
        """A peer hears one message."""
        match message:
            case {"method": "tasks/cancel", "id": wire}:
                self.task_cancels.append((peer, wire))
            case {"method": "tools/call", "id": wire, "params": {"name": work}}:
                self.asked[work - 1].wire = wire
            case {"result": {"of": work}}:
                self.hear_answer(self.asked[work - 1], peer, message)
            case {"error": {"data": {"answeredBy": "nevermind"}}}:
                use = self.newest(peer, message["id"], self.begun[peer])
                assert use is not None
                assert use.cancelled or use.given_up or use.group.size > 1
                self.hear_answer(use, peer, message)
            case {"error": {"message": work}}:
                self.hear_answer(self.asked[int(work) - 1], peer, message)

    def hear_answer(self, use: Asked, peer: Peer, message: dict[str, Any]) -> None:
        """It is for the issuer, under the id that it knows, and there is only one."""
        assert use.issuer is peer
        assert use.id == message["id"], f"{use} heard {message}"
        use.group.heard += 1
        assert use.group.heard <= use.group.size, f"answered twice: {message}"

    def note(self) -> None:
        """The notes say whom the session gave up on, or answered itself."""
        for note in self.session.take_notes():
            if isinstance(note, Note) and note.event in (Event.TIMEOUT, Event.ANSWER):
                use = self.given_up(note)
                use.given_up = True
                use.group.said += 1

    def given_up(self, note: Note) -> Asked:
        """The use that the note is about: the id may have been used again in the same chunk."""
        answered = note.event is Event.ANSWER
        for use in reversed(self.asked):
            mine = (use.issuer, use.id) == (note.issuer, note.id) and not use.given_up
            if mine and (use.cancelled or not answered or use.group.size > 1):
                return use
        raise AssertionError(f"nobody waits for this: {note}")

    def newest(self, peer: Peer, name: int | str, most: int = EVERYTHING) -> Asked | None:
        """What an issuer means by an id, the first ``most`` uses of all considered."""
        for use in reversed(self.asked[:most]):
            if use.issuer is peer and use.id == name:
                return use
        return None

    # ------------------------------------------------------------------ the end

    def teardown(self) -> None:
        """Everything is read, and all the time in the world passes: who still waits?"""
        if not hasattr(self, "session"):
            return
        for peer in Peer:
            self.reads(peer, None)
        self.time_passes(FOR_EVER)
        for peer in Peer:
            self.reads(peer, None)
            assert self.heard[peer] == b""
            assert self.session.outbox[peer].own == 0
        for peer in Peer:
            for name in IDS:
                use = self.newest(peer, name)
                if use is not None and use.group.size == 1 and self.is_certain(use):
                    assert use.group.heard == 1, f"{use} still waits"

    def is_certain(self, use: Asked) -> bool:
        """Whether the newest use of an id must have had its answer by now."""
        if use.cancelled and not (use.answered_in_time and self.dialect.answer_owed):
            return self.policy.answer_cancelled is not None
        timed = use.issuer is Peer.CLIENT and self.policy.timeout is not None
        return use.answered_in_time or timed


class McpConversation(Conversation):
    """Where a cancelled request stays unanswered."""

    @initialize(policy=policies(MCP))
    def begins(self, policy: Policy) -> None:
        """The switches of this conversation."""
        self.begin(policy)


class OwedConversation(Conversation):
    """Where a cancelled request is still owed an answer."""

    dialect = OWED

    @initialize(policy=policies(OWED))
    def begins(self, policy: Policy) -> None:
        """The switches of this conversation."""
        self.begin(policy)


TestMcp = McpConversation.TestCase
TestMcp.settings = SETTINGS
TestOwed = OwedConversation.TestCase
TestOwed.settings = SETTINGS
