"""Messages of our own in a session: they never get into somebody else's."""

from __future__ import annotations

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.notes import Event, What
from nevermind.outbox import OWN_LIMIT
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.header_frames import FRAMED, frame
from proxy.messages import OWED, answer, call, cancel, error, note
from proxy.ours import cancelled, stop, timed_out
from proxy.own_queues import sent
from proxy.playbook import Ends, Script, Waits, client, held, play, server

UNENDED = b'{"jsonrpc":"2.0","method":"x"}'
CUT_IN_ON: list[Script] = [
    client.passes(call(1)),
    Waits(29.5),
    server.raw(UNENDED),
    Waits(0.3),
    client.hears_raw(UNENDED),
    Waits(0.2),
    server << stop(1),
    client.hears_raw(b"\n"),
    client << timed_out(1),
]
"""Request 1 times out while a message of the server's has come without its line end."""


class TestBetweenMessages:
    """In a session: whatever is on its way, ours does not get into it."""

    def test_a_peer_that_lets_us_say_too_much_is_not_read(self) -> None:
        """It, and only it: the other is read, and so the queue empties."""
        session = Session(Policy(answer_cancelled=0))
        size = len(cancelled(10_000)) + 1
        for n in range(10_000, 10_000 + OWN_LIMIT // size + 1):
            assert session.may_read(Peer.CLIENT)
            session.receive_data(Peer.CLIENT, call(n) + b"\n" + cancel(n) + b"\n", 0.0)
        assert not session.may_read(Peer.CLIENT)
        assert session.may_read(Peer.SERVER)
        sent(session.outbox[Peer.CLIENT], size)
        assert session.may_read(Peer.CLIENT)

    def test_an_overlong_message_is_on_its_way(self) -> None:
        """Ours waits for its end, what is read after it does not wait for ours."""
        policy = Policy(timeout=30, max_message=5000)
        long = b'{"jsonrpc":"2.0","method":"notifications/message","params":"%b"}' % (b"x" * 20_000)
        play(
            client.passes(call(1)),
            server.raw(long[:10_000]),
            client.hears_raw(long[: 10_000 - 4096]),
            Waits(30),
            server << stop(1),
            server >> long[10_000:],
            client << long[10_000 - 4096 :],
            client << timed_out(1),
            policy=policy,
        )

    def test_an_overlong_answer_whose_id_comes_last(self) -> None:
        """By then it is let through: ours is taken back, for it would be a second one."""
        policy = Policy(timeout=30, max_message=5000)
        long = b'{"jsonrpc":"2.0","result":"%b","id":1}' % (b"x" * 20_000)
        how = play(
            client.passes(call(1)),
            server.raw(long[:10_000]),
            client.hears_raw(long[: 10_000 - 4096]),
            Waits(30),
            server << stop(1),
            server >> long[10_000:],
            client << long[10_000 - 4096 :],
            policy=policy,
        )
        assert how.notes[-1].event is Event.REVOKE
        assert how.notes[-1].why == "an answer was let through"

    def test_a_late_overlong_answer(self) -> None:
        """Its head shows that it is late, and that ours was the one answer, a task or not."""
        policy = Policy(timeout=30, max_message=5000)
        long = b'{"jsonrpc":"2.0","id":1,"result":{"task":"%b"}}' % (b"x" * 20_000)
        play(
            client.passes(call(1)),
            Waits(30),
            server << stop(1),
            client << timed_out(1),
            server >> long,
            held(What.LATE_RESPONSE, 1),
            policy=policy,
        )

    def test_an_overlong_answer_that_may_create_a_task(self) -> None:
        """It passes before ours is due, and is the one answer."""
        policy = Policy(answer_cancelled=5, max_message=5000)
        long = b'{"jsonrpc":"2.0","id":1,"result":{"task":"%b"}}' % (b"x" * 20_000)
        play(
            client.passes(call(1), cancel(1)),
            server.raw(long[:10_000]),
            client.hears_raw(long[: 10_000 - 4096]),
            Waits(9),
            server >> long[10_000:],
            client << long[10_000 - 4096 :],
            policy=policy,
        )

    def test_a_long_request_whose_token_stands_last(self) -> None:
        """It is sent on while it arrives, and has a clock that progress starts again."""
        long = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":"%b",'
            b'"_meta":{"progressToken":"t"}}}' % (b"x" * 40_000)
        )
        report = b'{"method":"notifications/progress","params":{"progressToken":"t"}}'
        play(
            client.passes(long),
            Waits(20),
            server.passes(report),
            Waits(20),
            Waits(10),
            server << stop(1, 50),
            client << timed_out(1, 50),
            server.loses(What.LATE_PROGRESS, report),
            policy=Policy(timeout=30),
        )

    def test_an_object_that_came_without_its_line_end(self) -> None:
        """It gets one from us; the peer's own is dropped when it comes, and space before it."""
        play(
            CUT_IN_ON,
            server.raw(b" \r"),
            server.raw(b"\n"),
            server.passes(note()),
            policy=Policy(timeout=30),
        )

    def test_a_line_end_that_is_not_cut_in_on_is_the_peers(self) -> None:
        """What was put in once does not swallow another one later."""
        play(
            CUT_IN_ON,
            server.raw(UNENDED),
            Waits(0.2),
            client.hears_raw(UNENDED),
            server.raw(b" \n"),
            client.hears_raw(b" \n"),
            policy=Policy(timeout=30),
        )

    def test_a_header_whose_body_stalls(self) -> None:
        """Its bytes pass as they are, and ours waits until the line that they are is over."""
        head, rest = b'Content-Length: 99\r\n\r\n{"a":1', b',"b":2}'
        play(
            client.passes(call(1)),
            Waits(29.5),
            server.raw(head),
            Waits(0.3),
            client.hears_raw(head),
            Waits(0.2),
            server << stop(1),
            server.raw(rest[:3]),
            Waits(0.2),
            server.raw(rest[3:] + b"\n"),
            client.hears_raw(rest + b"\n"),
            client << timed_out(1),
            policy=Policy(timeout=30),
            ways=("one by one", "byte by byte"),
        )

    def test_behind_the_last_words_of_a_server(self) -> None:
        """They had no line end, and there is nobody left to send one."""
        play(
            client.passes(call(1), call(2)),
            server.raw(answer(2)),
            Ends(Peer.SERVER),
            client.hears_raw(answer(2)),
            Waits(30),
            server << stop(1),
            client.hears_raw(b"\n"),
            client << timed_out(1),
            policy=Policy(timeout=30),
        )

    def test_an_overlong_message_that_never_ends(self) -> None:
        """The server goes in the middle of it: then ours may go."""
        policy = Policy(timeout=30, max_message=5000)
        long = b'{"jsonrpc":"2.0","method":"notifications/message","params":"%b' % (b"x" * 9_000)
        play(
            client.passes(call(1)),
            server.raw(long),
            client.hears_raw(long[:-4096]),
            Waits(30),
            server << stop(1),
            Ends(Peer.SERVER),
            client.hears_raw(long[-4096:]),
            client.hears_raw(b"\n"),
            client << timed_out(1),
            policy=policy,
        )


