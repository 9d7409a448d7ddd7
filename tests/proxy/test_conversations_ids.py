"""Ids by JSON type and exact value: exact first, coerced second, and the kinds never tracked."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from proxy.messages import Spelling, answer, call, cancel, error, progress
from proxy.playbook import End, both_ways, play

LATE = What.LATE_RESPONSE
LATE_PROGRESS = What.LATE_PROGRESS
REDUNDANT = What.REDUNDANT_CANCEL


@both_ways
class TestOneValue:
    """A number is its exact value, however it is spelled; a string is what it says."""

    @pytest.mark.parametrize(
        "spellings",
        [
            (b"7", b"7.0", b"7e0"),
            (b"7.0", b"70e-1", b"0.7E1"),
            (b"0", b"-0", b"0.0"),
            (b"-0.0", b"0", b"0e9"),
            (b"-12", b"-12.0", b"-0.12e2"),
            (b"1e400", b"10e399", b"0.1e+401"),
            (b"9007199254740993", b"9007199254740993.0", b"9007199254740993e0"),
            (b"9" * 400, b"9" * 400 + b".00", b"9" * 400 + b"e0"),
            (b"1e999999999", b"10e999999998", b"0.1e1000000000"),
            (b'"abc"', b'"a\\u0062c"', b'"\\u0061bc"'),
            (b'"/\xc3\xa9"', b'"\\/\\u00e9"', b'"\\u002f\\u00E9"'),
            (b'"\xf0\x9f\x98\x80"', b'"\\ud83d\\ude00"', b'"\\uD83D\\uDE00"'),
            (b'"\\ud800"', b'"\\uD800"', b'"\\ud800"'),
            (b'""', b'""', b'""'),
        ],
        ids=lambda spellings: repr(spellings[0][:24]),
    )
    def test_spelled_otherwise(
        self, asker: End, worker: End, spellings: tuple[bytes, bytes, bytes]
    ) -> None:
        """Request, cancel and answer may each spell the id in their own way."""
        asked, cancelled, answered = spellings
        play(
            asker.passes(call(asked, token=asked), cancel(cancelled)),
            worker.loses(LATE_PROGRESS, progress(answered)),
            worker.loses(LATE, answer(answered), error(asked)),
            asker.loses(REDUNDANT, cancel(answered)),
        )

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (b"9007199254740993", b"9007199254740992"),
            (b"9007199254740993.0", b"9007199254740992"),
            (b"1e400", b"1e401"),
            (b"1e400", b"1.0000000000000000000001e400"),
            (b"1", b"-1"),
            (b"1", b"10"),
            (b'"a"', b'"A"'),
            (b'"\xc3\xa9"', b'"e\\u0301"'),
            (b'"1.0"', b"1"),
            (b'"01"', b"1"),
            (b'" 1"', b"1"),
            (b'"1e0"', b"1"),
            (b'"+1"', b"1"),
            (b'""', b"0"),
        ],
    )
    def test_another_value(self, asker: End, worker: End, one: bytes, other: bytes) -> None:
        """No rounding, no normal forms, no coercion beyond plain integers."""
        play(
            asker.passes(call(one), cancel(one)),
            worker.passes(answer(other)),
            asker.passes(cancel(other)),
            worker.loses(LATE, answer(one)),
        )


@both_ways
class TestExactFirst:
    """A new request is itself: 7 and "7" are two."""

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7), (-3, "-3"), (0, "0")])
    def test_two_ids(self, asker: End, worker: End, one: Spelling, other: Spelling) -> None:
        """The cancel takes the exact match; the other is answered as if nothing had been."""
        play(
            asker.passes(call(one), call(other), cancel(one)),
            worker.passes(answer(other)),
            worker.loses(LATE, answer(one)),
            asker.loses(REDUNDANT, cancel(one), cancel(other)),
        )

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7)])
    def test_while_the_twin_is_in_flight(
        self, asker: End, worker: End, one: Spelling, other: Spelling
    ) -> None:
        """What would be dropped may mean the twin: it is forwarded and marks nothing."""
        play(
            asker.passes(call(one), call(other), cancel(one), cancel(one)),
            worker.passes(answer(one)),
            worker.passes(answer(other)),
            worker.loses(LATE, answer(one)),
        )

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7)])
    def test_while_the_twin_of_an_answered_one_is_in_flight(
        self, asker: End, worker: End, one: Spelling, other: Spelling
    ) -> None:
        """A cancel for the answered id may mean the twin; the twin stays in flight."""
        play(
            asker.passes(call(one)),
            worker.passes(answer(one)),
            asker.passes(call(other), cancel(one)),
            worker.passes(answer(other)),
            asker.loses(REDUNDANT, cancel(one)),
        )

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7)])
    def test_progress_has_no_such_grace(
        self, asker: End, worker: End, one: Spelling, other: Spelling
    ) -> None:
        """Tokens that were given are exact: late is late."""
        play(
            asker.passes(call("x", token=one), call("y", token=other), cancel("x")),
            worker.loses(LATE_PROGRESS, progress(one)),
            worker.passes(progress(other)),
        )


@both_ways
class TestCoercedSecond:
    """Where there is no exact match, an integer and the string that spells it are one."""

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7), (b"7.0", "7"), (-3, "-3")])
    def test_the_answer_comes_under_the_other_type(
        self, asker: End, worker: End, one: Spelling, other: Spelling
    ) -> None:
        """Bytes are never repaired: an answer that passes passes as it is."""
        play(
            asker.passes(call(one)),
            worker.passes(answer(other)),
            asker.loses(REDUNDANT, cancel(one)),
            asker.passes(call("next"), call(one), cancel(one)),
            worker.loses(LATE, answer(other)),
            worker.passes(answer("next")),
        )

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7)])
    def test_the_cancel_comes_under_the_other_type(
        self, asker: End, worker: End, one: Spelling, other: Spelling
    ) -> None:
        """It means the only candidate, and so does its repeat."""
        play(
            asker.passes(call(one), cancel(other)),
            asker.loses(REDUNDANT, cancel(other), cancel(one)),
            worker.loses(LATE, answer(one), answer(other)),
        )

    @pytest.mark.parametrize(("one", "other"), [(7, "7"), ("7", 7)])
    def test_the_token_comes_under_the_other_type(
        self, asker: End, worker: End, one: Spelling, other: Spelling
    ) -> None:
        """Tokens are looked up like ids."""
        play(
            asker.passes(call("x", token=one)),
            worker.passes(progress(other)),
            asker.passes(cancel("x")),
            worker.loses(LATE_PROGRESS, progress(other), progress(one)),
        )


@both_ways
class TestNeverTracked:
    """Null, true, objects, arrays, numbers that are not whole, and what is over 1 KiB."""

    @pytest.mark.parametrize(
        "odd",
        [
            b"null",
            b"true",
            b"1.5",
            b"1e-1",
            b"[1]",
            b'{"n":1}',
            b'"%b"' % (b"x" * 1100),
            b"1" * 1100,
        ],
        ids=lambda odd: repr(odd[:8]),
    )
    def test_forwarded_always(self, asker: End, worker: End, odd: bytes) -> None:
        """Requests, cancels, answers and tokens of such a kind are nobody's."""
        play(
            asker.passes(call(odd), cancel(odd), cancel(odd)),
            worker.passes(answer(odd), answer(odd)),
            asker.passes(call("x", token=odd), cancel("x")),
            worker.passes(progress(odd)),
        )

    def test_true_is_not_one(self, asker: End, worker: End) -> None:
        """A language in which True == 1 must not show."""
        play(
            asker.passes(call(1), cancel(b"true"), cancel(1)),
            worker.passes(answer(b"true")),
            worker.loses(LATE, answer(1)),
        )

    def test_such_a_request_makes_nobody_forget(self, asker: End, worker: End) -> None:
        """Its answer has an id of its own kind, which is never dropped."""
        play(
            asker.passes(call(1), cancel(1), call(b"null"), call(b"1.5")),
            worker.loses(LATE, answer(1)),
        )

    def test_up_to_1_kib_an_id_is_an_id(self, asker: End, worker: End) -> None:
        """A thousand letters are tracked."""
        long = "x" * 1000
        play(asker.passes(call(long), cancel(long)), worker.loses(LATE, answer(long)))

    def test_zero_and_empty_are_ids(self, asker: End, worker: End) -> None:
        """Presence is what counts, not truth."""
        play(
            asker.passes(call(0, token=0), call("", token=""), cancel(0), cancel("")),
            worker.loses(LATE_PROGRESS, progress(0), progress("")),
            worker.loses(LATE, answer(0), answer("")),
        )
