"""One session between two transports: how it ends, by the server and by the client."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from nevermind.peers import Peer
from nevermind.shell.transports.transport import Goodbye
from proxy.shell.exchanges import CALL, CANCEL, GRACE, NOTE, RESULT, exchanging, text
from proxy.shell.scripted import ScriptedStream, ScriptedWeb


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
            server.goodbye = Goodbye(1011, "the server was ended by signal 15")
            client.ends()
            await server.closed.wait()
            assert running.elapsed == pytest.approx(GRACE)
            await running.over.wait()
            assert running.exchange.goodbyes[Peer.SERVER] is None  # it is we who ended it

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
