"""One session between two transports: what is carried, what waits, how it ends.

Nothing here is real but the rules: peers are scripted, and the clock is virtual.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock

from nevermind.messages import Message
from nevermind.notes import Diverted, Event, Note, What
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from nevermind.shell.exchange import Exchange
from nevermind.shell.transports.transport import Goodbye
from proxy.shell.scripted import ScriptedStream, ScriptedWeb

INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n'
CANCEL = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message"}\n'

GRACE = 5.0


@dataclass
class Notes:
    """A journal that keeps what it is told."""

    notes: list[Note | Diverted] = field(default_factory=list)

    def write(self, notes: Iterable[Note | Diverted], now: float) -> None:
        self.notes += notes

    @property
    def dropped(self) -> list[What | None]:
        return [n.what for n in self.notes if isinstance(n, Note) and n.event is Event.DROP]


@dataclass
class Running:
    """An exchange under way."""

    exchange: Exchange
    notes: Notes
    over: trio.Event
    began: float

    @property
    def elapsed(self) -> float:
        return trio.current_time() - self.began


Peers = tuple[ScriptedStream | ScriptedWeb, ScriptedStream | ScriptedWeb]


@asynccontextmanager
async def exchanging(
    client: ScriptedStream | ScriptedWeb,
    server: ScriptedStream | ScriptedWeb,
    *,
    policy: Policy | None = None,
    patience: float = 30,
) -> AsyncIterator[Running]:
    messaging = [
        peer
        for peer, end in ((Peer.CLIENT, client), (Peer.SERVER, server))
        if isinstance(end, ScriptedWeb)
    ]
    notes = Notes()
    session = Session(policy, messaging=messaging)
    exchange = Exchange(session, client, server, journal=notes, grace=GRACE, patience=patience)
    over = trio.Event()

    async def run() -> None:
        await exchange.run()
        over.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        with trio.fail_after(3600):
            yield Running(exchange, notes, over, trio.current_time())
            await over.wait()


def text(line: bytes) -> Message:
    return Message(line.removesuffix(b"\n"), text=True)


class TestWhatIsCarried:
    async def test_lines_to_lines_byte_for_byte(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server):
            client.says(b" " + CALL[:10])
            client.says(CALL[10:])
            await server.hears(b" " + CALL)
            server.says(NOTE + RESULT)
            await client.hears(NOTE + RESULT)
            server.ends()

    async def test_lines_to_messages_and_back(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedWeb()
        async with exchanging(client, server):
            client.says(CALL + b"\n" + NOTE)
            await server.hears(text(CALL), text(NOTE))
            server.says(Message(b'{\n"id":1,\r\n"result":{}}', text=True))
            await client.hears(b'{ "id":1,  "result":{}}\n')
            server.ends()

    async def test_messages_to_lines(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server):
            client.says(text(CALL))
            client.says(Message(NOTE.strip(), text=False))
            await server.hears(CALL + NOTE)
            server.says(RESULT + b"\xff\n")
            await client.hears(text(RESULT), Message(b"\xff", text=False))
            server.ends()

    async def test_messages_to_messages_keep_their_kind_and_every_byte(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server):
            pretty = Message(b'{\r\n "id": 1,\n "method": "x"}', text=True)
            client.says(pretty)
            client.says(Message(NOTE, text=False))
            await server.hears(pretty, Message(NOTE, text=False))
            server.ends()

    async def test_the_rules_are_the_same(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server) as running:
            for line in (CALL, CANCEL, CANCEL):
                client.says(text(line))
            await server.hears(CALL + CANCEL)
            server.says(RESULT + NOTE)
            await client.hears(text(NOTE))
            assert set(running.notes.dropped) == {What.REDUNDANT_CANCEL, What.LATE_RESPONSE}
            server.ends()

    async def test_an_unterminated_rest_goes_on_when_it_is_still(
        self, autojump_clock: MockClock
    ) -> None:
        """Time is minded although nobody says a thing."""
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server) as running:
            client.says(text(CALL))
            await server.hears(CALL)
            server.says(RESULT.strip())
            await client.hears(text(RESULT))
            assert running.elapsed == pytest.approx(0.1, abs=0.01)
            server.ends()


class TestPressure:
    POLICY = Policy(queue_limit=1000)

    async def test_a_side_is_not_read_while_the_other_is_full(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server, policy=self.POLICY):
            client.stops_reading()
            for _ in range(100):
                server.says(NOTE)
            await trio.sleep(10)
            waiting = server._said.statistics().current_buffer_used
            assert 0 < waiting < 100
            client.reads_on()
            await client.hears(NOTE * 100)
            server.ends()

    async def test_the_other_direction_goes_on(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server, policy=self.POLICY):
            client.stops_reading()
            for _ in range(100):
                server.says(NOTE)
            await trio.sleep(10)
            client.says(text(CALL))
            await server.hears(CALL)
            client.reads_on()
            await client.hears(*[text(NOTE)] * 100)
            server.ends()

    async def test_an_answer_that_waits_is_taken_back_by_a_cancel(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            client.says(text(CALL))
            await server.hears(text(CALL))
            client.stops_reading()
            for line in (NOTE, RESULT, NOTE):
                server.says(text(line))
            await trio.sleep(1)
            client.says(text(CANCEL))
            await trio.sleep(1)
            client.reads_on()
            await client.hears(text(NOTE), text(NOTE))
            assert set(running.notes.dropped) == {What.LATE_RESPONSE, What.REDUNDANT_CANCEL}
            server.ends()
            await running.over.wait()
            assert client.heard == []

    async def test_a_line_too_long_for_a_message_ends_it_with_its_size(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        policy = Policy(max_message=10_000)
        async with exchanging(client, server, policy=policy) as running:
            server.says(b'{"x":"' + b"y" * 30_000)
            await running.over.wait()
            assert client.told is not None
            assert client.told.code == 1009
            size = int(client.told.reason.split()[3])
            assert 10_000 < size <= 30_006


class TestTheServerEnds:
    async def test_what_it_said_is_delivered_first(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server, patience=1000) as running:
            client.stops_reading()
            server.says(NOTE)
            server.ends()
            await trio.sleep(100)
            assert not client.closed.is_set()
            client.reads_on()
            await running.over.wait()
            assert client.heard == NOTE

    async def test_a_client_that_takes_nothing_is_not_waited_for_for_ever(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server, patience=30) as running:
            client.stops_reading()
            server.says(NOTE)
            server.ends()
            await running.over.wait()
            assert 30 <= running.elapsed <= 70

    @pytest.mark.parametrize("code", [None, 1000, 1001, 1008, 1013, 3000, 4321])
    async def test_its_code_and_reason_are_told_to_the_client(
        self, autojump_clock: MockClock, code: int | None
    ) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            server.ends(Goodbye(code, "enough"))
            await running.over.wait()
            assert client.told == Goodbye(code, "enough")

    async def test_a_failure_is_an_internal_error_to_the_client(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            server.breaks("the connection was lost")
            await running.over.wait()
            assert client.told == Goodbye(1011, "server: the connection was lost")
            assert running.exchange.goodbyes[Peer.SERVER] == Goodbye(
                1011, "the connection was lost", lost=True
            )

    async def test_a_message_that_was_too_big_is_told_to_both(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            server.breaks("a message of 9 bytes is over the limit of 8", 1009)
            await running.over.wait()
            assert server.told == Goodbye(1009, "a message of 9 bytes is over the limit of 8", True)
            assert client.told is not None
            assert client.told.code == 1009

    async def test_one_that_only_closed_its_output_is_fed_on(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server) as running:
            server.still_receives = True
            server.ends()
            await client.finished.wait()
            client.says(CALL)
            await server.hears(CALL)
            assert not running.over.is_set()
            client.ends()
            await server.finished.wait()
            server.still_receives = False
            server.stops_listening()
            await running.over.wait()
            assert running.elapsed < GRACE

    async def test_to_a_websocket_that_is_the_end(self, autojump_clock: MockClock) -> None:
        """It cannot be closed by half; the server sees the end of its input, and gets the grace."""
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server) as running:
            server.still_receives = True
            server.ends()
            await client.closed.wait()
            await server.finished.wait()
            assert not server.closed.is_set()
            await running.over.wait()
            assert running.elapsed == pytest.approx(GRACE, abs=0.5)


class TestTheClientEnds:
    async def test_what_it_said_is_delivered_before_the_server_sees_the_end(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server) as running:
            server.stops_reading()
            client.says(NOTE)
            client.ends()
            await trio.sleep(1)
            assert not server.finished.is_set()
            server.reads_on()
            await server.finished.wait()
            assert server.heard == NOTE
            server.ends()
            await running.over.wait()
            assert running.elapsed < 2

    async def test_a_server_that_stays_is_ended_after_the_grace(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server) as running:
            client.ends()
            await server.closed.wait()
            assert running.elapsed == pytest.approx(GRACE)

    async def test_one_that_reads_nothing_too(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server) as running:
            server.stops_reading()
            client.says(NOTE)
            client.ends()
            await server.closed.wait()
            assert running.elapsed == pytest.approx(GRACE)

    async def test_an_answer_that_is_owed_is_waited_for(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server) as running:
            client.says(CALL)
            await server.hears(CALL)
            client.ends()
            await trio.sleep(20)
            assert not server.closed.is_set()
            server.says(RESULT)
            await client.hears(RESULT)
            await running.over.wait()
            assert 20 <= running.elapsed < 21

    async def test_but_not_for_ever(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server) as running:
            client.says(CALL)
            await server.hears(CALL)
            client.ends()
            await server.closed.wait()
            assert running.elapsed == pytest.approx(30)

    async def test_nor_when_it_was_cancelled(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server) as running:
            client.says(CALL + CANCEL)
            await server.hears(CALL + CANCEL)
            client.ends()
            await server.closed.wait()
            assert running.elapsed == pytest.approx(GRACE)

    async def test_nor_for_a_websocket_which_cannot_hear_it(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server) as running:
            client.says(text(CALL))
            await server.hears(CALL)
            client.ends()
            await server.finished.wait()
            await server.closed.wait()
            assert running.elapsed == pytest.approx(GRACE)

    async def test_a_websocket_server_is_closed_once_nobody_waits_for_it(
        self, autojump_clock: MockClock
    ) -> None:
        """It sees no end that is not a close."""
        client, server = ScriptedStream(), ScriptedWeb()
        async with exchanging(client, server) as running:
            client.says(CALL)
            await server.hears(text(CALL))
            client.ends()
            await trio.sleep(2)
            assert not server.closed.is_set()
            server.says(text(RESULT))
            await client.hears(RESULT)
            await running.over.wait()
            assert server.told == Goodbye(1000)
            assert running.elapsed < 3

    @pytest.mark.parametrize("code", [None, 1000, 1001, 1008, 4001])
    async def test_its_code_and_reason_are_told_to_the_server(
        self, autojump_clock: MockClock, code: int | None
    ) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            client.ends(Goodbye(code, "bye"))
            await running.over.wait()
            assert server.told == Goodbye(code, "bye")

    async def test_one_that_is_lost_goes_away(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            client.breaks("no sign of life")
            await running.over.wait()
            assert server.told == Goodbye(1001, "client: no sign of life")

    async def test_one_that_breaks_the_protocol_is_told_at_once(
        self, autojump_clock: MockClock
    ) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server) as running:
            client.breaks("it broke the protocol", 1002)
            await client.closed.wait()
            assert running.elapsed < 0.1
            assert client.told == Goodbye(1002, "it broke the protocol", lost=True)
            server.ends()

    async def test_one_that_reads_no_more_counts_as_ended(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedStream(), ScriptedStream()
        async with exchanging(client, server):
            client.says(NOTE)
            await server.hears(NOTE)
            client.stops_listening()
            client.says(CALL)
            await server.hears(CALL)
            await server.finished.wait()
            server.ends()


class TestStopping:
    async def test_both_are_told(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            client.says(text(CALL))
            await server.hears(text(CALL))
            running.exchange.stop(Goodbye(1001, "going away"))
            running.exchange.stop(Goodbye(1000, "again"))
            await running.over.wait()
            assert client.told == server.told == Goodbye(1001, "going away")

    async def test_before_it_has_begun(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        async with exchanging(client, server) as running:
            running.exchange.stop(Goodbye(1001))
            await running.over.wait()
            assert client.told == Goodbye(1001)

    async def test_being_cancelled_closes_both_too(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedStream()
        exchange = Exchange(
            Session(messaging=[Peer.CLIENT]), client, server, journal=Notes(), grace=GRACE
        )
        with trio.move_on_after(1):
            await exchange.run()
        assert client.told == server.told == Goodbye(1001)
