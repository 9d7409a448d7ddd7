"""An exchange between two scripted peers, on a virtual clock, and what its journal was told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from nevermind.messages import Message
from nevermind.notes import Diverted, Event, Note, What
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.session import Session
from nevermind.shell.exchange import Exchange
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
