"""The field cases of WebSockets, played between peers of another make, with a virtual clock.

Each is played twice: with a server that speaks WebSocket too, and with one that speaks in lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
import trio
import trio.testing
from websockets.frames import Opcode

from e2e.harness.field_cases import Arrow, FieldCase, Happening, Said, load_cases
from nevermind.peers import Peer
from nevermind.session import Session
from nevermind.shell.admission import Door, Refusal
from nevermind.shell.exchange import Exchange
from nevermind.shell.reception import receive_request
from nevermind.shell.transports import websocket
from nevermind.shell.transports.wire import Wire
from proxy.shell.scripted import ScriptedStream
from proxy.shell.transports import rfc_peer
from proxy.shell.transports.rfc_peer import RfcPeer

CASES = [case for case in load_cases() if case.framing == "websocket"]
LIMIT = 64 * 1024 * 1024
PINGS = websocket.Pings(20, 20)


class Quiet:
    """A journal that keeps all it is told as text."""

    def __init__(self) -> None:
        self.said = ""

    def write(self, notes: object, now: float) -> None:
        self.said += repr(notes)


class Ends:
    """One connection of a host's, through us, to a server of its own."""

    def __init__(self, nursery: trio.Nursery, journal: Quiet, lines: bool) -> None:
        self._nursery = nursery
        self._journal = journal
        self._lines = lines
        self._ready = trio.Event()
        self.over = trio.Event()
        self.host: RfcPeer
        self.server: RfcPeer | ScriptedStream

    async def open(self, *offered: str) -> None:
        """The host connects."""
        here, there = trio.testing.memory_stream_pair()
        self._nursery.start_soon(self._serve, here)
        self.host = await rfc_peer.call(there, *offered)
        await self._ready.wait()

    async def _serve(self, stream: trio.abc.Stream) -> None:
        found = await receive_request(stream)
        assert found is not None
        assert not isinstance(found, Refusal)
        request, rest = found
        assert Door(request.path).examine(request) is None
        async with trio.open_nursery() as nursery:
            transport, chosen = await self._reach(nursery, request.subprotocols)
            wire = Wire(stream, LIMIT, head=request.handshake(), rest=rest)
            client = await websocket.accept(
                nursery, wire, subprotocol=chosen, limit=LIMIT, pings=PINGS
            )
            messaging = [Peer.CLIENT] if self._lines else [Peer.CLIENT, Peer.SERVER]
            session = Session(messaging=messaging)
            self._ready.set()
            exchange = Exchange(session, client, transport, journal=self._journal, grace=5)
            await exchange.run()
            self.over.set()
            nursery.cancel_scope.cancel()

    async def _reach(
        self, nursery: trio.Nursery, offered: list[str]
    ) -> tuple[ScriptedStream | websocket.WebSocketTransport, str | None]:
        if self._lines:
            self.server = ScriptedStream()
            return self.server, next((name for name in offered if name == "mcp"), None)
        here, there = trio.testing.memory_stream_pair()

        async def answer() -> None:
            self.server = await rfc_peer.answer(there, *offered[1:2])

        nursery.start_soon(answer)
        transport = await websocket.connect(
            nursery,
            Wire(here, LIMIT),
            authority="server",
            target="/",
            subprotocols=offered,
            headers=[],
            limit=LIMIT,
            pings=PINGS,
        )
        await trio.testing.wait_all_tasks_blocked()
        return transport, transport.subprotocol

    # ------------------------------------------------------------------ what is said

    async def to_server(self, data: bytes) -> None:
        await self.host.text(data.decode())
        if isinstance(self.server, ScriptedStream):
            await self.server.hears(data + b"\n")
        else:
            assert await self.server.message() == data.decode()

    async def to_client(self, data: bytes) -> None:
        if isinstance(self.server, ScriptedStream):
            self.server.says(data + b"\n")
        elif len(data) > 8000:
            await self.server.fragments(data[:100], data[100:4000], data[4000:])
        else:
            await self.server.text(data.decode())
        assert await self.host.message() == data.decode()

    async def let_pass(self, seconds: float) -> None:
        """Nobody says a thing; the least of the pings that each side had."""
        counts: list[int] = []

        async def count(peer: RfcPeer) -> None:
            pings = 0
            with trio.move_on_after(seconds):
                while await peer.hear(Opcode.PING) is not None:
                    pings += 1
                pytest.fail("the connection has ended")
            counts.append(pings)

        async with trio.open_nursery() as nursery:
            for peer in (self.host, self.server):
                if isinstance(peer, RfcPeer):
                    nursery.start_soon(count, peer)
        assert min(counts) >= math.floor(seconds / 60), "pings come more often than once a minute"

    async def lose(self) -> None:
        """The server's side is gone."""
        if isinstance(self.server, ScriptedStream):
            self.server.breaks("reset")
        else:
            await trio.aclose_forcefully(self.server._stream)


