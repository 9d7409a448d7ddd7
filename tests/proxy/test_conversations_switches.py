"""All that may be held back, switch by switch; what no switch names is never held back."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Fate, FirstCancel, LateResponse, Noise, Policy
from proxy.messages import (
    OWED,
    PLAIN,
    answer,
    batch,
    call,
    cancel,
    error,
    initialize,
    nobodys_error,
    note,
    progress,
    task,
)
from proxy.playbook import Diverts, End, Reads, Stalls, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
ABSORBED = What.ABSORBED_CANCEL
UNASKED = What.UNASKED_ANSWER


@both_ways
class TestLateResponse:
    """``--late-response``: some callers still wait after they cancel."""

    def test_first(self, asker: End, worker: End) -> None:
        """The first answer passes and no other; repeats of the cancel are still redundant."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(error(1)),
            worker.loses(LATE, answer(1), error(1)),
            asker.loses(REDUNDANT, cancel(1)),
            policy=Policy(late_response=LateResponse.FIRST),
        )

    def test_forward_errors(self, asker: End, worker: End) -> None:
        """The first error passes, and no result, be it before or after."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1)),
            worker.passes(error(1)),
            worker.loses(LATE, error(1), answer(1)),
            policy=Policy(late_response=LateResponse.FORWARD_ERRORS),
        )

    def test_forward(self, asker: End, worker: End) -> None:
        """All pass, as without us; progress is a switch of its own."""
        play(
            asker.passes(call(1, token=1), cancel(1)),
            worker.loses(What.LATE_PROGRESS, progress(1)),
            worker.passes(error(1), answer(1), answer(1)),
            asker.loses(REDUNDANT, cancel(1)),
            policy=Policy(late_response=LateResponse.FORWARD),
        )

    def test_first_in_a_batch(self, asker: End, worker: End) -> None:
        """Two answers in one array: one of them is the first."""
        play(
            asker.passes(call(1), cancel(1)),
            worker >> batch(error(1), answer(1)),
            asker.spliced(error(1)),
            held(LATE),
            policy=Policy(late_response=LateResponse.FIRST),
        )


@both_ways
class TestProgress:
    """``--late-progress`` and ``--stale-progress``."""

    def test_late_progress_forward(self, asker: End, worker: End) -> None:
        """Progress of the cancelled passes, of the answered not, late answers not."""
        play(
            asker.passes(call(1, token="t"), call(2, token="u"), cancel(1)),
            worker.passes(progress("t"), answer(2), progress("t")),
            worker.loses(LATE, answer(1)),
            worker.loses(What.STALE_PROGRESS, progress("u")),
            policy=Policy(late_progress=Fate.FORWARD),
        )

    def test_stale_progress_forward(self, asker: End, worker: End) -> None:
        """Progress of the answered passes, of the cancelled not."""
        play(
            asker.passes(call(1, token="t"), call(2, token="u"), cancel(1)),
            worker.passes(answer(2), progress("u")),
            worker.loses(What.LATE_PROGRESS, progress("t")),
            policy=Policy(stale_progress=Fate.FORWARD),
        )

    def test_where_an_answer_is_owed(self, asker: End, worker: End) -> None:
        """Partial results stay usable: late and stale progress pass."""
        play(
            asker.passes(call(1, token="t", dialect=OWED), cancel(1, dialect=OWED)),
            worker.passes(progress("t", dialect=OWED), error(1), progress("t", dialect=OWED)),
            dialect=OWED,
        )


class TestRedundantCancel:
    """``--redundant-cancel forward``."""

    @both_ways
    def test_forward(self, asker: End, worker: End) -> None:
        """Repeats and cancels of the answered go on; the states are the same."""
        play(
            asker.passes(call(1), cancel(1), cancel(1), cancel(1), call(2)),
            worker.passes(answer(2)),
            asker.passes(cancel(2)),
            worker.loses(LATE, answer(1)),
            worker.passes(answer(2)),
            policy=Policy(redundant_cancel=Fate.FORWARD),
        )


class TestAbsorb:
    """``--cancel absorb``: for servers that crash on a cancel."""

    POLICY = Policy(cancel=FirstCancel.ABSORB)

    def test_the_clients_cancels_never_reach_the_server(self) -> None:
        """Everything else about them holds: what comes late is dropped."""
        play(
            client.passes(call(1, token=1)),
            client.loses(ABSORBED, cancel(1)),
            server.loses(What.LATE_PROGRESS, progress(1)),
            server.loses(LATE, answer(1)),
            client.passes(call(2)),
            server.passes(answer(2)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("redundant", Fate)
    def test_nor_do_their_repeats(self, redundant: Fate) -> None:
        """Whatever ``--redundant-cancel`` says."""
        play(
            client.passes(call(1)),
            client.loses(ABSORBED, cancel(1)),
            client.loses(REDUNDANT, cancel(1), cancel(1)),
            server.loses(LATE, answer(1)),
            policy=Policy(cancel=FirstCancel.ABSORB, redundant_cancel=redundant),
        )

    def test_unknown_ids_pass(self) -> None:
        """No request is in flight that a server could crash for."""
        play(client.passes(cancel(9), cancel(b"null")), policy=self.POLICY)

    def test_ambiguous_ids_are_absorbed_and_mark_nothing(self) -> None:
        """Both answers pass."""
        play(
            client.passes(call(1), call(1)),
            client.loses(ABSORBED, cancel(1), cancel(1)),
            server.passes(answer(1, "a"), answer(1, "b")),
            policy=self.POLICY,
        )

    def test_the_servers_own_cancels_are_not_touched(self) -> None:
        """The switch is about servers, not hosts."""
        play(
            server.passes(call(1), cancel(1)),
            client.loses(LATE, answer(1)),
            server.loses(REDUNDANT, cancel(1)),
            policy=self.POLICY,
        )

    def test_initialize(self) -> None:
        """It is not forwarded anyhow, and changes no state."""
        play(
            client.passes(initialize(0)),
            client.loses(What.INITIALIZE_CANCEL, cancel(0)),
            server.passes(answer(0)),
            policy=self.POLICY,
        )

    def test_the_answered(self) -> None:
        """A cancel after the answer is redundant as always."""
        play(
            client.passes(call(1)),
            server.passes(answer(1)),
            client.loses(REDUNDANT, cancel(1)),
            policy=self.POLICY,
        )

    def test_in_a_batch(self) -> None:
        """The cancel is cut out of the array."""
        play(
            client.passes(call(1)),
            client >> batch(note(), cancel(1)),
            server.spliced(note()),
            held(ABSORBED, 1),
            server.loses(LATE, answer(1)),
            policy=self.POLICY,
        )

    def test_where_an_answer_is_owed(self) -> None:
        """Absorbed, and the one answer passes."""
        play(
            client.passes(call(1, dialect=OWED)),
            client.loses(ABSORBED, cancel(1, dialect=OWED)),
            server.passes(answer(1)),
            server.loses(LATE, answer(1)),
            policy=self.POLICY,
            dialect=OWED,
        )


class TestShield:
    """``--shield`` guards the host from what it never asked for."""

    POLICY = Policy(shield=True)

    @pytest.mark.parametrize(
        "stray",
        [
            answer(99),
            error("x"),
            nobodys_error(),
            nobodys_error(null=False),
            answer(b"null"),
            b'{"result":{}}',
        ],
    )
    def test_answers_to_nobody(self, stray: bytes) -> None:
        """Unknown ids, id null, id absent."""
        play(
            server.loses(UNASKED, stray),
            client.passes(call(2)),
            server.passes(answer(2)),
            policy=self.POLICY,
        )

    def test_second_answers(self) -> None:
        """The first has been delivered."""
        play(
            client.passes(call(1)),
            server.passes(answer(1)),
            server.loses(UNASKED, answer(1), error(1)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("odd", [b"true", b"1.5", b"[1]", b"{}", b'"%b"' % (b"x" * 1100)])
    def test_ids_of_a_kind_never_tracked_pass(self, odd: bytes) -> None:
        """We can't know whether anybody asked."""
        play(server.passes(answer(odd)), client.passes(cancel(odd)), policy=self.POLICY)

    def test_cancels_for_ids_never_seen(self) -> None:
        """The server can do nothing with them."""
        play(
            client.loses(What.UNKNOWN_CANCEL, cancel(77), cancel("x")),
            client.passes(call(77)),
            server.passes(answer(77)),
            policy=self.POLICY,
        )

    def test_it_guards_the_host_alone(self) -> None:
        """What the client answers and what the server cancels passes."""
        play(
            client.passes(answer(99), nobodys_error(), nobodys_error(null=False)),
            server.passes(cancel(77), call(1)),
            client.passes(answer(1), answer(1)),
            policy=self.POLICY,
        )

    def test_the_other_type_was_asked(self) -> None:
        """A stringified answer is an answer."""
        play(client.passes(call(7)), server.passes(answer("7")), policy=self.POLICY)

    def test_while_the_twin_is_in_flight(self) -> None:
        """A second answer for 7 may be the first for "7"."""
        play(
            client.passes(call(7), call("7")),
            server.passes(answer(7), answer(7), answer("7")),
            server.loses(UNASKED, answer(7)),
            policy=self.POLICY,
        )

    def test_requests_and_notifications_are_never_dropped(self) -> None:
        """Whatever they look like."""
        play(
            server.passes(call(1), call(b"null"), note(), progress("nobody"), b'{"method":"x"}'),
            client.passes(call(1), note(), progress("nobody")),
            policy=self.POLICY,
        )

    def test_in_a_batch(self) -> None:
        """Element by element, and nothing is sent where nothing is left."""
        play(
            client.passes(call(1)),
            server >> batch(nobodys_error(), answer(1), answer(9)),
            client.spliced(answer(1)),
            held(UNASKED),
            held(UNASKED),
            server >> batch(answer(9)),
            held(UNASKED),
            policy=self.POLICY,
        )

    def test_a_task(self) -> None:
        """A cancelled request's task is no stray."""
        play(client.passes(call(1), cancel(1)), server.passes(task(1)), policy=self.POLICY)


