"""Sessions whose messages have headers: any talk ends as in lines, and no byte is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from nevermind.dialects import MCP
from nevermind.peers import Peer
from nevermind.policy import IdReuse, LateResponse, Policy
from nevermind.session import Session
from proxy.header_frames import FRAMED, frame
from proxy.long_messages import long, result
from proxy.messages import answer, batch, call, cancel, error, note, progress
from proxy.wire import taken

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
    st.builds(
        frame, st.just(long(result(2), bulk=b"x" * 200)), st.just(b"x: y\ncontent-length : <n>\n\n")
    ),
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
