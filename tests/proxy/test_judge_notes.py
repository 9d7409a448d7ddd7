"""What is told of a message: one note per cancel, drop and fresh id, never a payload."""

from __future__ import annotations

import pytest

from nevermind.envelopes import Response
from nevermind.notes import Diverted, Event, Note, What
from nevermind.policy import Policy
from proxy.bench import Bench, cancelled
from proxy.messages import DEEP, answer, call, cancel, error, progress
from proxy.wire import CLIENT, SERVER


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