NOISE = [
    b"Server listening on 3000",
    b"",
    b"   ",
    b"\r",
    b"\t\r",
    b"42",
    b"null",
    b'"text"',
    b"[1,2]",
    b"[INFO] ready",
    b"[",
    b"]",
    b"\xef\xbb\xbfhello",
    b"\xff\xfe",
    b"\x00",
]
NO_NOISE = [
    b"{bad",
    b"{",
    b"[]",
    b" [ ]",
    b"[[]]",
    b"[ [1] ]",
    b"[{bad",
    b" [ {",
    b"\xef\xbb\xbf {",
    b"\t[\t{}\t]",
]


class TestNoise:
    """A server's line that is no JSON object or array of them."""

    @pytest.mark.parametrize("line", NOISE, ids=repr)
    def test_it_passes(self, line: bytes) -> None:
        """By default it is not ours to judge."""
        play(server.passes(line), client.passes(line))

    @pytest.mark.parametrize("line", NOISE, ids=repr)
    def test_to_stderr(self, line: bytes) -> None:
        """Byte-exact, with its newline."""
        play(
            server >> line,
            held(What.NOISE),
            Diverts(line + b"\n"),
            server.passes(note()),
            client.passes(line),
            policy=Policy(noise=Noise.STDERR),
        )

    @pytest.mark.parametrize("line", NOISE, ids=repr)
    def test_dropped(self, line: bytes) -> None:
        """And noted; only the server's."""
        play(
            server.loses(What.NOISE, line),
            server.passes(note()),
            client.passes(line),
            policy=Policy(noise=Noise.DROP),
        )

    @pytest.mark.parametrize("line", NO_NOISE, ids=repr)
    def test_no_noise(self, line: bytes) -> None:
        """What begins like a message may be one."""
        play(server.passes(line), policy=Policy(noise=Noise.DROP))

    def test_the_shield_means_stderr(self) -> None:
        """Where ``--noise`` is not given."""
        play(
            server >> b"hello",
            held(What.NOISE),
            Diverts(b"hello\n"),
            policy=Policy(shield=True),
        )
        play(server.passes(b"hello"), policy=Policy(shield=True, noise=Noise.FORWARD))
        play(
            server.loses(What.NOISE, b"hello"),
            policy=Policy(shield=True, noise=Noise.DROP),
        )

    def test_among_messages(self) -> None:
        """What is around it is judged as ever."""
        play(
            client.passes(call(1), cancel(1)),
            server >> b"hello",
            held(What.NOISE),
            server.loses(LATE, answer(1)),
            server >> b"",
            held(What.NOISE),
            server.passes(note()),
            policy=Policy(noise=Noise.DROP),
        )


