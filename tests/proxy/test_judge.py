"""One message, one verdict: what goes on, what is held back, what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from nevermind.dialects import MCP
from nevermind.envelopes import Batch, Request, Response
from nevermind.judge import Judge
from nevermind.notes import Diverted, Event, Note, What
from nevermind.outbox import Outbox
from nevermind.peers import Peer
from nevermind.policy import IdReuse, LateResponse, Policy
from nevermind.scanning import SCAN_LIMIT
from proxy.messages import (
    OWED,
    answer,
    batch,
    call,
    cancel,
    error,
    listen,
    note,
    progress,
    task,
    update,
)

CLIENT, SERVER = Peer.CLIENT, Peer.SERVER
DEEP = b"[" * 5000 + b"]" * 5000


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


class TestForwarding:
    """What passes is the very object that came: nothing was copied or written anew."""

    @pytest.mark.parametrize(
        "body",
        [call(1), answer(1), error(1), cancel(1), progress("t"), note(), b"noise", b"", b"[]"],
    )
    def test_the_same_bytes(self, body: bytes) -> None:
        """From either peer."""
        for peer in Peer:
            bench = Bench()
            assert bench.judge.message(peer, body, 0.0) is body
            assert bench.judge.forwarded == 1
            assert not bench.judge.dropped

    def test_translated(self) -> None:
        """Other bytes at the id, and only there."""
        bench = cancelled()
        out = bench.client(call(7))
        assert out is not None
        [wire] = bench.judge.ledger.books[CLIENT].requests.live
        assert isinstance(wire, int)
        assert out == call(wire)
        assert bench.server(answer(wire)) == answer(7)

    def test_an_envelope_that_is_known_already(self) -> None:
        """It is not looked at again."""
        bench = Bench()
        body = call(1)
        assert bench.judge.enveloped(CLIENT, Request(2, "x"), body, 0.0) is body
        assert 2 in bench.judge.ledger.books[CLIENT].requests.plain

    def test_either_look(self) -> None:
        """The careful one takes over where the quick one is not sure."""
        judge = Bench().judge
        assert judge.look(b'{"id":1,"result":{}}') == Response(1)
        assert judge.look(b'{"id":1,"result":NaN}') == Response(1, scanned=True)
        assert isinstance(judge.look(b'[{"id":1}]'), Batch)


class TestNotes:
    """What people see: one note per cancel, drop and fresh id; never a payload."""

    def test_of_a_cancel(self) -> None:
        """With its reason."""
        bench = Bench()
        bench.client(call(b'"a\\ud800"'))
        bench.now = 2.0
        body = cancel(b'"a\\ud800"', "no longer needed")
        bench.client(body)
        assert bench.note() == Note(
            event=Event.CANCEL,
            issuer=CLIENT,
            id="a\ud800",
            method="tools/call",
            since_request_s=2.0,
            since_cancel_s=None,
            bytes=len(body),
            reason="no longer needed",
        )

    @pytest.mark.parametrize("reason", [b"null", b"7", b'{"a":1}', b'"\xff"', DEEP])
    def test_of_a_cancel_whose_reason_is_none(self, reason: bytes) -> None:
        """Only text is told."""
        bench = Bench()
        bench.client(call(7))
        bench.client(cancel(7)[:-2] + b',"reason":%b}}' % reason)
        assert bench.note().reason is None

    def test_of_a_late_answer(self) -> None:
        """How late, how large, and what it was."""
        bench = cancelled()
        body = error(7)
        assert bench.server(body) is None
        assert bench.note() == Note(
            event=Event.DROP,
            what=What.LATE_RESPONSE,
            issuer=CLIENT,
            id=7,
            method="tools/call",
            since_request_s=3.5,
            since_cancel_s=2.5,
            bytes=len(body),
            outcome="error",
            why="the request was cancelled",
        )
        bench.server(answer(7))
        assert bench.note().outcome == "result"
        assert bench.judge.dropped == {What.LATE_RESPONSE: 2}
        assert bench.judge.forwarded == 2

    def test_of_late_progress(self) -> None:
        """Its id is the token."""
        bench = cancelled()
        assert bench.server(progress("t")) is None
        found = bench.note()
        assert (found.what, found.id, found.outcome) == (What.LATE_PROGRESS, "t", None)

    def test_of_stale_progress(self) -> None:
        """It names the request that was answered."""
        bench = Bench()
        bench.client(call(7, token="t"))
        bench.server(answer(7))
        bench.now = 2.0
        assert bench.server(progress("t")) is None
        found = bench.note()
        assert (found.what, found.method) == (What.STALE_PROGRESS, "tools/call")
        assert (found.since_request_s, found.since_cancel_s) == (2.0, None)

    def test_of_a_repeated_cancel(self) -> None:
        """By the client about its own request."""
        bench = cancelled()
        assert bench.client(cancel(7)) is None
        found = bench.note()
        assert (found.what, found.issuer, found.id) == (What.REDUNDANT_CANCEL, CLIENT, 7)

    def test_of_an_unknown_answer(self) -> None:
        """There is nothing more to tell."""
        bench = Bench(Policy(shield=True))
        assert bench.server(error(b"null")) is None
        found = bench.note()
        assert (found.what, found.id, found.method) == (What.UNASKED_ANSWER, None, None)
        assert found.since_request_s is None

    def test_of_a_fresh_id(self) -> None:
        """It is the issuer's own that is told."""
        bench = cancelled()
        bench.client(call(7))
        found = bench.note()
        assert (found.event, found.id, found.issuer) == (Event.ALIAS, 7, CLIENT)

    def test_of_a_huge_id(self) -> None:
        """As short as it was."""
        bench = Bench()
        bench.client(call(b"-12e5000"))
        bench.client(cancel(b"-12e5000"))
        assert bench.note().id == "-12e5000"

    def test_of_what_was_not_tracked(self) -> None:
        """From there on nothing that has ended is certain."""
        bench = cancelled()
        bench.client(b'{"something":"else"}')
        found = bench.note()
        assert (found.event, found.issuer) == (Event.FORGET, CLIENT)
        assert bench.server(answer(7)) == answer(7)

    def test_of_one_request_too_many(self) -> None:
        """It says why."""
        bench = Bench(Policy(live_limit=1))
        bench.client(call(1))
        bench.client(call(2))
        assert "more requests in flight" in (bench.note().why or "")

    def test_of_noise(self) -> None:
        """And the noise itself, where it goes to stderr."""
        bench = Bench()
        bench.judge.divert(b"listening\n", aside=True)
        told, line = bench.judge.notes
        assert isinstance(told, Note)
        assert (told.what, told.bytes) == (What.NOISE, 10)
        assert line == Diverted(b"listening\n")
        bench.judge.notes.clear()
        bench.judge.divert(b"listening\n", aside=False)
        bench.note()
        assert bench.judge.dropped == {What.NOISE: 2}

    def test_of_half_a_message(self) -> None:
        """Its size is known all the same."""
        bench = cancelled()
        envelope = Response(7)
        verdict = bench.judge.rule(SERVER, envelope, b"", 3.5)
        bench.judge.drop(SERVER, envelope, verdict, b"", 3.5, size=10**9)
        assert bench.note().bytes == 10**9


