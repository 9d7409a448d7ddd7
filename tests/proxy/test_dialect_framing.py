"""Sessions whose messages have headers: a header shares the fate of its message, byte for byte."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.dialects import MCP
from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import IdReuse, LateResponse, Policy
from nevermind.session import Session
from proxy.messages import OWED, answer, batch, call, cancel, error, note, progress, task
from proxy.playbook import End, Heard, Said, Script, Waits, client, held, play, server

FRAMED = replace(OWED, header_framed=True)
"""As LSP: a cancelled request is owed its answer."""

MCP_FRAMED = replace(MCP, header_framed=True)
"""Cancelled stays unanswered, and ids may be translated."""

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL


def frame(body: bytes, header: bytes = b"Content-Length: <n>\r\n\r\n") -> bytes:
    return header.replace(b"<n>", b"%d" % len(body)) + body


def says(end: End, body: bytes, header: bytes = b"Content-Length: <n>\r\n\r\n") -> Said:
    return end.raw(frame(body, header))


def hears(end: End, body: bytes, header: bytes = b"Content-Length: <n>\r\n\r\n") -> Heard:
    return end.hears_raw(frame(body, header))


def asks(body: bytes) -> Script:
    """The client says it and the server hears it as it is."""
    return [says(client, body), hears(server, body)]


def replies(body: bytes) -> Script:
    """The server says it and the client hears it as it is."""
    return [says(server, body), hears(client, body)]


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


def taken(session: Session, peer: Peer, most: int | None = None) -> bytes:
    """What waits for ``peer`` is written, or the first ``most`` bytes of it."""
    data = b"".join(session.outbox[peer].buffers(1 << 20))[:most]
    session.outbox[peer].wrote(len(data))
    return data


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
            wait(0.1),
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
            wait(60.0),
            server.raw(data[at:]),
            held(LATE, id=1),
            dialect=MCP_FRAMED,
        )


def wait(seconds: float) -> Waits:
    return Waits(seconds)


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
            client.raw(b"X: {"), wait(0.1), server.hears_raw(b"X: {"), dialect=MCP_FRAMED
        )
        assert [n.event for n in performance.notes] == [Event.FORGET]


SMALL = Policy(max_message=6000)


def filled(message: bytes, size: int = 20_000) -> bytes:
    """``message`` with a long string in the place of "slow" or "done"."""
    long = b'"' + b"x" * size + b'"'
    return message.replace(b'"slow"', long).replace(b'"done"', long)


def id_last(message: bytes) -> bytes:
    """The same message with its id at its end, as TypeScript peers write it."""
    head, _, rest = message.partition(b'"id":')
    number, _, rest = rest.partition(b",")
    return head + rest[:-1] + b',"id":' + number + b"}"


class TestOverlong:
    def test_it_goes_on_before_it_is_whole(self) -> None:
        session = Session(SMALL, FRAMED)
        data = frame(filled(call(1)))
        session.receive_data(Peer.CLIENT, data[:10_000], 0.0)
        first = taken(session, Peer.SERVER)
        assert len(first) > 5000
        session.receive_data(Peer.CLIENT, data[10_000:], 0.0)
        assert first + taken(session, Peer.SERVER) == data
        assert session.statistics().in_flight[Peer.CLIENT] == 1

    @pytest.mark.parametrize("spell", [bytes, id_last])
    def test_it_is_tracked_and_retired(self, spell: type[bytes]) -> None:
        performance = play(
            asks(filled(call(1))),
            asks(call(2)),
            replies(spell(filled(answer(1)))),
            dialect=FRAMED,
            policy=SMALL,
        )
        assert performance.statistics.in_flight[Peer.CLIENT] == 1

    def test_a_late_one_is_dropped_with_its_header(self) -> None:
        play(
            asks(call(1)),
            asks(cancel(1)),
            says(server, filled(answer(1))),
            held(LATE, id=1),
            replies(note()),
            dialect=MCP_FRAMED,
            policy=SMALL,
        )

    def test_a_long_one_in_one_chunk_is_no_other(self) -> None:
        play(
            asks(call(1)),
            asks(cancel(1)),
            says(server, answer(1, "x" * 80)),
            held(LATE, id=1),
            asks(call(2)),
            dialect=MCP_FRAMED,
            policy=Policy(max_message=90),
        )

    def test_the_end_comes_in_the_middle(self) -> None:
        session = Session(SMALL, FRAMED)
        data = frame(filled(answer(1)))[:-100]
        session.receive_data(Peer.SERVER, data, 0.0)
        session.receive_eof(Peer.SERVER, 0.0)
        assert taken(session, Peer.CLIENT) == data

    def test_a_translated_id_in_the_head_changes_the_length(self) -> None:
        session = Session(SMALL, MCP_FRAMED, nonce="5eed")
        for body in (call(7), cancel(7), call(7)):
            session.receive_data(Peer.CLIENT, frame(body), 0.0)
        fresh = int(taken(session, Peer.SERVER).rpartition(b'"id":')[2].partition(b",")[0])
        assert fresh != 7
        session.receive_data(Peer.SERVER, frame(filled(answer(fresh))), 1.0)
        assert taken(session, Peer.CLIENT) == frame(filled(answer(7)))

    def test_a_translated_id_at_the_end_keeps_the_length_that_was_announced(self) -> None:
        session = Session(SMALL, MCP_FRAMED, nonce="5eed")
        for body in (call(7), cancel(7), call(7)):
            session.receive_data(Peer.CLIENT, frame(body), 0.0)
        wire = taken(session, Peer.SERVER)
        fresh = int(wire.rpartition(b'"id":')[2].partition(b",")[0])
        session.receive_data(Peer.SERVER, frame(id_last(filled(answer(fresh)))), 1.0)
        room = len(str(fresh))
        expected = id_last(filled(answer(7)))[:-2] + b"7".ljust(room) + b"}"
        assert taken(session, Peer.CLIENT) == frame(expected)

    def test_where_the_id_does_not_fit_it_is_left_as_it_is(self) -> None:
        name = "seven" * 20
        session = Session(SMALL, MCP_FRAMED, nonce="5eed")
        for body in (call(name), cancel(name), call(name)):
            session.receive_data(Peer.CLIENT, frame(body), 0.0)
        wire = taken(session, Peer.SERVER)
        fresh = wire.rpartition(b'"id":"')[2].partition(b'"')[0].decode()
        assert fresh != name
        late = frame(id_last(filled(answer(fresh))))
        session.receive_data(Peer.SERVER, late, 1.0)
        assert taken(session, Peer.CLIENT) == late

    def test_a_request_whose_id_comes_last_is_not_tracked(self) -> None:
        # a fresh id would not have fitted; so its tombstone must not eat its answer
        play(
            asks(call(7)),
            asks(cancel(7)),
            asks(id_last(filled(call(7)))),
            replies(answer(7)),
            dialect=MCP_FRAMED,
            policy=SMALL,
        )


IDS = st.sampled_from([1, 2, "1", b"2.0"])
ASKED = st.one_of(
    st.builds(call, IDS, st.none() | st.sampled_from([1, "t"])),
    st.builds(cancel, IDS),
    st.builds(batch, st.builds(call, IDS), st.builds(cancel, IDS)),
)
GIVEN = st.one_of(
    st.builds(answer, IDS),
    st.builds(error, IDS),
    st.builds(progress, st.sampled_from([1, "t"])),
    st.builds(batch, st.builds(answer, IDS), st.builds(error, IDS)),
    st.just(note()),
)
TALK = st.lists(
    st.tuples(st.just(Peer.CLIENT), ASKED) | st.tuples(st.just(Peer.SERVER), GIVEN), max_size=25
)


@given(TALK, st.booleans(), st.sampled_from(IdReuse), st.none() | st.sampled_from(LateResponse))
def test_a_framed_message_has_the_fate_of_the_same_message_in_a_line(
    talk: list[tuple[Peer, bytes]], owed: bool, reuse: IdReuse, late: LateResponse | None
) -> None:
    policy = Policy(id_reuse=reuse, late_response=late)
    dialect = replace(MCP, answer_owed=owed)
    lines = Session(policy, dialect, nonce="5eed")
    framed = Session(policy, replace(dialect, header_framed=True), nonce="5eed")
    for now, (peer, body) in enumerate(talk):
        lines.receive_data(peer, body + b"\n", float(now))
        framed.receive_data(peer, frame(body), float(now))
        line = taken(lines, peer.other)
        assert taken(framed, peer.other) == (frame(line[:-1]) if line else b"")
        assert framed.take_notes() == lines.take_notes()
    assert framed.statistics() == lines.statistics()


PIECES = st.one_of(
    st.binary(max_size=30),
    st.binary(max_size=30).map(frame),
    st.sampled_from([call(1), answer(1), note(), batch(note()), b"null", b"{", b""]).map(frame),
    st.builds(frame, st.just(filled(answer(2), 200)), st.just(b"x: y\ncontent-length : <n>\n\n")),
    st.sampled_from(
        [b"Content-Length: 7\r\n", b"INFO: x\r\n", b"\r\n", b"Conte", b"Content-Length: x"]
    ),
)


@given(st.lists(st.tuples(st.sampled_from(Peer), PIECES, st.sampled_from([0.0, 0.05, 0.2]))))
def test_nothing_is_lost_whatever_comes(pieces: list[tuple[Peer, bytes, float]]) -> None:
    session = Session(Policy(max_message=150), FRAMED)
    came, went = dict.fromkeys(Peer, b""), dict.fromkeys(Peer, b"")
    now = 0.0
    for peer, data, pause in pieces:
        if data:
            session.receive_data(peer, data, now)
            came[peer.other] += data
        now += pause
        session.expire(now)
        went[peer.other] += taken(session, peer.other)
    for peer in Peer:
        session.receive_eof(peer, now)
    for peer in Peer:
        went[peer] += taken(session, peer)
    assert went == came
