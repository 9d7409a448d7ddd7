"""Messages of our own in a queue of bytes: between those of others, and taken back unsent."""

from __future__ import annotations

from nevermind.outbox import OWN_LIMIT, Outbox
from proxy.filled_outbox import content, filled, waiting


class TestOurOwn:
    """Messages of ours take their turn, between messages of others."""

    def test_as_lines_or_with_a_header(self) -> None:
        """As the peer wants them."""
        lines, headers = Outbox(10), Outbox(10, lines=False)
        lines.speak(b"{}")
        headers.speak(b"{}")
        assert content(lines) == b"{}\n"
        assert content(headers) == b"Content-Length: 2\r\n\r\n{}"

    def test_they_do_not_count_against_the_limit(self) -> None:
        """They never wait for room."""
        outbox = filled(b"ab\n", limit=4)
        outbox.speak(b"{}")
        assert (outbox.pending, outbox.own, outbox.full) == (6, 3, False)
        outbox.append(b"\n")
        assert outbox.full
        outbox.wrote(6)
        assert (outbox.pending, outbox.own) == (1, 0)

    def test_but_there_is_an_end_to_it(self) -> None:
        """A peer that makes us say a lot and does not read is not read."""
        outbox = Outbox(10)
        half = OWN_LIMIT // 2
        outbox.speak(b"x" * half)
        assert (outbox.own, outbox.flooded) == (half + 1, False)
        outbox.go_on(midway=True)
        outbox.speak(b"x" * half)
        assert (outbox.own, outbox.flooded) == (half + 1, True)
        outbox.wrote(half + 1)
        assert (outbox.own, outbox.flooded) == (0, False)

    def test_within_another_message_they_wait(self) -> None:
        """For its end."""
        outbox = filled()
        outbox.append_piece(b'{"a":')
        outbox.go_on(midway=True)
        spoken = outbox.speak(b"{}")
        assert spoken.waiting
        outbox.append_piece(b"1}\n")
        outbox.go_on(midway=False)
        assert content(outbox) == b'{"a":1}\n{}\n'
        assert spoken.waiting
        outbox.go_on(midway=False)
        assert content(outbox) == b'{"a":1}\n{}\n'

    def test_a_message_without_a_newline_gets_ours(self) -> None:
        """And its own is not wanted any more."""
        outbox = filled(b'{"a":1}')
        assert (outbox.within_line, outbox.take_cut_in()) == (True, False)
        outbox.speak(b"{}")
        assert content(outbox) == b'{"a":1}\n{}\n'
        assert (outbox.within_line, outbox.take_cut_in()) == (False, True)
        assert not outbox.take_cut_in(), "it is told once"

    def test_also_if_that_message_is_gone_already(self) -> None:
        """Its end is remembered."""
        outbox = filled(b"x\n", b'{"a":1}')
        outbox.wrote(9)
        outbox.speak(b"{}")
        assert content(outbox) == b"\n{}\n"
        outbox.wrote(4)
        assert not outbox.within_line
        outbox.append(b"y")
        outbox.replace(4, b"")
        assert not outbox.within_line, "what was taken back ends nothing"

    def test_an_emptied_part_ends_nothing(self) -> None:
        """The one before it does."""
        outbox = filled(b"x\n", b"y")
        outbox.replace(1, b"")
        assert not outbox.within_line

    def test_headers_need_no_newline(self) -> None:
        """There are no lines."""
        outbox = Outbox(10, lines=False)
        outbox.append(b"Content-Length: 2\r\n\r\n{}")
        outbox.speak(b"[]")
        assert not outbox.take_cut_in()

    def test_taken_back_while_it_waits(self) -> None:
        """In the queue, or for the end of another message."""
        outbox = filled(b"one\n")
        spoken = outbox.speak(b"{}")
        outbox.append(b"two\n")
        assert spoken.take_back()
        assert not spoken.waiting
        assert not spoken.take_back()
        assert (content(outbox), outbox.pending, outbox.own) == (b"one\ntwo\n", 8, 0)
        outbox.go_on(midway=True)
        held = outbox.speak(b"{}")
        assert held.take_back()
        assert not held.take_back()
        outbox.go_on(midway=False)
        assert content(outbox) == b"one\ntwo\n"

    def test_too_late(self) -> None:
        """Once a byte of it is gone."""
        outbox = filled()
        spoken = outbox.speak(b"{}")
        outbox.wrote(1)
        assert not spoken.waiting
        assert not spoken.take_back()
        outbox.wrote(2)
        assert not spoken.waiting
        assert not spoken.take_back()

    def test_the_answers_of_others_are_not_ours(self) -> None:
        """What we said is not looked at again."""
        outbox = filled(b"one\n")
        outbox.speak(b"{}")
        assert [one.part for one in waiting(outbox)] == [b"one\n"]
