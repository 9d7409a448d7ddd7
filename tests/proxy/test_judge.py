"""One message, one verdict: what goes on, what is held back, element by element in arrays."""

from __future__ import annotations

import pytest

from nevermind.envelopes import Batch, Request, Response
from nevermind.notes import What
from nevermind.peers import Peer
from proxy.bench import Bench, cancelled
from proxy.messages import answer, batch, call, cancel, error, listen, note, progress, update
from proxy.wire import CLIENT, SERVER


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
