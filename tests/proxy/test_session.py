"""The whole engine behind one class: any bytes in, bytes and notes out."""

from __future__ import annotations

from nevermind.dialects import Dialect
from nevermind.framing.lines import STILL_S
from nevermind.messages import Message
from nevermind.notes import Diverted, Event, Note, What
from nevermind.outbox import OWN_LIMIT
from nevermind.peers import Peer
from nevermind.policy import Noise, Policy
from nevermind.session import Session
from proxy.messages import PLAIN, answer, call, cancel, listen, note, progress, task
from proxy.wire import CLIENT, SERVER, line, taken

FRAMED = Dialect(name="framed", cancel_method="$/cancelRequest", header_framed=True)


class TestConversation:
    """The shortest of them all."""

    def test_cancelled_means_cancelled(self) -> None:
        """The point of it."""
        session = Session()
        session.receive_data(CLIENT, line(call(7)), 0.0)
        session.receive_data(CLIENT, line(cancel(7, "enough")), 1.0)
        assert taken(session, SERVER) == line(call(7)) + line(cancel(7, "enough"))
        session.receive_data(SERVER, line(answer(7)) + line(note()), 3.0)
        assert taken(session, CLIENT) == line(note())
        first, late = session.take_notes()
        assert isinstance(first, Note)
        assert isinstance(late, Note)
        assert (first.event, first.reason) == (Event.CANCEL, "enough")
        assert (late.what, late.since_cancel_s) == (What.LATE_RESPONSE, 2.0)

    def test_sessions_know_nothing_of_each_other(self) -> None:
        """Each has a ledger of its own."""
        one, other = Session(), Session()
        one.receive_data(CLIENT, line(call(7)) + line(cancel(7)), 0.0)
        other.receive_data(SERVER, line(answer(7)), 0.0)
        assert taken(other, CLIENT) == line(answer(7))

    def test_the_nonce_is_in_fresh_ids(self) -> None:
        """So that nobody can guess them."""
        for nonce in ("0", "5eed"):
            session = Session(nonce=nonce)
            session.receive_data(CLIENT, line(call("a")) + line(cancel("a")) + line(call("a")), 0.0)
            assert f'"nevermind-{nonce}-1"'.encode() in taken(session, SERVER)

    def test_data_can_go_straight_to_its_direction(self) -> None:
        """Past this class, which has nothing to add."""
        session = Session()
        session.stream(CLIENT).receive(line(call(7)), 0.0)
        assert taken(session, SERVER) == line(call(7))

    def test_a_dialect_with_headers(self) -> None:
        """Is read by them."""
        session = Session(dialect=FRAMED)
        frame = b"Content-Length: %d\r\n\r\n%b" % (len(call(7)), call(7))
        session.receive_data(CLIENT, frame, 0.0)
        assert taken(session, SERVER) == frame
        assert session.statistics().in_flight[CLIENT] == 1
        assert not session.stream(CLIENT).passing
        session.stream(CLIENT).receive_lent(bytearray(frame + b"#"), len(frame), 0.0)
        assert taken(session, SERVER) == frame

    def test_a_dialect_without_cancels(self) -> None:
        """Everything passes."""
        session = Session(dialect=PLAIN)
        lines = line(call(7)) + line(cancel(7)) + line(cancel(7)) + line(progress("t"))
        session.receive_data(CLIENT, lines, 0.0)
        assert taken(session, SERVER) == lines
        session.receive_data(SERVER, line(answer(7)) * 2, 0.0)
        assert taken(session, CLIENT) == line(answer(7)) * 2


class TestTime:
    """Time is an input."""

    def test_deadlines(self) -> None:
        """The earliest of all, and none where nothing is due."""
        session = Session(Policy(timeout=5.0))
        assert session.next_deadline() is None
        session.receive_data(CLIENT, line(call(7)), 1.0)
        assert session.next_deadline() == 6.0
        session.receive_data(CLIENT, b"{", 2.0)
        assert session.next_deadline() == 2.0 + STILL_S
        session.receive_data(SERVER, b"{", 1.5)
        assert session.next_deadline() == 1.5 + STILL_S
        session.expire(3.0)
        assert session.next_deadline() == 6.0
        session.expire(6.0)
        assert session.next_deadline() is None
        assert b"408" in taken(session, CLIENT)

    def test_the_end_of_a_stream(self) -> None:
        """What is held goes on."""
        session = Session()
        session.receive_data(CLIENT, call(7), 0.0)
        session.receive_eof(CLIENT, 0.0)
        assert taken(session, SERVER) == call(7)
        session.receive_eof(SERVER, 0.0)
        assert taken(session, CLIENT) == b""


