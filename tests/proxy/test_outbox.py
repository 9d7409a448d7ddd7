"""What one peer has yet to be sent: in order, bounded, and some of it can be taken back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.outbox import Outbox
from proxy.filled_outbox import content, filled, waiting


class TestQueue:
    """First in, first out."""

    def test_in_order(self) -> None:
        """Bytes and views alike."""
        outbox = filled(b"one\n")
        outbox.append(memoryview(b"xtwo\nx")[1:-1])
        outbox.append_piece(b"thr")
        outbox.append_piece(b"ee\n")
        assert content(outbox) == b"one\ntwo\nthree\n"
        assert outbox.pending == 14

    def test_written_bytes_are_gone(self) -> None:
        """Wherever the writing stopped."""
        outbox = filled(b"one\n", b"two\n", b"three\n")
        outbox.wrote(2)
        assert content(outbox) == b"e\ntwo\nthree\n"
        outbox.wrote(5)
        assert content(outbox) == b"\nthree\n"
        outbox.wrote(7)
        assert content(outbox) == b""
        assert outbox.pending == 0

    def test_so_many_buffers_and_no_more(self) -> None:
        """``writev`` takes so many."""
        outbox = filled(b"a", b"b", b"c")
        assert [bytes(view) for view in outbox.buffers(2)] == [b"a", b"b"]
        assert outbox.buffers() == [b"a", b"b", b"c"]
        assert Outbox(10).buffers() == []

    def test_full(self) -> None:
        """From its limit on; one part may exceed it."""
        outbox = filled(limit=4)
        assert (outbox.pending, outbox.full) == (0, False)
        outbox.append(b"abc")
        assert (outbox.pending, outbox.full) == (3, False)
        outbox.append(b"defgh")
        assert (outbox.pending, outbox.full) == (8, True)
        outbox.wrote(4)
        assert (outbox.pending, outbox.full) == (4, True)
        outbox.wrote(1)
        assert (outbox.pending, outbox.full) == (3, False)

    def test_a_peer_that_is_gone(self) -> None:
        """Nothing waits for it any more; what comes has new numbers."""
        outbox = filled(b"one\n")
        outbox.append_piece(b"t")
        outbox.speak(b"{}")
        outbox.wrote(1)
        outbox.clear()
        assert (content(outbox), outbox.pending, outbox.own) == (b"", 0, 0)
        outbox.append(b"three\n")
        assert waiting(outbox) == [(4, b"three\n", 0)]


class TestOnePart:
    """The common case: one part waits, and is written whole."""

    def test_the_only_part(self) -> None:
        """If nothing of it is gone."""
        begun = filled(b"one\n")
        begun.wrote(1)
        assert begun.only is None
        assert filled(b"one\n").only == b"one\n"
        assert filled().only is None
        assert filled(b"one\n", b"two\n").only is None

    def test_written_whole(self) -> None:
        """It leaves nothing behind."""
        outbox = filled()
        outbox.append_piece(b"one")
        outbox.wrote_only()
        assert (outbox.pending, outbox.within_line, outbox.first) == (0, True, 1)
        spoken = outbox.speak(b"{}")
        assert (outbox.pending, outbox.only) == (4, None), "a line end of ours comes first"
        outbox.wrote(1)
        assert (outbox.pending, outbox.only) == (3, b"{}\n")
        outbox.wrote_only()
        assert (outbox.pending, outbox.own, outbox.within_line) == (0, 0, False)
        assert not spoken.waiting
        outbox.append(b"two\n")
        assert waiting(outbox) == [(3, b"two\n", 0)]

    def test_one_that_was_emptied(self) -> None:
        """There is nothing to write."""
        outbox = filled(b"one\n", b"two\n")
        outbox.replace(1, b"")
        outbox.wrote(4)
        assert outbox.only is None

    def test_a_lent_buffer_is_copied(self) -> None:
        """Before it is used again; a message of ours may follow it."""
        buffer = bytearray(b"one\n")
        outbox = filled(b"zero\n")
        outbox.copy_lent()
        outbox.append_piece(memoryview(buffer))
        outbox.copy_lent()
        buffer[:] = b"two\n"
        assert content(outbox) == b"zero\none\n"
        outbox.append_piece(memoryview(buffer))
        outbox.append(b"ours\n")
        outbox.copy_lent()
        buffer[:] = b"six\n"
        assert content(outbox) == b"zero\none\ntwo\nours\n"
        outbox.append_piece(memoryview(buffer))
        outbox.wrote(22)
        outbox.copy_lent()
        assert content(outbox) == b""


class TestTakingBack:
    """What has not begun to go out can still be replaced."""

    def test_what_waits(self) -> None:
        """Each part, with its number, and how much of it is gone."""
        outbox = filled(b"one\n", b"two\n", b"three\n")
        outbox.wrote(5)
        assert waiting(outbox) == [(1, b"two\n", 1), (2, b"three\n", 0)]

    def test_pieces_are_never_replaced(self) -> None:
        """Of what has begun all is delivered."""
        outbox = filled(b"one\n")
        outbox.append_piece(b"tw")
        outbox.append_piece(b"o\n")
        outbox.append(b"three\n")
        assert [one.number for one in waiting(outbox)] == [0, 3]
        outbox.wrote(6)
        assert [one.number for one in waiting(outbox)] == [3]

    def test_pieces_of_what_has_arrived_whole(self) -> None:
        """They become one part, if nothing of it is gone."""
        outbox = filled(b"one\n")
        for piece in (b"tw", b"o", b"\n"):
            outbox.append_piece(piece)
        outbox.append(b"three\n")
        outbox.join_pieces()
        assert [one.part for one in waiting(outbox) if one.part] == [b"one\n", b"two\n", b"three\n"]
        assert (content(outbox), outbox.pending, outbox.end) == (b"one\ntwo\nthree\n", 14, 5)
        outbox.replace(1, b"")
        assert content(outbox) == b"one\nthree\n"
        outbox.join_pieces()

    @pytest.mark.parametrize("gone", [1, 2, 3])
    def test_pieces_that_have_begun_to_go(self, gone: int) -> None:
        """They stay what they are."""
        outbox = filled()
        for piece in (b"tw", b"o\n"):
            outbox.append_piece(piece)
        outbox.wrote(gone)
        outbox.join_pieces()
        outbox.append(b"three\n")
        assert [one.part for one in waiting(outbox) if one.part == b"three\n"] == [b"three\n"]
        assert content(outbox) == b"two\nthree\n"[gone:]

    def test_pieces_with_something_between(self) -> None:
        """They were of two messages."""
        outbox = filled()
        outbox.append_piece(b"on")
        outbox.append(b"x")
        outbox.append_piece(b"two\n")
        outbox.join_pieces()
        assert content(outbox) == b"onxtwo\n"

    def test_a_part_is_replaced(self) -> None:
        """By a shorter one."""
        outbox = filled(b"one\ntwo\n", b"three\n")
        outbox.replace(0, b"one\n")
        assert content(outbox) == b"one\nthree\n"
        assert outbox.pending == 10

    def test_what_is_gone_stays_gone(self) -> None:
        """The rest behind it is what is replaced."""
        outbox = filled(b"one\ntwo\n", b"three\n")
        outbox.wrote(4)
        outbox.replace(0, b"one\n2\n")
        assert content(outbox) == b"2\nthree\n"
        assert outbox.pending == 8

    def test_all_that_was_left_of_the_first(self) -> None:
        """Then the next is first."""
        outbox = filled(b"one\ntwo\n", b"three\n")
        outbox.wrote(4)
        outbox.replace(0, b"one\n")
        assert content(outbox) == b"three\n"
        assert waiting(outbox) == [(1, b"three\n", 0)]

    def test_nothing_is_left(self) -> None:
        """Empty parts are not written by themselves."""
        outbox = filled(b"one\n", b"two\n", b"three\n")
        outbox.replace(1, b"")
        outbox.replace(0, b"")
        assert outbox.buffers() == [b"three\n"]
        assert outbox.pending == 6
        outbox.replace(2, b"")
        assert (outbox.buffers(), outbox.pending) == ([], 0)


@given(
    st.lists(
        st.tuples(st.sampled_from(["append", "piece", "write", "empty"]), st.integers(0, 9)),
        max_size=40,
    )
)
def test_any_use(steps: list[tuple[str, int]]) -> None:
    """Nothing is lost, reordered or sent twice but what was taken back."""
    outbox = Outbox(20)
    expected: dict[int, bytes] = {}
    number = 0
    for step, size in steps:
        match step:
            case "append" | "piece" if size:
                part = bytes([97 + number % 26]) * size
                (outbox.append if step == "append" else outbox.append_piece)(part)
                expected[number] = part
                number += 1
            case "write":
                left = min(size, outbox.pending)
                outbox.wrote(left)
                for key in sorted(expected):
                    taken = min(left, len(expected[key]))
                    expected[key] = expected[key][taken:]
                    left -= taken
            case "empty":
                for one in waiting(outbox)[:1]:
                    if not one.gone:
                        outbox.replace(one.number, b"")
                        expected[one.number] = b""
        assert content(outbox) == b"".join(expected[key] for key in sorted(expected))
        assert outbox.pending == len(content(outbox))
        assert outbox.full == (outbox.pending >= 20)
        assert not outbox.pending or outbox.buffers(1)[0].nbytes