class TestCertainty:
    """The last doubt before a drop."""

    @pytest.mark.parametrize(
        "late",
        [
            b'{"id":7,"result":{},"id":7}',
            b'{"id":7,"result":{},"result":{}}',
            b'{"id":7,"error":{},"error":{}}',
            b'{"method":null,"id":7,"result":{},"method":null}',
            b'{"id":8,"id":7,"result":{}}',
        ],
    )
    def test_a_repeated_key(self, late: bytes) -> None:
        """Another parser may read another message."""
        assert cancelled().server(late) is late

    def test_a_repeated_key_that_nobody_reads(self) -> None:
        """It makes no difference."""
        assert cancelled().server(b'{"x":1,"id":7,"result":{"task":1,"a":1,"a":2},"x":2}') is None

    def test_a_repeated_key_that_may_make_it_a_task(self) -> None:
        """For some reader it does."""
        twice = b'{"id":7,"result":{"resultType":"task","resultType":"complete"}}'
        assert cancelled().server(twice) is twice
        inside = b'{"id":7,"result":{"task":{"taskId":"t","taskId":1}}}'
        assert cancelled().server(inside) is inside

    def test_repeated_keys_in_cancels_and_progress(self) -> None:
        """The id, the token, and the way to them."""
        bench = cancelled()
        again = b'{"method":"notifications/cancelled","params":{"requestId":7,"requestId":7}}'
        assert bench.client(again) is again
        late = b'{"method":"notifications/progress","params":{},"params":{"progressToken":"t"}}'
        assert bench.server(late) is late

    @pytest.mark.parametrize("oddity", [b"NaN", b"1e", b'"\\ud800"', b'"\xff"', b'"\x01"'])
    def test_a_result_that_only_the_scan_can_read(self, oddity: bytes) -> None:
        """It is late, and dropped."""
        assert cancelled().server(b'{"id":7,"result":{"x":%b}}' % oddity) is None

    @pytest.mark.parametrize("oddity", [b"1e", b'"\x01"', b"nil"])
    def test_one_that_mentions_a_task(self, oddity: bytes) -> None:
        """Nobody could read it: it may create one."""
        body = b'{"id":7,"result":{"x":%b,"y":"task"}}' % oddity
        assert cancelled().server(body) is body

    @pytest.mark.parametrize("oddity", [b"NaN", b'"\\ud800"'])
    def test_one_that_mentions_a_task_and_can_be_read(self, oddity: bytes) -> None:
        """By the standard library or orjson: it creates none."""
        assert cancelled().server(b'{"id":7,"result":{"x":%b,"y":"task"}}' % oddity) is None
        body = b'{"id":7,"result":{"x":%b,"resultType":"\\u0074ask"}}' % oddity
        assert cancelled().server(body) is body

    def test_one_that_is_too_deep(self) -> None:
        """For every reader."""
        deep = b"[" * 100_000 + b"]" * 100_000
        assert cancelled().server(b'{"id":7,"result":%b}' % deep) is None
        body = b'{"id":7,"result":{"x":%b,"y":"task"}}' % deep
        assert cancelled().server(body) is body

    def test_one_that_orjson_reads(self) -> None:
        """An escaped surrogate pair in a key, say, or an error that mentions tasks."""
        body = b'{"id":7,"error":{"message":"no task","data":%b}}' % (b"[" * 500 + b"]" * 500)
        assert cancelled().server(body) is None

    def test_a_huge_one_that_only_the_scan_could_read(self) -> None:
        """It is not read to its end, so not certain."""
        body = b'{"id":7,"result":{"x":NaN,"id":"%b"}}' % (b"y" * SCAN_LIMIT)
        assert cancelled().server(body) is body


