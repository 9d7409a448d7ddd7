"""The quick look tells the same as the careful one, of everything that it does not refuse."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nevermind.dialects import MCP, Dialect
from nevermind.envelopes import (
    UNDERSTANDABLE,
    Cancel,
    Envelope,
    Notification,
    Progress,
    Request,
    Response,
    look,
)
from nevermind.quicklook import REFUSALS, QuickLook
from proxy.messages import OWED, PLAIN, answer, call, cancel, error, note, progress, task, update
from proxy.texts import messages

DIALECTS: list[Dialect] = [
    MCP,
    OWED,
    PLAIN,
    Dialect(
        name="odd names",
        cancel_method="stop",
        cancel_id=("id-to stop",),
        progress_method="$/progress",
        progress_token=("params", "token"),
        request_tokens=(("params", "token"), ("class",)),
        subscription_id=("params", "_meta", "x"),
    ),
]
LOOKS = {dialect.name: QuickLook(dialect) for dialect in DIALECTS}
in_all_dialects = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


def glimpse(body: bytes, dialect: Dialect = MCP) -> Envelope | None:
    """What the quick look tells of ``body``; None where it refuses."""
    quick = LOOKS[dialect.name]
    try:
        return quick.envelope(quick.one(body))
    except REFUSALS:
        return None


def questions(*lines: bytes, dialect: Dialect = MCP) -> int | None:
    """How many questions there are in these lines, None where they are something else too."""
    try:
        return len(LOOKS[dialect.name].questions(b"".join(line + b"\n" for line in lines)))
    except REFUSALS:
        return None


def answers(*lines: bytes, dialect: Dialect = MCP) -> int | None:
    """How many answers there are in these lines, None where they are something else too."""
    try:
        return len(LOOKS[dialect.name].answers(b"".join(line + b"\n" for line in lines)))
    except REFUSALS:
        return None


class TestOne:
    """A message by itself."""

    @settings(max_examples=100)
    @given(dialect=st.sampled_from(DIALECTS), body=messages())
    def test_any_message(self, dialect: Dialect, body: bytes) -> None:
        """Is told as the careful look tells it."""
        assert glimpse(body, dialect) in (None, look(body, dialect))

    @pytest.mark.parametrize(
        ("body", "envelope"),
        [
            (call(7), Request(7, "tools/call")),
            (call("7", token="t"), Request("7", "tools/call", ("t",))),
            (call(7, token=b"null"), Request(7, "tools/call")),
            (call(b"null"), Request(None, "tools/call")),
            (cancel(7), Cancel(7)),
            (cancel(b"null"), Cancel(None)),
            (b'{"method":"notifications/cancelled"}', Cancel(None)),
            (progress("t"), Progress("t")),
            (note(), Notification("notifications/message")),
            (update("s"), Notification("notifications/tools/list_changed", "s")),
            (answer(7, {"x": 1}), Response(7)),
            (answer(7, None), Response(7)),
            (answer(b"null", {}), Response(None, anonymous=True)),
            (error(7), Response(7, is_error=True)),
            (b'{"error":null,"id":7}', Response(7)),
            (b'{"error":{}}', Response(None, is_error=True, anonymous=True)),
            (b'{"id":7,"method":null,"error":{}}', Response(7, is_error=True)),
            (task(7), Response(7, creates_task=True)),
            (task(7, modern=True), Response(7, creates_task=True)),
            (answer(7, {"resultType": "complete", "task": None}), Response(7)),
            (answer(7, {"task": {}, "resultType": None}), Response(7)),
            (b'{"id":7,"method":"x","result":1}', None),
            (b'{"id":7,"method":"x","result":{}}', UNDERSTANDABLE),
            (b'{"id":7,"method":"x","error":{}}', UNDERSTANDABLE),
            (b'{"id":7,"method":"x","error":null,"result":null}', Request(7, "x")),
            (b'{"id":7}', UNDERSTANDABLE),
            (b'{"id":8,"id":7,"method":"y","method":"x"}', Request(7, "x")),
        ],
    )
    def test_what_it_is_sure_of(self, body: bytes, envelope: Envelope | None) -> None:
        """Nearly all that is said."""
        assert glimpse(body) == envelope

    @pytest.mark.parametrize(
        "body",
        [
            call(b"7.0"),
            call(10**30),
            call("x" * 81),
            call(b"true"),
            call(7, token=b"1.5"),
            b'{"id":7,"method":"x","params":[]}',
            b'{"id":7,"method":"x","params":null}',
            answer(7, "text"),
            b'{"id":7,"result":{"task":1}}',
            b'{"id":7,"result":{"task":{"taskId":1}}}',
            b"\xef\xbb\xbf" + call(7),
            call(7) + b" x",
            call(7) + call(8),
            b"[" + call(7) + b"]",
            b'{"id":7,"method":"\xff"}',
            b'{"id":7,"method":"x","y":NaN}',
            b'{"id":7,"method":"x","y":%b}' % (b"[" * 5000 + b"]" * 5000),
            b"",
            b"7",
        ],
    )
    def test_what_it_is_not_sure_of(self, body: bytes) -> None:
        """Is for the careful look."""
        assert glimpse(body) is None

    def test_without_tasks_a_result_is_a_result(self) -> None:
        """Whatever it is."""
        quiet = replace(MCP, name="quiet", creates_tasks=False)
        quick = QuickLook(quiet)
        for body in (task(7), answer(7, "text"), answer(7, None)):
            assert quick.envelope(quick.one(body)) == Response(7)


class TestBlocks:
    """Many lines at once."""

    def test_questions(self) -> None:
        """Requests and notifications; that one is a cancel is for others to see."""
        assert questions(call(7), note(), call("a"), cancel(7)) == 4
        assert questions(b'{"id":7,"method":"x","params":{"a":1},"result":null}') == 1

    @pytest.mark.parametrize(
        "line",
        [
            call(7, token="t"),
            call(7, token=b"{}"),
            call(b"null"),
            call(b"7.5"),
            answer(7),
            error(7),
            b'{"id":7,"method":"x","result":{}}',
            b'{"id":7,"method":"x","params":[]}',
            b'{"id":7,"method":null}',
            b"listening",
        ],
    )
    def test_what_is_more_than_a_question(self, line: bytes) -> None:
        """It spoils the block."""
        assert questions(call(7), line, call(8)) is None

    @pytest.mark.parametrize(
        "lines",
        [
            (call(7) + call(8), note()),
            (call(7) + b"," + call(8), note()),
            (call(7) + b"],[" + call(8), note()),
            (call(7) + b"],\n[" + call(8), note()),
            (call(7), b"", note()),
            (b'{"id":7,', b'"method":"x"}'),
            (b'{"id":7,"method":"', b'"}'),
            (b"",),
        ],
    )
    def test_lines_that_do_not_hold_one_message_each(self, lines: tuple[bytes, ...]) -> None:
        """They spoil the block."""
        assert questions(*lines) is None

    def test_questions_of_a_dialect_without_tokens(self) -> None:
        """There are none to see."""
        assert questions(call(7, token="t"), dialect=PLAIN) == 1
        assert questions(call(7, token="t", dialect=OWED), dialect=OWED) is None

    def test_answers(self) -> None:
        """Results, of any value; with an error beside, as careless servers write it, too."""
        assert answers(answer(7, {}), answer("a", None), b'{"id":9,"result":{},"error":null}') == 3

    @pytest.mark.parametrize(
        "line",
        [
            task(7),
            task(7, modern=True),
            answer(7, {"resultType": "new"}),
            answer(7, "text"),
            answer(b"null", {}),
            error("a"),
            b'{"id":9}',
            b'{"error":{}}',
            call(7),
            note(),
            b"listening",
        ],
    )
    def test_what_is_more_than_an_answer(self, line: bytes) -> None:
        """It spoils the block."""
        assert answers(answer(7, {}), line, answer(8, {})) is None

    def test_answers_where_there_are_no_tasks(self) -> None:
        """They are answers."""
        assert answers(task(7), answer(8, "text"), dialect=OWED) == 2

    @settings(max_examples=80)
    @given(st.sampled_from(DIALECTS), st.lists(messages(), min_size=1, max_size=4))
    def test_any_lines(self, dialect: Dialect, lines: list[bytes]) -> None:
        """A block of questions or answers holds nothing else."""
        told = [look(line, dialect) for line in lines]
        if questions(*lines, dialect=dialect) is not None:
            for one in told:
                assert isinstance(one, Request | Notification | Cancel | Progress)
                assert not isinstance(one, Request) or (one.id is not None and not one.tokens)
        if answers(*lines, dialect=dialect) is not None:
            for line, one in zip(lines, told, strict=True):
                if one is not UNDERSTANDABLE:
                    assert isinstance(one, Response), line
                    assert one.id is not None
                    assert not one.creates_task
        quick = LOOKS[dialect.name]
        try:
            glances = quick.whole(b"".join(line + b"\n" for line in lines))
        except REFUSALS:
            return
        assert [quick.envelope(glance) for (glance,) in glances] == told

    @in_all_dialects
    def test_whether_a_request_names_a_token(self, dialect: Dialect) -> None:
        """Of several the first is told."""
        quick = LOOKS[dialect.name]
        bare = quick.token(quick.one(call(7, dialect=dialect)))
        for path in dialect.request_tokens:
            value = b'"t"'
            for name in reversed(path):
                value = b'{"%b":%b}' % (name.encode(), value)
            assert quick.token(quick.one(value)) == "t"
            assert quick.token(quick.one(value)) != bare

    def test_an_answer_by_what_it_is(self) -> None:
        """Where it is known to be none of the others."""
        quick = LOOKS["mcp"]
        [(glance,)] = quick.answers(answer(7, {}) + b"\n")
        assert quick.answer(glance) == Response(7)
        assert quick.answer(quick.one(b'{"id":7}')) is UNDERSTANDABLE
