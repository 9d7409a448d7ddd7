"""Batches, in every dialect: judged element by element, left to right, spliced as bytes."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from proxy.messages import OWED, answer, batch, call, cancel, error, note, progress
from proxy.playbook import End, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


@both_ways
class TestBatches:
    """Arrays of messages."""

    @pytest.mark.parametrize("odd", [b"[ %b ,\t%b]", b" [%b,%b ] \r", b"\xef\xbb\xbf[%b,%b]"])
    def test_nothing_dropped(self, asker: End, worker: End, odd: bytes) -> None:
        """The original bytes."""
        play(
            asker.passes(odd % (call(1), call(2))),
            worker.passes(odd % (answer(2), answer(1))),
        )

    def test_one_dropped(self, asker: End, worker: End) -> None:
        """First, middle or last: the kept elements' own bytes are spliced."""
        odd = b' { "result" :1.0,"id":2}'.strip()
        for at in range(3):
            elements = [odd, error(3)]
            elements.insert(at, answer(1))
            play(
                asker.passes(batch(call(1), call(2), call(3)), cancel(1)),
                worker >> b"[ " + b" , ".join(elements) + b" ]",
                asker.spliced(odd, error(3)),
                held(LATE, 1),
            )

    def test_one_left_stays_an_array(self, asker: End, worker: End) -> None:
        """The peer sent an array."""
        play(
            asker.passes(call(1), call(2), cancel(1)),
            worker >> batch(answer(1), answer(2)),
            asker.spliced(answer(2)),
            held(LATE, 1),
        )

    @pytest.mark.parametrize("ending", [b"", b"\r", b" \r"])
    def test_all_dropped(self, asker: End, worker: End, ending: bytes) -> None:
        """Nothing is sent: no empty array, no line."""
        play(
            asker.passes(call(1), call(2), cancel(1), cancel(2)),
            worker >> batch(answer(1), error(2)) + ending,
            held(LATE, 1),
            held(LATE, 2),
            worker >> batch(answer(1)) + ending,
            held(LATE, 1),
            worker.passes(note()),
        )

    def test_the_line_keeps_its_ending(self, asker: End, worker: End) -> None:
        """CR before LF is kept with what is kept."""
        play(
            asker.passes(call(1), cancel(1)),
            worker >> batch(answer(1), note()) + b"\r",
            asker << batch(note()) + b"\r",
            held(LATE, 1),
        )

    def test_left_to_right(self, asker: End, worker: End) -> None:
        """A cancel acts on what stands before it, not on what stands behind it."""
        play(
            asker.passes(batch(cancel(1), call(1))),
            worker.passes(answer(1)),
            asker >> batch(call(2), cancel(2), cancel(2)),
            worker.spliced(call(2), cancel(2)),
            held(REDUNDANT, 2),
            worker.loses(LATE, answer(2)),
        )

    def test_an_answer_and_progress_in_one(self, asker: End, worker: End) -> None:
        """The answer makes the progress behind it stale, not that before it."""
        play(
            asker.passes(call(1, token="t")),
            worker >> batch(progress("t", 1), answer(1), progress("t", 2)),
            asker.spliced(progress("t", 1), answer(1)),
            held(What.STALE_PROGRESS),
        )

    @pytest.mark.parametrize(
        "odd",
        [b"[]", b"[ ]", b"[1]", b'["%b"]' % b"x", b"[null,%b]" % answer(1), b"[[%b]]" % answer(1)],
    )
    def test_empty_or_not_all_objects(self, asker: End, worker: End, odd: bytes) -> None:
        """It passes untouched, whatever stands beside."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(odd),
            worker.loses(LATE, answer(1)),
        )

    def test_an_opaque_element_is_kept(self, asker: End, worker: End) -> None:
        """No element is dropped that is not clearly late."""
        odd = b'{"id":1,"result":{},"id":1}'
        play(
            asker.passes(call(1), cancel(1)),
            worker >> batch(odd, answer(1), b'{"x":nan}'),
            asker.spliced(odd, b'{"x":nan}'),
            held(LATE, 1),
        )

    def test_a_repeated_id_in_one_batch(self, asker: End, worker: End) -> None:
        """Two uses, ambiguous until one is answered."""
        play(
            asker.passes(batch(call(1), call(1), cancel(1))),
            worker.passes(batch(answer(1, "a"), answer(1, "b"))),
        )

    def test_where_an_answer_is_owed(self, asker: End, worker: End) -> None:
        """The first answer passes, out of an array too."""
        play(
            asker.passes(batch(call(1, dialect=OWED), cancel(1, dialect=OWED))),
            worker >> batch(error(1), answer(1)),
            asker.spliced(error(1)),
            held(LATE, 1),
            dialect=OWED,
        )

    def test_a_large_one(self, asker: End, worker: End) -> None:
        """Hundreds of elements, every second one late."""
        many = range(300)
        play(
            asker.passes(batch(*map(call, many))),
            asker.passes(*map(cancel, many[::2])),
            worker >> batch(*map(answer, many)),
            asker.spliced(*map(answer, many[1::2])),
            [held(LATE, n) for n in many[::2]],
            ways=("one by one", "together"),
        )


class TestBothDirections:
    """An array may hold what belongs to both tables."""

    def test_answers_and_requests_side_by_side(self) -> None:
        """The server answers the client's 1 and asks its own 1 in one array."""
        play(
            client.passes(call(1), cancel(1)),
            server >> batch(answer(1), call(1), cancel(1)),
            client.spliced(call(1), cancel(1)),
            held(LATE, 1),
            client.loses(LATE, answer(1)),
        )