class TestBatches:
    """Arrays, element by element."""

    def test_nothing_changes(self) -> None:
        """Then it is the very same."""
        bench = Bench()
        body = b" [ %b , %b ]\r" % (call(1), note())
        assert bench.client(body) is body
        assert bench.judge.forwarded == 2

    def test_some_are_dropped(self) -> None:
        """What stays keeps its bytes."""
        bench = cancelled()
        body = b" [ %b , %b,\t%b ] " % (answer(7), answer(8), note())
        assert bench.server(body) == b" [ %b,%b ] " % (answer(8), note())
        body = batch(note(1), answer(7), answer(7))
        assert bench.server(body) == batch(note(1))

    def test_all_are_dropped(self) -> None:
        """Nothing is sent, never an empty array."""
        bench = cancelled()
        assert bench.server(batch(answer(7), progress("t"))) is None
        assert bench.judge.dropped == {What.LATE_RESPONSE: 1, What.LATE_PROGRESS: 1}

    def test_some_are_translated(self) -> None:
        """In their place."""
        bench = cancelled()
        out = bench.client(batch(note(1), call(7), note(2)))
        assert out is not None
        assert out.startswith(b"[" + note(1) + b",")
        assert out.endswith(b"," + note(2) + b"]")
        assert call(7) not in out

    def test_from_left_to_right(self) -> None:
        """A cancel in an array comes after what stands before it."""
        bench = Bench()
        body = batch(call(1), cancel(1), cancel(1))
        assert bench.client(body) == batch(call(1), cancel(1))

    def test_an_element_that_cannot_be_read(self) -> None:
        """It is kept raw."""
        bench = cancelled()
        body = batch(b'{"id" 7}', answer(7))
        assert bench.server(body) == batch(b'{"id" 7}')

    def test_with_something_else_in_it(self) -> None:
        """It passes untouched, but it may have asked."""
        bench = cancelled()
        body = batch(answer(7), b"1")
        assert bench.server(body) is body
        assert bench.judge.ledger.books[SERVER].unsure


class TestTakingBack:
    """A redundant cancel asks for the answer that may still wait."""

    def test_at_once(self) -> None:
        """Before the next message is judged."""
        bench = Bench()
        bench.client(call(7))
        bench.server(answer(7))
        assert bench.client(batch(cancel(7), call(8))) == batch(call(8))
        assert bench.taken_back == [(CLIENT, 7)]

    def test_an_answer_that_was_taken_back(self) -> None:
        """It was never forwarded, after all."""
        bench = Bench()
        bench.client(call(7))
        bench.server(answer(7))
        assert bench.judge.forwarded == 2
        bench.judge.retract(CLIENT, 7, Response(7), answer(7), 1.0)
        assert bench.judge.forwarded == 1
        assert bench.judge.dropped == {What.LATE_RESPONSE: 1}
        assert "waited in our queue" in (bench.note().why or "")


