"""Peers that never send the newline: what is whole is judged once it is still."""

from __future__ import annotations

from nevermind.notes import What
from proxy.messages import answer, call, cancel, note
from proxy.playbook import End, Waits, both_ways, held, play

LATE = What.LATE_RESPONSE
STILL = Waits(0.2)


@both_ways
class TestStillness:
    """Some peers never send the newline: after 0.1 s what is whole is judged and sent."""

    def test_an_object_passes(self, asker: End, worker: End) -> None:
        """Not before the time has come, and not as it waits for nothing."""
        play(
            asker.raw(call(1)),
            STILL,
            worker.hears_raw(call(1)),
            asker.raw(b" \n"),
            worker.hears_raw(b" \n"),
            asker.passes(cancel(1)),
            worker.loses(LATE, answer(1)),
        )

    def test_a_late_one_is_dropped_with_its_newline(self, asker: End, worker: End) -> None:
        """White space up to and with the next 0x0A shares its fate."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.raw(answer(1)),
            STILL,
            held(LATE, 1),
            worker.raw(b"\r\n"),
            worker.passes(note()),
        )

    def test_a_whole_conversation_without_newlines(self, asker: End, worker: End) -> None:
        """One object after another."""
        play(
            asker.raw(call(1)),
            STILL,
            worker.hears_raw(call(1)),
            asker.raw(cancel(1)),
            STILL,
            worker.hears_raw(cancel(1)),
            worker.raw(answer(1)),
            STILL,
            held(LATE, 1),
            worker.raw(note()),
            STILL,
            asker.hears_raw(note()),
        )

    def test_several_at_once(self, asker: End, worker: End) -> None:
        """They are judged and sent one by one."""
        play(
            asker.raw(call(1) + call(2) + b" " + cancel(1)),
            STILL,
            worker.hears_raw(call(1) + call(2) + b" " + cancel(1)),
            worker.raw(answer(1)),
            STILL,
            held(LATE, 1),
        )

    def test_a_part_waits(self, asker: End, worker: End) -> None:
        """What is not whole stays until it is, or until the newline comes."""
        play(
            asker.raw(call(1)[:30]),
            STILL,
            asker.raw(call(1)[30:] + b"\n"),
            worker << call(1),
        )

    def test_a_string_is_no_message(self, asker: End, worker: End) -> None:
        """Only objects and arrays are looked for."""
        play(asker.raw(b'"text"'), STILL, asker.raw(b"\n"), worker << b'"text"')

    def test_before_its_time(self, asker: End, worker: End) -> None:
        """Two objects on one line, with no pause between them, are one broken line."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(answer(1) + answer(1)),
            worker.raw(answer(1)),
            Waits(0.05),
            worker.raw(b"garbage\n"),
            asker << answer(1) + b"garbage",
        )
