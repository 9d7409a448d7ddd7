"""One session between two transports: what is carried, what waits, what is stopped.

Nothing here is real but the rules: peers are scripted, and the clock is virtual.
"""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from nevermind.messages import Message
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from nevermind.shell.exchange import Exchange
from nevermind.shell.transports.transport import Goodbye
from proxy.shell.exchanges import CALL, CANCEL, GRACE, NOTE, RESULT, Notes, exchanging, text
from proxy.shell.scripted import ScriptedStream, ScriptedWeb


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


class TestStopping:
    async def test_both_are_told(self, autojump_clock: MockClock) -> None:
        client, server = ScriptedWeb(), ScriptedWeb()
        async with exchanging(client, server) as running:
            client.says(text(CALL))
            await server.hears(text(CALL))
            client.goodbye = server.goodbye = Goodbye(1011, "ended by us")
            running.exchange.stop(Goodbye(1001, "going away"))
            running.exchange.stop(Goodbye(1000, "again"))
            await running.over.wait()
            assert client.told == server.told == Goodbye(1001, "going away")
            assert running.exchange.goodbyes == {Peer.CLIENT: None, Peer.SERVER: None}

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
