"""What the proxy says itself, between two transports: in time, and never without bound."""

from __future__ import annotations

import trio
from trio.testing import MockClock

from nevermind.outbox import OWN_LIMIT
from nevermind.policy import Policy
from proxy.messages import answer, call, cancel
from proxy.ours import cancelled, stop, timed_out
from proxy.shell.exchanges import exchanging, text
from proxy.shell.scripted import ScriptedStream, ScriptedWeb


async def test_a_request_times_out(autojump_clock: MockClock) -> None:
    """Nobody says anything: the clock alone makes the exchange tell both."""
    client, server = ScriptedWeb(), ScriptedStream()
    async with exchanging(client, server, policy=Policy(timeout=30)):
        client.says(text(call(1)))
        await server.hears(call(1) + b"\n" + stop(1) + b"\n")
        await client.hears(text(timed_out(1)))
        server.says(answer(1) + b"\n" + answer(2) + b"\n")
        await client.hears(text(answer(2)))
        server.ends()


async def test_who_makes_us_answer_and_does_not_read_is_not_read(
    autojump_clock: MockClock,
) -> None:
    """Until it reads; the other peer is, all the while."""
    client, server = ScriptedStream(), ScriptedStream()
    count = OWN_LIMIT // len(cancelled(1000)) + 1
    async with exchanging(client, server, policy=Policy(answer_cancelled=0)):
        client.stops_reading()
        asked = [call(n) + b"\n" + cancel(n) + b"\n" for n in range(1000, 1000 + count)]
        for at in range(0, count, 100):
            client.says(b"".join(asked[at : at + 100]))
        client.says(call(1) + b"\n")
        await server.hears(b"".join(asked))
        await trio.sleep(60)
        assert server.heard == b""
        server.says(call(7) + b"\n")
        client.reads_on()
        answers = [cancelled(n) + b"\n" for n in range(1000, 1000 + count)]
        await client.hears(b"".join(answers) + call(7) + b"\n")
        await server.hears(call(1) + b"\n")
        server.ends()
