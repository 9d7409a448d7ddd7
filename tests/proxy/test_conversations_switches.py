"""What may be held back, switch by switch; what no switch names is never held back."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Fate, LateResponse, Policy
from proxy.messages import OWED, PLAIN, answer, batch, call, cancel, error, progress
from proxy.playbook import End, Reads, Stalls, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


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
