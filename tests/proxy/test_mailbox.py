"""What a WebSocket peer has yet to be sent: a stream taken apart into messages, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nevermind.framing.content_length import ContentLength
from nevermind.framing.lines import Lines
from nevermind.mailbox import OVERHEAD, Mailbox
from nevermind.messages import Message
from nevermind.outbox import Waiting

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def mailbox(limit: int = 1000, longest: int = 1000) -> Mailbox:
    return Mailbox(limit, longest, Lines(longest))


def text(body: bytes) -> Message:
    return Message(body, text=True)


def waiting(box: Mailbox) -> list[Waiting]:
    """What may still be withdrawn."""
    found = (box.part(number) for number in range(box.first, box.end))
    return [part for part in found if part is not None]


def take_all(box: Mailbox) -> list[Message]:
    """Send all that waits."""
    taken = []
    while (message := box.begin()) is not None:
        taken.append(message)
        box.sent()
    return taken


class TestAStreamIsTakenApart:
    def test_lines(self) -> None:
        box = mailbox()
        box.append(PING + b"\n" + PONG + b"\r\n")
        assert take_all(box) == [text(PING), text(PONG)]

    def test_blank_lines_are_not_sent(self) -> None:
        box = mailbox()
        box.append(b"\n\r\n  \n" + PING + b"\n\n")
        assert take_all(box) == [text(PING)]

    def test_a_part_ends_where_a_frame_ends_with_a_newline_or_not(self) -> None:
        """Some peers never send the newline: what has been judged goes at once."""
        box = mailbox()
        box.append(PING)
        assert take_all(box) == [text(PING)]
        box.append(b"\n")
        assert take_all(box) == []

    def test_pieces_are_held_until_the_line_ends(self) -> None:
        box = mailbox()
        box.append_piece(memoryview(PING[:7]))
        box.append_piece(PING[7:20])
        assert take_all(box) == []
        box.append_piece(PING[20:] + b"\n")
        assert take_all(box) == [text(PING)]

    def test_a_last_line_without_end_goes_when_the_stream_ends(self) -> None:
        box = mailbox()
        box.append_piece(PING)
        box.flush()
        box.flush()
        assert take_all(box) == [text(PING)]

    def test_a_message_with_a_header_among_lines_loses_the_header(self) -> None:
        """A peer that answers with Content-Length headers all the same is understood."""
        body = b'{\n"id": 1\n}'
        box = mailbox()
        box.append(b"Content-Length: 11\r\n\r\n" + body + PING + b"\n")
        assert take_all(box) == [text(body), text(PING)]

    def test_a_header_whose_length_fits_nothing_is_sent_as_it_is(self) -> None:
        stray = b"Content-Length: 3\r\n\r\n{}x"
        box = mailbox()
        box.append(stray + b"\n")
        assert take_all(box) == [text(stray)]

    def test_header_framing(self) -> None:
        box = Mailbox(1000, 1000, ContentLength(1000))
        frame = b"Content-Length: 40\r\nContent-Type: x\r\n\r\n" + PING
        box.append(frame + frame)
        box.append_piece(frame[:50])
        assert take_all(box) == [text(PING), text(PING)]
        box.append_piece(frame[50:])
        assert take_all(box) == [text(PING)]

    def test_a_line_that_strays_among_headers_is_a_message(self) -> None:
        box = Mailbox(1000, 1000, ContentLength(1000))
        box.append(b"listening\nContent-Length: 40\r\n\r\n" + PING)
        assert take_all(box) == [text(b"listening"), text(PING)]

    @given(
        bodies=st.lists(st.binary().filter(lambda body: b"\n" not in body)),
        cuts=st.lists(st.integers(0, 400)),
    )
    def test_however_it_is_cut(self, bodies: list[bytes], cuts: list[int]) -> None:
        lines = [b"{" + body for body in bodies]
        stream = b"".join(line + b"\n" for line in lines)
        box = mailbox(limit=10**6, longest=10**6)
        at = 0
        for cut in [*sorted(cuts), len(stream)]:
            box.append_piece(stream[at : max(at, cut)])
            at = max(at, cut)
        assert [message.body for message in take_all(box)] == [
            line.removesuffix(b"\r") for line in lines
        ]


class TestWhatIsTooLong:
    def test_a_line_is_not_held_beyond_the_limit(self) -> None:
        box = mailbox(longest=100)
        box.append(PING + b"\n")
        box.append_piece(b"{" + b" " * 99)
        assert box.overlong == 0
        box.append_piece(b" " * 50)
        assert box.overlong == 150
        box.append_piece(b"}\n" + PING + b"\n")
        assert take_all(box) == [text(PING)]

    def test_a_header_says_beforehand_how_long(self) -> None:
        box = Mailbox(1000, 100, ContentLength(100))
        box.append_piece(b"Content-Length: 5000\r\n\r\n" + b"x" * 4200)
        assert box.overlong == 5000
        assert take_all(box) == []


class TestBounds:
    def test_it_is_full_at_its_limit(self) -> None:
        box = mailbox(limit=OVERHEAD + 10)
        seen = []
        for body in (b"123456789", b""):
            box.put(text(body))
            seen.append((box.pending, box.full))
        take_all(box)
        seen.append((box.pending, box.full))
        assert seen == [(OVERHEAD + 9, False), (2 * OVERHEAD + 9, True), (0, False)]

    def test_the_beginning_of_a_message_does_not_count_or_its_end_would_never_be_read(self) -> None:
        box = mailbox(limit=10, longest=1000)
        box.append_piece(b"x" * 500)
        assert not box.full

    def test_text_and_binary_keep_their_kind_and_their_order(self) -> None:
        box = mailbox()
        messages = [text(b"a"), Message(b"\xff", text=False), Message(b"a", text=False), text(b"")]
        for message in messages:
            box.put(message)
        assert take_all(box) == messages


class TestWithdrawing:
    def test_what_has_begun_is_not_offered(self) -> None:
        box = mailbox()
        box.append(PING + b"\n" + PONG + b"\n")
        assert [w.part for w in waiting(box)] == [PING, PONG]
        box.begin()
        assert [(w.number, w.part) for w in waiting(box)] == [(1, PONG)]

    def test_what_is_withdrawn_is_not_sent(self) -> None:
        box = mailbox()
        for body in (b"1", b"2", b"3"):
            box.put(text(body))
        box.replace(1, b"")
        assert box.pending == 2 * (OVERHEAD + 1)
        assert [w.number for w in waiting(box)] == [0, 2]
        assert take_all(box) == [text(b"1"), text(b"3")]
        box.put(text(b"4"))
        assert [w.number for w in waiting(box)] == [3]

    def test_all_may_be_withdrawn(self) -> None:
        box = mailbox()
        box.put(text(b"1"))
        box.replace(0, b"")
        assert box.begin() is None
        assert box.pending == 0

    def test_a_part_of_it_may_be(self) -> None:
        box = mailbox()
        box.put(Message(b"[1,2]", text=False))
        box.replace(0, b"[2]")
        assert box.pending == OVERHEAD + 3
        assert take_all(box) == [Message(b"[2]", text=False)]


class TestAPeerThatIsGone:
    def test_nothing_waits_for_it(self) -> None:
        box = mailbox()
        box.append(PING + b"\n" + PONG + b"\n")
        box.append_piece(b'{"id"')
        box.begin()
        box.clear()
        box.sent()
        assert box.pending == 0
        assert take_all(box) == []
        box.put(text(PING))
        assert [w.number for w in waiting(box)] == [2]
