"""Blocks of lines at once: what is judged so, and what goes back to be judged with care."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nevermind.blocks import Blocks
from nevermind.dialects import MCP
from nevermind.ids import spell
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Policy
from proxy.court import Court
from proxy.messages import answer, batch, call, cancel, error, initialize, note, progress, task
from proxy.wire import CLIENT, SERVER


class TestFastWay:
    """What is judged at once, and what goes back to be judged with care."""

    def judged(self, court: Court, sender: Peer, *lines: bytes) -> bytes | None:
        """What goes on of these lines; None if they are not for the fast look."""
        block = b"".join(line + b"\n" for line in lines)
        out = Blocks(court.judge, sender).judge(block, 0.0)
        assert out is None or out is block or out != block, "what passes is not copied"
        return out

    def asked(self, *ids: int | str) -> Court:
        """A court before which the client has asked about these ids."""
        court = Court()
        for one in ids:
            court.client(call(one))
        return court

    def lines(self, *lines: bytes) -> bytes:
        """These lines, as they are."""
        return b"".join(line + b"\n" for line in lines)

    @pytest.mark.parametrize("lines", [(call(1),), (call(1), call("a"), note())])
    def test_plain_requests(self, lines: tuple[bytes, ...]) -> None:
        """They are tracked, and pass as the block that they were."""
        court = Court()
        assert self.judged(court, CLIENT, *lines) == self.lines(*lines)
        assert court.record(1) == (0.0, "tools/call")
        assert court.judge.forwarded == len(lines)

    def test_requests_of_several_methods(self) -> None:
        """Each keeps its own."""
        court = Court()
        self.judged(court, CLIENT, call(1), initialize(2), note(), note())
        assert court.record(1) == (0.0, "tools/call")
        assert court.record(2) == (0.0, "initialize")
        assert court.judge.forwarded == 4

    @pytest.mark.parametrize(
        "lines", [(answer(1, {}),), (answer(1, {}), error(2), answer("a", None))]
    )
    def test_plain_answers(self, lines: tuple[bytes, ...]) -> None:
        """They retire their requests."""
        court = self.asked(1, 2, "a")
        before = court.judge.forwarded
        assert self.judged(court, SERVER, *lines) == self.lines(*lines)
        assert court.state(1) is State.ANSWERED
        assert court.judge.forwarded - before == len(lines)

    def test_a_late_answer_among_others(self) -> None:
        """It goes, they stay."""
        court = self.asked(1, 2, 3)
        court.client(cancel(2))
        lines = (answer(1, {}), answer(2, {}), answer(3, {}), answer(9, {}))
        assert self.judged(court, SERVER, *lines) == self.lines(lines[0], lines[2], lines[3])
        assert court.judge.dropped == {What.LATE_RESPONSE: 1}

    def test_a_late_answer_by_itself(self) -> None:
        """Nothing goes on."""
        court = self.asked(1)
        court.client(cancel(1))
        assert self.judged(court, SERVER, answer(1, {})) == b""
        assert self.judged(court, SERVER, answer(1, {}), answer(1, {})) == b""

    def test_answers_that_nobody_waits_for(self) -> None:
        """They pass, with those that somebody does."""
        court = self.asked(1)
        lines = (answer(8, {}), answer(1, {}), answer(9, {}))
        assert self.judged(court, SERVER, *lines) == self.lines(*lines)

    def test_a_cancel_among_requests(self) -> None:
        """Line by line, in order."""
        court = Court()
        lines = (call(1), cancel(1), cancel(1), call(2))
        assert self.judged(court, CLIENT, *lines) == self.lines(call(1), cancel(1), call(2))
        assert court.state(1) is State.TOMBSTONE
        assert court.state(2) is State.IN_FLIGHT

    def test_a_line_that_changes(self) -> None:
        """It is put in its place."""
        court = self.asked(1)
        court.client(cancel(1))
        out = self.judged(court, CLIENT, note(1), call(1), note(2))
        wire = spell(court.alias(1).wire)
        assert out == self.lines(note(1), call(wire), note(2))
        assert self.judged(court, CLIENT, call(1)) == self.lines(call(wire))

    def test_every_line_changes(self) -> None:
        """Once fresh ids are about nothing is plain."""
        court = self.asked(1)
        court.client(cancel(1))
        court.client(call(1))
        assert self.judged(court, CLIENT, call(5)) == self.lines(call(5))
        assert self.judged(court, CLIENT, call(6), call(7)) == self.lines(call(6), call(7))
        assert court.state(7) is State.IN_FLIGHT

    @pytest.mark.parametrize(
        "line",
        [
            call(1),
            call(5, token="t"),
            call(b"null"),
            cancel(1),
            progress("t"),
            answer(9, {}),
            task(1),
            b'{"id":5,"method":"x","result":{}}',
            b'{"id":5,"method":null}',
            b'{"id":5}',
            b'{"id":3}',
            error(3),
            task(3),
            b'{"id":5,"method":"x","error":null}',
        ],
    )
    @pytest.mark.parametrize("sender", list(Peer))
    def test_what_is_not_so_plain(self, sender: Peer, line: bytes) -> None:
        """By itself, and among plain ones: it is judged with the look that was taken."""
        for around in ((), (note(1),), (call(6), note(2))):
            fast, careful = self.asked(1, 3), self.asked(1, 3)
            for court in (fast, careful):
                court.server(call(2))
                court.client(cancel(1))
            out = self.judged(fast, sender, *around, line, *around[:1])
            expected = b""
            for one in (*around, line, *around[:1]):
                kept = careful.judge.message(sender, one, 0.0)
                expected += b"" if kept is None else kept + b"\n"
            assert out == expected
            assert fast.judge.notes == careful.judge.notes
            assert fast.judge.forwarded == careful.judge.forwarded

    def test_the_bound_on_live_requests(self) -> None:
        """What is beyond it passes untracked."""
        court = Court(Policy(live_limit=3))
        assert self.judged(court, CLIENT, call(1), call(2)) is not None
        assert self.judged(court, CLIENT, call(3), call(4)) == self.lines(call(3), call(4))
        assert court.books().requests.live_count() == 3
        assert self.judged(court, CLIENT, call(5)) == self.lines(call(5))
        assert court.state(5) is State.ABSENT

    def test_twice_the_same_id(self) -> None:
        """In one block: it is ambiguous, or answered twice."""
        court = Court()
        assert self.judged(court, CLIENT, call(1), call(1), note()) is not None
        assert court.state(1) is State.AMBIGUOUS
        court = self.asked(1)
        lines = (answer(1, {}), answer(1, {}))
        assert self.judged(court, SERVER, *lines) == self.lines(*lines)
        assert court.state(1) is State.ANSWERED

    def test_both_types_of_an_id(self) -> None:
        """``"7"`` may mean ``7``: the order matters."""
        for lines in ((answer("1", {}), answer(1, {})), (answer(1, {}), answer("1", {}))):
            court = self.asked(1)
            court.client(call("1"))
            court.client(cancel("1"))
            careful = self.asked(1)
            careful.client(call("1"))
            careful.client(cancel("1"))
            expected = b""
            for one in lines:
                kept = careful.judge.message(SERVER, one, 0.0)
                expected += b"" if kept is None else kept + b"\n"
            assert self.judged(court, SERVER, *lines) == expected

    @pytest.mark.parametrize(
        "lines",
        [
            (b"listening",),
            (b"listening", call(5)),
            (call(b"7.5"), call(5)),
            (batch(call(5)),),
            (batch(call(5)), call(6)),
            (b"",),
            (b"", b""),
            (answer(1, "text"),),
            (call(5), b"", note()),
            (call(5), b" " + call(6), b""),
            (call(5) + b" " + call(6), note()),
            (b'{"id":5,', b'"method":"x"}'),
            (b'{"id":5,"method":"x"},{"id":6,"method":"x"}', note()),
            (b'{"id":5,"method":"x"}],[{"id":6,"method":"x"}', note()),
            (b'{"id":5,"method":"', b'"}', note()),
            (b'{"id":5,"method":"x","params":[]}',),
        ],
    )
    @pytest.mark.parametrize("sender", list(Peer))
    def test_what_goes_back(self, sender: Peer, lines: tuple[bytes, ...]) -> None:
        """Untouched, for the careful look."""
        court = self.asked(1)
        assert self.judged(court, sender, *lines) is None
        assert court.state(5, sender) is State.ABSENT
        assert not court.judge.notes

    @pytest.mark.parametrize(
        "late",
        [
            (answer(1, {}) + b" " + answer(2, {}), answer(3, {}), b""),
            (b"", answer(1, {}) + answer(2, {}), answer(3, {})),
            (answer(1, {}) + note(), b'{"id":2,', b'"result":{}}'),
        ],
    )
    def test_lines_that_hold_two_objects_or_none(self, late: tuple[bytes, ...]) -> None:
        """Which line is which can't be told by counting: nothing is dropped by mistake."""
        court = self.asked(1, 2, 3)
        court.client(cancel(2))
        assert self.judged(court, SERVER, *late) is None
        assert court.state(1) is State.IN_FLIGHT

    def test_lines_that_are_something_else_together(self) -> None:
        """Which of them is late can't be told by counting: each is looked at by itself."""
        broken = (b'{"id":1,"result":{"x":[[1', b"2]]}}")
        for lines in (
            (*broken, answer(3, {}) + b"],[" + answer(2, {})),
            (answer(2, {}) + b"],[" + answer(3, {}), *broken),
        ):
            court = self.asked(1, 2, 3)
            court.client(cancel(2))
            assert self.judged(court, SERVER, *lines) == self.lines(*lines)
            assert not court.judge.dropped

    def test_requests_with_a_clock(self) -> None:
        """They have a record of their own; the others do not."""
        court = Court(Policy(timeouts={"tools/call": 5.0}))
        self.judged(court, CLIENT, call(1), initialize(2))
        self.judged(court, CLIENT, call(3))
        assert court.judge.author.deadlines.next() == 5.0
        assert court.record(2) == (0.0, "initialize")
        court = Court(Policy(timeout=5.0))
        self.judged(court, CLIENT, call(1), call(2))
        assert not court.books().requests.plain

    def test_where_there_are_no_tokens_and_tasks(self) -> None:
        """Everything is plain."""
        court = Court(dialect=replace(MCP, request_tokens=(), creates_tasks=False))
        assert self.judged(court, CLIENT, call(1, token="t")) is not None
        assert court.record(1) == (0.0, "tools/call")
        assert self.judged(court, SERVER, task(1)) == self.lines(task(1))
        assert court.state(1) is State.ANSWERED