class TestHeaderFramed:
    """Where messages have headers, ours have one too."""

    def test_both_peers_are_told(self) -> None:
        """And an overlong message is not broken into."""
        session = Session(Policy(timeout=30, max_message=5000), FRAMED)
        session.receive_data(Peer.CLIENT, frame(call(1, dialect=OWED)), 0.0)
        long = frame(b'{"jsonrpc":"2.0","method":"x","params":"%b"}' % (b"x" * 20_000))
        session.receive_data(Peer.SERVER, long[:15_000], 1.0)
        session.expire(30.0)
        assert sent(session.outbox[Peer.SERVER]).endswith(frame(stop(1, dialect=FRAMED)))
        begun = sent(session.outbox[Peer.CLIENT])
        assert long.startswith(begun)
        session.receive_data(Peer.SERVER, long[15_000:], 31.0)
        assert begun + sent(session.outbox[Peer.CLIENT]) == long + frame(timed_out(1))
        session.receive_data(Peer.SERVER, frame(answer(1)), 32.0)
        assert sent(session.outbox[Peer.CLIENT]) == b""

    def test_an_overlong_message_that_never_ends(self) -> None:
        """The server goes in the middle of it: then ours may go."""
        session = Session(Policy(timeout=30, max_message=5000), FRAMED)
        session.receive_data(Peer.CLIENT, frame(call(1, dialect=OWED)), 0.0)
        long = frame(b'{"jsonrpc":"2.0","method":"x","params":"%b"}' % (b"x" * 20_000))
        session.receive_data(Peer.SERVER, long[:15_000], 1.0)
        session.expire(30.0)
        session.receive_eof(Peer.SERVER, 31.0)
        got = sent(session.outbox[Peer.CLIENT])
        assert got == long[:15_000] + frame(timed_out(1))


@pytest.mark.parametrize("dialect", [MCP, OWED], ids=("mcp", "owed"))
@pytest.mark.parametrize("late", [answer(1), error(1)])
def test_nothing_is_said_unless_told(dialect: Dialect, late: bytes) -> None:
    """Without a switch there is no cancel, timeout or answer of ours, however long it takes."""
    first = server.passes(late) if dialect.answer_owed else server.loses(What.LATE_RESPONSE, late)
    play(
        client.passes(call(1, dialect=dialect), call(2, dialect=dialect)),
        client.passes(cancel(1, dialect=dialect)),
        Waits(1e9),
        first,
        server.passes(answer(2)),
        dialect=dialect,
    )
