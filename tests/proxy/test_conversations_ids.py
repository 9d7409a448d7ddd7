"""Ids by JSON type and exact value: exact first, coerced second, and the kinds never tracked."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Policy
from proxy.messages import OWED, Spelling, answer, call, cancel, error, note, progress
from proxy.playbook import End, both_ways, client, play, server

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


@both_ways
class TestBounds:
    """Ended ids are remembered, oldest gone first; live ones are never evicted."""

    def test_the_newest_tombstones_are_known(self, asker: End, worker: End) -> None:
        """At least COUNT, at most twice as many; evicted means forwarded from then on."""
        count = 4
        ids = range(20)
        play(
            asker.passes(*(line for n in ids for line in (call(n, token=n), cancel(n)))),
            worker.loses(LATE, *(answer(n) for n in ids[-count:])),
            worker.loses(LATE_PROGRESS, *(progress(n) for n in ids[-count:])),
            asker.loses(REDUNDANT, *(cancel(n) for n in ids[-count:])),
            worker.passes(*(answer(n) for n in ids[: -2 * count])),
            worker.passes(*(progress(n) for n in ids[: -2 * count])),
            asker.passes(*(cancel(n) for n in ids[: -2 * count])),
            policy=Policy(remember=count),
        )

    def test_the_newest_answered_are_known(self, asker: End, worker: End) -> None:
        """The answered memory is another one, as large."""
        count = 4
        ids = range(20)
        play(
            asker.passes(call("c", token="c"), cancel("c")),
            asker.passes(*(call(n, token=n) for n in ids)),
            worker.passes(*(answer(n) for n in ids)),
            asker.loses(REDUNDANT, *(cancel(n) for n in ids[-count:])),
            worker.loses(What.STALE_PROGRESS, *(progress(n) for n in ids[-count:])),
            asker.passes(*(cancel(n) for n in ids[: -2 * count])),
            worker.passes(*(progress(n) for n in ids[: -2 * count])),
            worker.loses(LATE, answer("c")),
            policy=Policy(remember=count),
        )

    def test_live_ones_are_never_evicted(self, asker: End, worker: End) -> None:
        """A long poll waits for hours while others come and go."""
        play(
            asker.passes(call("long", token="long")),
            asker.passes(*(line for n in range(20) for line in (call(n), cancel(n)))),
            worker.passes(progress("long")),
            asker.passes(cancel("long")),
            worker.loses(LATE, answer("long")),
            policy=Policy(remember=2),
        )

    def test_beyond_the_live_bound_requests_are_untracked(self, asker: End, worker: End) -> None:
        """They pass, and so does all that names them; when there is room again, new ones count."""
        play(
            asker.passes(call(1), call(2), call(3), cancel(3), cancel(3)),
            worker.passes(answer(3), answer(1)),
            asker.passes(call(4), cancel(4)),
            worker.loses(LATE, answer(4)),
            worker.passes(answer(2)),
            policy=Policy(live_limit=2),
        )


class TestWhatCouldNotBeTracked:
    """A message that the other side may understand, and we did not track, may have asked."""

    OPAQUE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}'
    MIXED = b"[%b,17]" % call(1)

    @both_ways
    @pytest.mark.parametrize("odd", [OPAQUE, MIXED, b"[%b,%b]" % (note(), OPAQUE)])
    def test_that_peers_ended_ids_are_forgotten(self, asker: End, worker: End, odd: bytes) -> None:
        """Tombstones, answered ids, and what their tokens meant; live ones stay."""
        play(
            asker.passes(call(1, token=1), cancel(1), call(2, token=2), call(3)),
            worker.passes(answer(2)),
            asker.passes(odd),
            worker.passes(answer(1), progress(1), progress(2)),
            asker.passes(cancel(1), cancel(2), cancel(3)),
            worker.loses(LATE, answer(3)),
        )

    @both_ways
    def test_where_an_answer_is_owed(self, asker: End, worker: End) -> None:
        """The array may hold a second use of the cancelled id: both are owed their answers."""
        play(
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED), self.MIXED),
            asker.passes(cancel(1, dialect=OWED)),
            worker.passes(error(1), answer(1)),
            dialect=OWED,
        )

    @both_ways
    def test_the_other_peers_are_not(self, asker: End, worker: End) -> None:
        """Who said it is whose table it concerns."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(self.OPAQUE),
            worker.loses(LATE, answer(1)),
        )

    @both_ways
    @pytest.mark.parametrize(
        "broken",
        [
            b'{"id":1,"method":"x"',
            b"{bad",
            b"[",
            b"17",
            b'"str"',
            b"[]",
            b"[1,2]",
            b"[[]]",
            b"null",
        ],
    )
    def test_broken_json_is_no_such_message(self, asker: End, worker: End, broken: bytes) -> None:
        """Nobody can have understood it as a request."""
        play(
            asker.passes(call(1), cancel(1), broken),
            worker.loses(LATE, answer(1)),
        )

    def test_the_shield_no_longer_knows_what_is_unknown(self) -> None:
        """Unknown answers to that peer pass, and unknown cancels from it."""
        shield = Policy(shield=True)
        play(
            server.loses(What.UNASKED_ANSWER, answer(9)),
            client.loses(What.UNKNOWN_CANCEL, cancel(9)),
            client.passes(self.OPAQUE),
            server.passes(answer(9)),
            client.passes(cancel(9)),
            server.loses(What.UNASKED_ANSWER, error(b"null")),
            policy=shield,
        )

    def test_what_the_server_may_have_asked_weakens_no_shield(self) -> None:
        """The shield is about the client's requests."""
        play(
            server.passes(self.OPAQUE),
            server.loses(What.UNASKED_ANSWER, answer(9)),
            client.loses(What.UNKNOWN_CANCEL, cancel(9)),
            policy=Policy(shield=True),
        )
