"""Sessions whose messages have headers: those that are too long to be held."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.framed_script import asks, replies, says
from proxy.header_frames import FRAMED, MCP_FRAMED, frame
from proxy.long_messages import id_last, long, result
from proxy.messages import answer, call, cancel, note
from proxy.playbook import held, play, server
from proxy.wire import taken

LATE = What.LATE_RESPONSE
SMALL = Policy(max_message=6000)


class TestOverlong:
    def test_it_goes_on_before_it_is_whole(self) -> None:
        session = Session(SMALL, FRAMED)
        data = frame(long(call(1)))
        session.receive_data(Peer.CLIENT, data[:10_000], 0.0)
        first = taken(session, Peer.SERVER)
        assert len(first) > 5000
        session.receive_data(Peer.CLIENT, data[10_000:], 0.0)
        assert first + taken(session, Peer.SERVER) == data
        assert session.statistics().in_flight[Peer.CLIENT] == 1

    @pytest.mark.parametrize("spell", [bytes, id_last])
    def test_it_is_tracked_and_retired(self, spell: type[bytes]) -> None:
        performance = play(
            asks(long(call(1))),
            asks(call(2)),
            replies(spell(long(result(1)))),
            dialect=FRAMED,
            policy=SMALL,
        )
        assert performance.statistics.in_flight[Peer.CLIENT] == 1

    def test_a_late_one_is_dropped_with_its_header(self) -> None:
        play(
            asks(call(1)),
            asks(cancel(1)),
            says(server, long(result(1))),
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
        data = frame(long(result(1)))[:-100]
        session.receive_data(Peer.SERVER, data, 0.0)
        session.receive_eof(Peer.SERVER, 0.0)
        assert taken(session, Peer.CLIENT) == data

    def test_a_translated_id_in_the_head_changes_the_length(self) -> None:
        session = Session(SMALL, MCP_FRAMED, nonce="5eed")
        for body in (call(7), cancel(7), call(7)):
            session.receive_data(Peer.CLIENT, frame(body), 0.0)
        fresh = int(taken(session, Peer.SERVER).rpartition(b'"id":')[2].partition(b",")[0])
        assert fresh != 7
        session.receive_data(Peer.SERVER, frame(long(result(fresh))), 1.0)
        assert taken(session, Peer.CLIENT) == frame(long(result(7)))

    def test_a_translated_id_at_the_end_keeps_the_length_that_was_announced(self) -> None:
        session = Session(SMALL, MCP_FRAMED, nonce="5eed")
        for body in (call(7), cancel(7), call(7)):
            session.receive_data(Peer.CLIENT, frame(body), 0.0)
        wire = taken(session, Peer.SERVER)
        fresh = int(wire.rpartition(b'"id":')[2].partition(b",")[0])
        session.receive_data(Peer.SERVER, frame(id_last(long(result(fresh)))), 1.0)
        room = len(str(fresh))
        expected = id_last(long(result(7)))[:-2] + b"7".ljust(room) + b"}"
        assert taken(session, Peer.CLIENT) == frame(expected)

    def test_where_the_id_does_not_fit_it_is_left_as_it_is(self) -> None:
        name = "seven" * 20
        session = Session(SMALL, MCP_FRAMED, nonce="5eed")
        for body in (call(name), cancel(name), call(name)):
            session.receive_data(Peer.CLIENT, frame(body), 0.0)
        wire = taken(session, Peer.SERVER)
        fresh = wire.rpartition(b'"id":"')[2].partition(b'"')[0].decode()
        assert fresh != name
        late = frame(id_last(long(result(fresh))))
        session.receive_data(Peer.SERVER, late, 1.0)
        assert taken(session, Peer.CLIENT) == late

    def test_a_request_whose_id_comes_last_is_not_tracked(self) -> None:
        # a fresh id would not have fitted; so its tombstone must not eat its answer
        play(
            asks(call(7)),
            asks(cancel(7)),
            asks(id_last(long(call(7)))),
            replies(answer(7)),
            dialect=MCP_FRAMED,
            policy=SMALL,
        )
