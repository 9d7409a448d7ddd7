"""Sessions whose messages have headers: a header shares the fate of its message, byte for byte."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.session import Session
from proxy.framed_script import asks, hears, replies, says
from proxy.header_frames import FRAMED, MCP_FRAMED, frame
from proxy.messages import answer, batch, call, cancel, error, note, task
from proxy.playbook import Waits, client, held, play, server
from proxy.wire import taken

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


class TestFates:
    def test_a_dropped_message_goes_with_its_header(self) -> None:
        odd = b"Content-Type: x\r\ncontent-length :  <n>\r\nX-Y: z\r\n\r\n"
        play(
            asks(call(1)),
            says(client, cancel(1, dialect=FRAMED), odd),
            hears(server, cancel(1, dialect=FRAMED), odd),
            says(client, cancel(1, dialect=FRAMED), odd),
            held(REDUNDANT, id=1),
            asks(call(2)),
            dialect=FRAMED,
        )

    def test_the_first_answer_is_owed_and_no_other(self) -> None:
        play(
            asks(call(1)),
            asks(cancel(1, dialect=FRAMED)),
            replies(error(1, -32800)),
            says(server, answer(1)),
            held(LATE, id=1),
            replies(note()),
            dialect=FRAMED,
        )

    def test_a_task_that_answers_a_cancelled_request_settles_it_as_any_answer(self) -> None:
        dialect = replace(FRAMED, creates_tasks=True)
        play(
            asks(call(1)),
            asks(cancel(1, dialect=FRAMED)),
            replies(task(1)),
            says(server, answer(1)),
            held(LATE, id=1),
            # it created a task: nobody can say what a cancel means now
            asks(cancel(1, dialect=FRAMED)),
            asks(call(1)),
            replies(answer(1)),
            dialect=dialect,
        )

    def test_bodies_that_are_no_message_pass(self) -> None:
        bodies = [
            b"",
            b"{",
            b"[]",
            b"null",
            b'{"seq":1,"type":"request","command":"next"}',
            b"\xff\0",
        ]
        play(*(asks(body) for body in bodies), *(replies(body) for body in bodies), dialect=FRAMED)

    def test_what_is_in_no_frame_passes_where_it_stands(self) -> None:
        play(
            asks(call(1)),
            asks(cancel(1, dialect=FRAMED)),
            replies(answer(1)),
            server.raw(b"Listening\n" + frame(answer(1)) + b"INFO: still here\r\n" + frame(note())),
            client.hears_raw(b"Listening\n"),
            held(LATE, id=1),
            # in front of a header a line like this is one of its fields
            client.hears_raw(b"INFO: still here\r\n" + frame(note())),
            dialect=FRAMED,
        )

    def test_white_space_between_frames_passes(self) -> None:
        play(
            client.raw(frame(call(1)) + b"\r\n" + frame(call(2)) + b"\n\n"),
            server.hears_raw(frame(call(1)) + b"\r\n" + frame(call(2)) + b"\n\n"),
            dialect=FRAMED,
        )


class TestTranslation:
    def test_only_the_number_in_the_header_changes(self) -> None:
        odd = b"X: 1\r\nContent-Length:<n>  \r\n\r\n"
        session = Session(dialect=MCP_FRAMED, nonce="5eed")
        for body in (call(7), cancel(7)):
            session.receive_data(Peer.CLIENT, frame(body), 0.0)
        taken(session, Peer.SERVER)
        session.receive_data(Peer.CLIENT, frame(call(7, work="new"), odd), 1.0)
        wire = taken(session, Peer.SERVER)
        fresh = int(wire.partition(b'"id":')[2].partition(b",")[0])
        assert fresh != 7
        assert wire == frame(call(fresh, work="new"), odd)
        session.receive_data(Peer.SERVER, frame(answer(fresh), odd) + frame(answer(7)), 2.0)
        assert taken(session, Peer.CLIENT) == frame(answer(7), odd)

    def test_a_spliced_batch_is_as_long_as_it_says(self) -> None:
        play(
            asks(call(1)),
            asks(call(2)),
            asks(cancel(1)),
            says(server, batch(answer(1), answer(2))),
            held(LATE, id=1),
            hears(client, batch(answer(2))),
            says(server, batch(answer(1), error(1))),
            held(LATE, id=1),
            held(LATE, id=1),
            replies(note()),
            dialect=MCP_FRAMED,
        )


class TestRetraction:
    def test_an_answer_that_waits_is_taken_out_with_its_header(self) -> None:
        play(
            asks(call(1)),
            asks(call(2)),
            client.stalls(),
            server.raw(b"noise\n" + frame(answer(1)) + frame(answer(2))),
            says(client, cancel(1)),
            held(LATE, id=1),
            held(REDUNDANT, id=1),
            client.reads(),
            client.hears_raw(b"noise\n" + frame(answer(2))),
            dialect=MCP_FRAMED,
            ways=("one by one", "together"),
        )

    def test_what_has_begun_to_go_out_is_delivered_whole(self) -> None:
        play(
            asks(call(1)),
            client.stalls(3),
            says(server, answer(1)),
            client.hears_raw(b"Con"),
            says(client, cancel(1)),
            held(REDUNDANT, id=1),
            client.reads(),
            client.hears_raw(frame(answer(1))[3:]),
            dialect=MCP_FRAMED,
            ways=("one by one",),
        )

    def test_an_answer_that_is_owed_is_never_taken_back(self) -> None:
        play(
            asks(call(1)),
            client.stalls(),
            says(server, answer(1)),
            says(client, cancel(1, dialect=FRAMED)),
            held(REDUNDANT, id=1),
            client.reads(),
            hears(client, answer(1)),
            dialect=FRAMED,
            ways=("one by one",),
        )


class TestEnds:
    @pytest.mark.parametrize("rest", [b"Content-Length: 5\r\n", frame(answer(1))[:-1], b"conten"])
    def test_the_end_delivers_what_is_held(self, rest: bytes) -> None:
        play(server.raw(rest), server.ends(), client.hears_raw(rest), dialect=FRAMED)

    def test_stillness_lets_go_of_what_only_resembles_a_header(self) -> None:
        play(
            server.raw(b"INFO: started\n"),
            Waits(0.1),
            client.hears_raw(b"INFO: started\n"),
            dialect=FRAMED,
        )
        session = Session(dialect=FRAMED)
        session.receive_data(Peer.SERVER, b"INFO: started\n", 3.0)
        assert session.next_deadline() == pytest.approx(3.1)
        session.expire(3.05)
        assert taken(session, Peer.CLIENT) == b""
        session.expire(3.1)
        assert taken(session, Peer.CLIENT) == b"INFO: started\n"
        assert session.next_deadline() is None

    @pytest.mark.parametrize("at", [1, 9, 16, 19, 21, 30])
    def test_a_slow_frame_is_a_frame(self, at: int) -> None:
        data = frame(answer(1))
        play(
            asks(call(1)),
            asks(cancel(1)),
            server.raw(data[:at]),
            Waits(60.0),
            server.raw(data[at:]),
            held(LATE, id=1),
            dialect=MCP_FRAMED,
        )


class TestStrayMessages:
    def test_after_bytes_that_may_have_asked_nothing_ended_is_certain(self) -> None:
        performance = play(
            asks(call(1)),
            asks(cancel(1)),
            client.raw(call(1) + b"\n"),
            server.hears_raw(call(1) + b"\n"),
            replies(answer(1)),
            dialect=MCP_FRAMED,
        )
        assert [n.event for n in performance.notes] == [Event.CANCEL, Event.FORGET]

    def test_it_is_told_once_until_a_frame_comes(self) -> None:
        noise = b"{\n{\n"
        performance = play(
            server.raw(noise),
            client.hears_raw(noise),
            replies(note()),
            server.raw(noise),
            client.hears_raw(noise),
            dialect=MCP_FRAMED,
        )
        assert [n.event for n in performance.notes] == [Event.FORGET, Event.FORGET]

    def test_also_when_stillness_says_so(self) -> None:
        performance = play(
            client.raw(b"X: {"), Waits(0.1), server.hears_raw(b"X: {"), dialect=MCP_FRAMED
        )
        assert [n.event for n in performance.notes] == [Event.FORGET]