class Player:
    """One case on its way through one or more connections."""

    def __init__(self, nursery: trio.Nursery, lines: bool) -> None:
        self.journal = Quiet()
        self.connections: list[Ends] = []
        self._nursery = nursery
        self._lines = lines

    async def connect(self, *offered: str) -> Ends:
        ends = Ends(self._nursery, self.journal, self._lines)
        self.connections.append(ends)
        await ends.open(*offered)
        return ends

    async def play(self, case: FieldCase) -> None:
        for step in case.wire:
            if isinstance(step, Happening):
                await self._let_happen(step.text)
                continue
            ends = self.connections[-1] if self.connections else await self.connect()
            await self._say(ends, step)

    async def _say(self, ends: Ends, said: Said) -> None:
        if said.arrow is Arrow.TO_SERVER:
            await ends.to_server(said.data)
        else:
            assert said.arrow is Arrow.TO_CLIENT
            await ends.to_client(said.data)

    async def _let_happen(self, text: str) -> None:
        if match := re.fullmatch(r"(?:another )?host connects(?:, offering (.*))?", text):
            await self.connect(*(match[1].split(", ") if match[1] else ()))
        elif match := re.fullmatch(r"(\d+) s pass", text):
            ends = self.connections[-1] if self.connections else await self.connect()
            await ends.let_pass(float(match[1]))
        elif text == "connection is lost":
            await self.connections[-1].lose()
        else:
            raise ValueError(f"unknown event {text!r}")


async def subprotocols(player: Player) -> None:
    """F139: the choice is the answer, and the token never stands in a log."""
    (ends,) = player.connections
    chosen = ends.host.protocol.subprotocol
    assert chosen == (
        "mcp" if isinstance(ends.server, ScriptedStream) else "mcp.version.2025-06-18"
    )
    assert "TOKEN" not in player.journal.said


async def one_server_each(player: Player) -> None:
    """F141: the first host has got nothing of the second's."""
    first, second = player.connections
    assert first.server is not second.server
    with trio.move_on_after(1):
        await first.host.hear(Opcode.TEXT)
        pytest.fail("it got what was not for it")


async def no_second_life(player: Player) -> None:
    """F142: the host is told, and its next connection starts afresh."""
    (ends,) = player.connections
    assert await ends.host.closing() == (1011, "server: " + reason_of(ends))
    await ends.over.wait()
    again = await player.connect()
    call = b'{"jsonrpc":"2.0","id":5,"method":"tools/call"}'
    await again.to_server(call)
    await again.to_client(b'{"jsonrpc":"2.0","id":5,"result":{}}')


def reason_of(ends: Ends) -> str:
    return "reset" if isinstance(ends.server, ScriptedStream) else "the connection was lost"


HOLDS: dict[str, Callable[[Player], object]] = {
    "F139": subprotocols,
    "F141": one_server_each,
    "F142": no_second_life,
}


@pytest.mark.parametrize("lines", [False, True], ids=["to WebSocket", "to lines"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_the_fault_is_not_there(
    case: FieldCase, lines: bool, autojump_clock: trio.testing.MockClock
) -> None:
    with trio.fail_after(10_000):
        async with trio.open_nursery() as nursery:
            player = Player(nursery, lines)
            await player.play(case)
            if case.id in HOLDS:
                await HOLDS[case.id](player)  # type: ignore[misc]
            nursery.cancel_scope.cancel()


def test_they_are_all_there() -> None:
    assert len(CASES) == 8
    assert HOLDS.keys() <= {case.id for case in CASES}