class TestPlain:
    """Plain JSON-RPC has no cancel: everything passes."""

    @both_ways
    def test_everything_passes(self, asker: End, worker: End) -> None:
        """Whatever looks like a cancel or progress is somebody's notification."""
        play(
            asker.passes(call(1, token=1), cancel(1), cancel(1), cancel(1, dialect=OWED)),
            worker.passes(progress(1), answer(1), progress(1), answer(1), error(1)),
            asker.passes(cancel(1), call(1), call(1)),
            worker.passes(answer(1), batch(answer(1), progress(1))),
            dialect=PLAIN,
        )


class TestRetraction:
    """What the switches would forward is never retracted from our own queue."""

    @pytest.mark.parametrize(
        ("how", "line", "stays"),
        [
            (LateResponse.DROP, answer(1), False),
            (LateResponse.DROP, error(1), False),
            (LateResponse.FIRST, answer(1), True),
            (LateResponse.FORWARD, answer(1), True),
            (LateResponse.FORWARD_ERRORS, error(1), True),
            (LateResponse.FORWARD_ERRORS, answer(1), False),
        ],
    )
    def test_late_response(self, how: LateResponse, line: bytes, stays: bool) -> None:
        """The answer waits while its cancel is read."""
        play(
            client.passes(call(1)),
            Stalls(client.peer),
            server >> line,
            client >> cancel(1),
            *([] if stays else [held(LATE, 1)]),
            held(REDUNDANT, 1),
            Reads(client.peer),
            *([client << line] if stays else []),
            policy=Policy(late_response=how),
        )