class TestSubscriptions:
    """Notifications of a subscription whose listen goes under a fresh id."""

    def test_translated_back(self) -> None:
        """Into the id that the client knows."""
        bench = Bench()
        bench.client(listen("s"))
        bench.client(cancel("s"))
        out = bench.client(listen("s"))
        assert out is not None
        [wire] = bench.judge.ledger.books[CLIENT].requests.live
        assert isinstance(wire, str)
        assert bench.server(update(wire)) == update("s")


class TestOurOwnMessages:
    """Where the switches tell us to say something: see ``authoring``."""

    def test_a_clock_for_each_request(self) -> None:
        """Which progress starts again."""
        bench = Bench(Policy(timeout=10.0))
        bench.client(call(7, token="t"))
        assert bench.judge.author.deadlines.next() == 10.0
        bench.now = 4.0
        bench.server(progress("t"))
        bench.server(progress(b"null"))
        assert bench.judge.author.deadlines.next() == 14.0

    def test_an_answer_in_the_servers_place(self) -> None:
        """Then its own is dropped, whatever it creates."""
        bench = cancelled(Policy(answer_cancelled=1.0))
        bench.judge.author.overdue(3.5)
        assert b"-32800" in bench.said(CLIENT)
        assert bench.server(task(7)) is None
        assert bench.judge.dropped == {What.LATE_RESPONSE: 1}

    def test_an_answer_that_comes_first(self) -> None:
        """Ours is not given then."""
        bench = cancelled(Policy(answer_cancelled=1.0, late_response=LateResponse.FIRST))
        assert bench.server(answer(7)) == answer(7)
        bench.judge.author.overdue(3.5)
        assert bench.said(CLIENT) == b""

    def test_an_answer_that_is_let_through_for_doubt(self) -> None:
        """It was to be dropped, and might create a task: then its token lives on."""
        bench = cancelled(Policy(reap_tasks=True))
        doubtful = task(7)[:-1] + b',"id":7}'
        assert bench.server(doubtful) is doubtful
        assert bench.server(progress("t")) == progress("t")

    def test_an_answer_that_is_taken_back(self) -> None:
        """It counts as cancelled now."""
        bench = Bench(Policy(answer_cancelled=1.0))
        bench.client(call(7))
        bench.server(answer(7))
        bench.judge.retract(CLIENT, 7, Response(7), answer(7), 2.0)
        assert bench.judge.author.deadlines.next() == 3.0

    def test_a_new_use_of_an_id(self) -> None:
        """It revokes ours for the old one."""
        bench = cancelled(Policy(answer_cancelled=1.0, id_reuse=IdReuse.FORWARD))
        bench.judge.author.overdue(3.5)
        bench.client(call(7))
        assert bench.said(CLIENT) == b""

    def test_a_task_that_nobody_wants(self) -> None:
        """It is cancelled, and the answer to that is ours."""
        bench = cancelled(Policy(reap_tasks=True))
        assert bench.server(task(7)) is None
        assert b'"tasks/cancel"' in bench.said(SERVER)
        [own] = bench.judge.ledger.books[CLIENT].own.young
        assert isinstance(own, int)
        assert bench.server(answer(own)) is None
        assert bench.judge.dropped == {What.LATE_RESPONSE: 1, What.SWALLOWED_ANSWER: 1}

    def test_what_has_nothing_to_do_with_it(self) -> None:
        """A cancel of somebody's, an answer to nobody."""
        bench = Bench(Policy(answer_cancelled=10.0))
        assert bench.client(cancel(9)) == cancel(9)
        assert bench.server(answer(9)) == answer(9)
        assert bench.said(CLIENT) == b""

    def test_an_id_that_cannot_be_tracked(self) -> None:
        """It has no clock."""
        bench = Bench(Policy(timeout=10.0))
        bench.client(call(b"null"))
        assert bench.judge.author.deadlines.next() is None


def test_where_there_are_no_tasks_nothing_is_in_doubt() -> None:
    """A dialect without them does not look for them."""
    judge = Judge(Policy(late_response=LateResponse.DROP), OWED, "5eed")
    judge.message(CLIENT, call(7, dialect=OWED), 0.0)
    judge.message(CLIENT, cancel(7, dialect=OWED), 0.0)
    assert judge.message(SERVER, b'{"id":7,"result":{"x":1e,"y":"task"}}', 0.0) is None
