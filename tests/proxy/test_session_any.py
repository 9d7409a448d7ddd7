"""Whatever peers send to a session: no exception, nothing lost, bounded memory."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nevermind.dialects import MCP, Dialect
from nevermind.notes import Event, Note
from nevermind.peers import Peer
from nevermind.policy import IdReuse, LateResponse, Noise, Policy
from nevermind.session import Session
from proxy.messages import (
    OWED,
    PLAIN,
    answer,
    batch,
    call,
    cancel,
    error,
    listen,
    note,
    progress,
    task,
    update,
)
from proxy.texts import messages
from proxy.wire import CLIENT, SERVER, line, taken

FRAMED = Dialect(name="framed", cancel_method="$/cancelRequest", header_framed=True)
FRAGMENTS = st.sampled_from(
    [
        *(call(1), call(1, token="t"), call("1"), cancel(1), cancel("1"), answer(1), error(1)),
        *(answer(1, {}), task(1), progress("t"), listen(1), update(1), note(), b"\n", b"\r\n"),
        *(
            batch(call(2), answer(1)),
            b"[",
            b"]",
            b"{",
            b"}",
            b'"',
            b":",
            b",",
            b"\\",
            b" ",
            b"null",
        ),
        *(b"Content-Length: 7\r\n\r\n", b"Content-Length: ", b"\xef\xbb\xbf", b"\xff", b"\x00"),
        *(b'{"id":', b'"method":"notifications/cancelled"', b'"params":{', b'"result":', b"NaN"),
        *(b"1e99999", b"[" * 2000, b'{"a":' * 2000, b"-", b'"\\ud800"', b'"' + b"x" * 20_000),
        *(b'{"id":1,"result":{"resultType":' + b"[" * 3000, b"]" * 3000 + b"}}"),
    ]
)
BYTES = st.lists(st.one_of(FRAGMENTS, FRAGMENTS, messages(), st.binary(max_size=8)), max_size=6)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(list(Peer)), BYTES.map(b"".join)),
        st.tuples(st.sampled_from(list(Peer)), BYTES.map(b"\n".join).map(line)),
        st.tuples(st.sampled_from(list(Peer)), st.integers(0, 500)),
        st.floats(0.0, 0.3),
    ),
    max_size=14,
)
POLICIES = st.builds(
    Policy,
    late_response=st.sampled_from([None, *LateResponse]),
    id_reuse=st.sampled_from(IdReuse),
    shield=st.booleans(),
    noise=st.sampled_from([None, *Noise]),
    remember=st.sampled_from([0, 1, 65_536]),
    live_limit=st.sampled_from([0, 2, 1 << 18]),
    max_message=st.sampled_from([0, 100, 1 << 20]),
    queue_limit=st.sampled_from([0, 100, 1 << 20]),
    timeout=st.sampled_from([None, None, 0.1]),
    answer_cancelled=st.sampled_from([None, None, 0.0, 0.1]),
    reap_tasks=st.booleans(),
)


@settings(max_examples=120)
@given(POLICIES, st.sampled_from([MCP, OWED, PLAIN, FRAMED]), STEPS, st.booleans())
def test_nothing_a_peer_sends_is_an_error(
    policy: Policy, dialect: Dialect, steps: list[object], quick: bool
) -> None:
    """No exception leaves a session, and what is not held back or changed is what came."""
    session = Session(policy, dialect, quick=quick)
    now = 0.0
    came, went = dict.fromkeys(Peer, b""), dict.fromkeys(Peer, b"")
    for step in steps:
        match step:
            case (Peer() as peer, bytes() as data):
                session.receive_data(peer, data, now)
                came[peer] += data
            case (Peer() as peer, int() as count):
                went[peer] += taken(session, peer, count)
            case float():
                now += step
                session.expire(now)
        session.next_deadline()
        for peer in Peer:
            session.may_read(peer)
    for peer in Peer:
        session.receive_eof(peer, now)
    for peer in Peer:
        went[peer] += taken(session, peer)
    notes = session.take_notes()
    statistics = session.statistics()
    said = statistics.answered or statistics.reaped or statistics.timed_out
    if not said and all(
        isinstance(one, Note) and one.event not in (Event.DROP, Event.ALIAS) for one in notes
    ):
        assert went == {peer: came[peer.other] for peer in Peer}
    assert statistics.forwarded >= 0
    books = session._judge.ledger.books.values()
    assert all(len(one.requests.answered) <= 2 * policy.remember for one in books)
    assert all(one.requests.live_count() <= policy.live_limit + 10 for one in books)


@pytest.mark.parametrize("quick", [True, False])
def test_memory_is_bounded(quick: bool) -> None:
    """Whatever ids and tokens come by: only what is in flight is kept for good."""
    session = Session(Policy(remember=10, live_limit=20), quick=quick)
    for n in range(600):
        name = f"id {n}"
        one, other = (CLIENT, SERVER) if n % 2 else (SERVER, CLIENT)
        session.receive_data(one, line(call(name, token=name)), 0.0)
        session.receive_data(one, line(call(n)) + line(call("again")), 0.0)
        session.receive_data(one, line(cancel(name)) + line(cancel("again")), 0.0)
        session.receive_data(one, line(call("again", token="again")) + line(call(name)), 0.0)
        session.receive_data(one, line(cancel(name)), 0.0)
        session.receive_data(other, line(answer(n, {})) + line(progress(name)), 0.0)
        session.receive_data(other, line(task(name)), 0.0)
        for peer in Peer:
            taken(session, peer)
        session.take_notes()
    for books in session._judge.ledger.books.values():
        requests, tokens = books.requests, books.tokens
        assert requests.live_count() <= 21
        assert len(requests.ended) <= 20 + len(requests.pinned)
        assert len(requests.pinned) <= 21
        assert len(requests.answered) <= 20
        assert len(requests.newest) <= 1024 + 42
        assert len(tokens._ended) <= 20
        assert len(tokens._live) <= 64 + 21
        assert len(tokens._tasks) <= 20


def test_the_core_neither_waits_nor_looks_at_a_clock() -> None:
    """Time comes with each call."""
    for name in ("receive_data", "receive_eof", "expire", "receive_message"):
        method = getattr(Session, name)
        assert not inspect.iscoroutinefunction(method)
        assert "now" in inspect.signature(method).parameters
