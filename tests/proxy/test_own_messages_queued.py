"""Messages of our own in the queues: they take their turn, and are not held up by the bound."""

from __future__ import annotations

from nevermind.framing.lines import Lines
from nevermind.mailbox import OVERHEAD, Mailbox
from nevermind.messages import Message, from_body
from nevermind.outbox import OWN_LIMIT, Outbox
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.messages import call, cancel
from proxy.ours import cancelled
from proxy.own_queues import LIMIT, flooded, full, sent, waiting, waits


class TestOutbox:
    """The queue of bytes."""

    def test_ours_is_a_line(self) -> None:
        """It comes behind what was queued before it, and before what is queued after."""
        box = Outbox(LIMIT)
        box.append(b"a\n")
        box.speak(b"{}")
        box.append(b"b\n")
        assert sent(box) == b"a\n{}\nb\n"
        assert box.own == box.pending == 0

    def test_ours_has_a_header_where_others_have(self) -> None:
        """There, bytes need no line end between them."""
        box = Outbox(LIMIT, lines=False)
        box.append(b"Content-Length: 2\r\n\r\n[]")
        box.speak(b'{"a":1}')
        assert sent(box) == b'Content-Length: 2\r\n\r\n[]Content-Length: 7\r\n\r\n{"a":1}'

    def test_it_does_not_count_against_the_bound(self) -> None:
        """Whoever writes the other way would have to wait for us, who may wait for it."""
        box = Outbox(10)
        box.speak(b"{%b}" % (b" " * 100))
        assert not full(box)
        assert box.pending == box.own == 103
        box.append(b"0123456789")
        assert full(box)
        sent(box, 102)
        assert full(box)
        sent(box, 2)
        assert not full(box)
        assert box.own == 0

    def test_a_mebibyte_is_too_much(self) -> None:
        """Then the peer that does not read is not read either, until ours are gone."""
        box = Outbox(10)
        message = b'"%b"' % (b"x" * 1021)
        for _ in range(1023):
            box.speak(message)
        assert not flooded(box)
        box.speak(message)
        assert box.own == OWN_LIMIT
        assert flooded(box)
        sent(box, 1024)
        assert not flooded(box)

    def test_between_the_pieces_of_a_message(self) -> None:
        """It waits for the end, and counts as waiting."""
        box = Outbox(LIMIT)
        box.append_piece(b'{"long":')
        box.go_on(midway=True)
        first = box.speak(b"1")
        box.speak(b'"%b"' % (b"x" * OWN_LIMIT))
        assert flooded(box)
        assert waits(first)
        box.append_piece(b"2}\n")
        box.append(b"next\n")
        assert sent(box) == b'{"long":2}\nnext\n'
        box.go_on(midway=False)
        assert sent(box, 4) == b'1\n"x'
        assert not waits(first)

    def test_behind_a_message_without_line_end(self) -> None:
        """It gets one from us, once; whoever frames is told."""
        box = Outbox(LIMIT)
        assert sent(box) == b""
        box.append(b"{}")
        box.speak(b"1")
        box.speak(b"2")
        assert sent(box) == b"{}\n1\n2\n"
        assert [box.take_cut_in(), box.take_cut_in()] == [True, False]
        box.append(b"{}")
        sent(box)
        assert box.within_line
        box.speak(b"3")
        assert sent(box) == b"\n3\n"

    def test_behind_what_was_taken_out(self) -> None:
        """The line end that counts is the one before it."""
        box = Outbox(LIMIT)
        box.append(b"{}")
        box.append(b"answer\n")
        box.replace(1, b"")
        box.speak(b"1")
        assert sent(box) == b"{}\n1\n"

    def test_take_back(self) -> None:
        """What has not begun to go out is not sent; a line end that was put in stays."""
        box = Outbox(LIMIT)
        box.append(b"{}")
        first, second = box.speak(b"1"), box.speak(b"22")
        assert waits(first)
        assert first.take_back()
        assert not waits(first)
        assert not first.take_back()
        assert box.own == 4
        assert sent(box, 4) == b"{}\n2"
        assert not second.take_back()
        assert sent(box) == b"2\n"
        assert not waits(second)

    def test_take_back_the_only_one(self) -> None:
        """Nothing is left that would be written."""
        box = Outbox(LIMIT)
        assert box.speak(b"1").take_back()
        assert box.pending == box.own == 0
        assert box.buffers() == []

    def test_take_back_what_waits_for_a_message(self) -> None:
        """It has never been queued."""
        box = Outbox(LIMIT)
        box.append_piece(b"{")
        box.go_on(midway=True)
        spoken, other = box.speak(b"1"), box.speak(b"2")
        assert spoken.take_back()
        assert not waits(spoken)
        box.append_piece(b"}\n")
        box.go_on(midway=False)
        assert sent(box) == b"{}\n2\n"
        assert not other.take_back()

    def test_ours_is_not_to_be_replaced(self) -> None:
        """Only what others sent is searched for answers that came late."""
        box = Outbox(LIMIT)
        box.append(b"a\n")
        box.speak(b"1")
        box.append(b"b\n")
        assert waiting(box) == [b"a\n", b"b\n"]

    def test_clear(self) -> None:
        """The peer is gone, and with it what waited for it."""
        box = Outbox(LIMIT)
        spoken = box.speak(b"1")
        box.go_on(midway=True)
        waiting = box.speak(b"2")
        box.clear()
        assert box.own == box.pending == 0
        assert [spoken.waiting, waiting.waiting, box.flooded] == [False] * 3
        box.go_on(midway=False)
        assert box.buffers() == []