class TestPressure:
    """A peer that does not read stops the other."""

    def test_a_full_queue(self) -> None:
        """Until there is room again; the other direction is not touched."""
        session = Session(Policy(queue_limit=10))
        session.receive_data(SERVER, line(note()), 0.0)
        assert [session.may_read(peer) for peer in (CLIENT, SERVER)] == [True, False]
        taken(session, CLIENT)
        assert [session.may_read(peer) for peer in (CLIENT, SERVER)] == [True, True]

    def test_answers_of_ours(self) -> None:
        """A peer that makes us say a lot and does not read is not read itself."""
        session = Session(Policy(answer_cancelled=0.0))
        number = 0
        while session.may_read(CLIENT):
            number += 1
            assert number < OWN_LIMIT
            session.receive_data(CLIENT, line(call(number)) + line(cancel(number)), 0.0)
            taken(session, SERVER)
        assert session.may_read(SERVER)
        assert session.outbox[CLIENT].own >= OWN_LIMIT


class TestNotes:
    """What happened, drained by whoever writes it down."""

    def test_they_are_given_once(self) -> None:
        """And none where nothing happened."""
        session = Session(Policy(noise=Noise.STDERR))
        assert session.take_notes() == []
        session.receive_data(SERVER, b"listening\n", 0.0)
        told, aside = session.take_notes()
        assert isinstance(told, Note)
        assert aside == Diverted(b"listening\n")
        assert session.take_notes() == []

    def test_statistics(self) -> None:
        """From them the last line is made."""
        session = Session(Policy(answer_cancelled=10.0, reap_tasks=True, timeout=20.0))
        session.receive_data(CLIENT, b"".join(line(call(n)) for n in range(5)), 0.0)
        session.receive_data(CLIENT, line(listen("s")) + line(cancel(0)) + line(cancel(1)), 1.0)
        session.receive_data(CLIENT, line(cancel(1)), 1.0)
        session.receive_data(SERVER, line(answer(0)) + line(task(1)) + line(answer(2)), 4.0)
        session.receive_data(SERVER, line(call("x")), 4.0)
        session.expire(25.0)
        statistics = session.statistics()
        assert statistics.forwarded == 10
        assert statistics.dropped == {What.REDUNDANT_CANCEL: 1, What.LATE_RESPONSE: 2}
        assert (statistics.cancelled, statistics.never_answered) == (4, 2)
        assert statistics.longest_overrun_s == 3.0
        assert statistics.in_flight == {CLIENT: 1, SERVER: 1}
        assert (statistics.timed_out, statistics.reaped, statistics.waiting) == (2, 1, 0)


class TestWholeMessages:
    """Peers that speak in whole messages have a mailbox."""

    def test_one_of_them(self) -> None:
        """The other speaks in lines."""
        session = Session(messaging=(SERVER,))
        session.receive_data(CLIENT, line(call(7)) + line(cancel(7)), 0.0)
        box = session.mailbox[SERVER]
        sent = []
        while (message := box.begin()) is not None:
            sent.append(message.body)
            box.sent()
        assert sent == [call(7), cancel(7)]
        session.receive_message(SERVER, Message(answer(7), text=True), 0.0)
        session.receive_message(SERVER, Message(note(), text=True), 0.0)
        assert taken(session, CLIENT) == line(note())

    def test_both_of_them(self) -> None:
        """There is no stream at all."""
        session = Session(messaging=tuple(Peer))
        session.receive_message(CLIENT, Message(call(7), text=True), 0.0)
        assert session.mailbox[SERVER].begin() == Message(call(7), text=True)
        assert not session.outbox
        session.receive_eof(CLIENT, 0.0)
        assert session.next_deadline() is None

    def test_the_end_of_a_stream_is_the_end_of_a_message(self) -> None:
        """Even without its newline."""
        session = Session(messaging=(SERVER,))
        session.receive_data(CLIENT, call(7), 0.0)
        session.receive_eof(CLIENT, 0.0)
        assert session.mailbox[SERVER].begin() == Message(call(7), text=True)

    def test_answers_are_taken_back_from_either_kind_of_queue(self) -> None:
        """Whatever the host speaks."""
        session = Session(messaging=(CLIENT,))
        session.receive_message(CLIENT, Message(call(7), text=True), 0.0)
        session.receive_data(SERVER, line(answer(7)) + line(note()), 0.0)
        session.receive_message(CLIENT, Message(cancel(7), text=True), 0.0)
        assert session.mailbox[CLIENT].begin() == Message(note(), text=True)
