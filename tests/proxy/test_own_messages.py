"""Messages of our own take their turn: between others' messages, without waiting for room."""

from __future__ import annotations

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.framing.lines import Lines
from nevermind.mailbox import OVERHEAD, Mailbox, Queue
from nevermind.messages import Message, from_body
from nevermind.notes import Event, What
from nevermind.outbox import OWN_LIMIT, Bytes, Outbox, Spoken
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from proxy.messages import OWED, answer, call, cancel, error, note
from proxy.ours import cancelled, stop, timed_out
from proxy.playbook import Ends, Waits, client, held, play, server

FRAMED = Dialect(
    name="framed",
    cancel_method="$/cancelRequest",
    cancel_id=("params", "id"),
    answer_owed=True,
    header_framed=True,
)
LIMIT = 1000


def sent(queue: Outbox, count: int = 1 << 30) -> bytes:
    """Take what goes out next, at most ``count`` bytes."""
    data = b"".join(queue.buffers(1 << 30))[:count]
    queue.wrote(len(data))
    return data


def full(box: Outbox | Mailbox) -> bool:
    """Whether the other peer should not be read; asked anew each time."""
    return box.full


def flooded(box: Outbox | Mailbox) -> bool:
    """Whether this peer should not be read."""
    return box.flooded


def waits(spoken: Spoken) -> bool:
    """Whether nothing of it has gone out."""
    return spoken.waiting


def waiting(box: Queue) -> list[Bytes]:
    """What may still be withdrawn."""
    found = (box.part(number) for number in range(box.first, box.end))
    return [one.part for one in found if one is not None]


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
        odd = b'{"jsonrpc":"2.0","method":"x"}'
        play(
            client.passes(call(1)),
            Waits(29.5),
            server.raw(odd),
            Waits(0.3),
            client.hears_raw(odd),
            Waits(0.2),
            server << stop(1),
            client.hears_raw(b"\n"),
            client << timed_out(1),
            server.raw(b" \r"),
            server.raw(b"\n"),
            server.passes(note()),
            policy=Policy(timeout=30),
        )

    def test_a_line_end_that_is_not_cut_in_on_is_the_peers(self) -> None:
        """What was put in once does not swallow another one later."""
        odd = b'{"jsonrpc":"2.0","method":"x"}'
        play(
            client.passes(call(1)),
            Waits(29.5),
            server.raw(odd),
            Waits(0.3),
            client.hears_raw(odd),
            Waits(0.2),
            server << stop(1),
            client.hears_raw(b"\n"),
            client << timed_out(1),
            server.raw(odd),
            Waits(0.2),
            client.hears_raw(odd),
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

    def frame(self, body: bytes) -> bytes:
        """A message with its header."""
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    def test_both_peers_are_told(self) -> None:
        """And an overlong message is not broken into."""
        session = Session(Policy(timeout=30, max_message=5000), FRAMED)
        session.receive_data(Peer.CLIENT, self.frame(call(1, dialect=OWED)), 0.0)
        long = self.frame(b'{"jsonrpc":"2.0","method":"x","params":"%b"}' % (b"x" * 20_000))
        session.receive_data(Peer.SERVER, long[:15_000], 1.0)
        session.expire(30.0)
        assert sent(session.outbox[Peer.SERVER]).endswith(self.frame(stop(1, dialect=FRAMED)))
        begun = sent(session.outbox[Peer.CLIENT])
        assert long.startswith(begun)
        session.receive_data(Peer.SERVER, long[15_000:], 31.0)
        assert begun + sent(session.outbox[Peer.CLIENT]) == long + self.frame(timed_out(1))
        session.receive_data(Peer.SERVER, self.frame(answer(1)), 32.0)
        assert sent(session.outbox[Peer.CLIENT]) == b""

    def test_an_overlong_message_that_never_ends(self) -> None:
        """The server goes in the middle of it: then ours may go."""
        session = Session(Policy(timeout=30, max_message=5000), FRAMED)
        session.receive_data(Peer.CLIENT, self.frame(call(1, dialect=OWED)), 0.0)
        long = self.frame(b'{"jsonrpc":"2.0","method":"x","params":"%b"}' % (b"x" * 20_000))
        session.receive_data(Peer.SERVER, long[:15_000], 1.0)
        session.expire(30.0)
        session.receive_eof(Peer.SERVER, 31.0)
        got = sent(session.outbox[Peer.CLIENT])
        assert got == long[:15_000] + self.frame(timed_out(1))


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