class TestMailbox:
    """The queue of whole messages."""

    def test_ours_is_a_message(self) -> None:
        """Even while another is still arriving piece by piece."""
        box = Mailbox(LIMIT, LIMIT, Lines(LIMIT))
        box.append_piece(b'{"half":')
        box.go_on(midway=True)
        box.speak(b"1")
        box.append_piece(b"2}\n")
        bodies = []
        while (message := box.begin()) is not None:
            bodies.append(message.body)
            box.sent()
        assert bodies == [b"1", b'{"half":2}']
        assert box.own == box.pending == 0
        assert [box.within_line, box.take_cut_in()] == [False, False]

    def test_it_does_not_count_against_the_bound(self) -> None:
        """Until there is a mebibyte of it."""
        box = Mailbox(10, LIMIT, Lines(LIMIT))
        box.speak(b"1" * 100)
        assert not full(box)
        assert not flooded(box)
        box.speak(b"1" * (OWN_LIMIT - 100 - 2 * OVERHEAD))
        assert not full(box)
        assert flooded(box)

    def test_take_back(self) -> None:
        """What has not begun to go out is not sent."""
        box = Mailbox(LIMIT, LIMIT, Lines(LIMIT))
        first, second = box.speak(b"1"), box.speak(b"2")
        box.put(from_body(b"3"))
        assert waiting(box) == [b"3"]
        assert waits(first)
        assert box.begin() == Message(b"1", text=True)
        assert not waits(first)
        assert not first.take_back()
        assert second.take_back()
        assert not second.take_back()
        box.sent()
        assert box.begin() == Message(b"3", text=True)
        box.sent()
        assert box.own == box.pending == 0

    def test_clear(self) -> None:
        """The peer is gone."""
        box = Mailbox(LIMIT, LIMIT, Lines(LIMIT))
        spoken = box.speak(b"1")
        box.clear()
        assert box.own == 0
        assert not spoken.take_back()

    def test_in_a_session(self) -> None:
        """A client that speaks in messages is answered, and stopped, like any other."""
        session = Session(Policy(answer_cancelled=0), messaging=(Peer.CLIENT,))
        for body in (call(1), cancel(1)):
            session.receive_message(Peer.CLIENT, from_body(body), 0.0)
        assert session.mailbox[Peer.CLIENT].begin() == from_body(cancelled(1))
        assert session.may_read(Peer.CLIENT)
        session.mailbox[Peer.CLIENT].speak(b"1" * OWN_LIMIT)
        assert not session.may_read(Peer.CLIENT)
        assert session.may_read(Peer.SERVER)
