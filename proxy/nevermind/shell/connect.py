"""One run between a host on stdin and stdout and a server that runs already.

The counterpart of ``relay``, which starts the server.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable, Sequence

import trio

from nevermind.peers import Peer
from nevermind.session import Session
from nevermind.shell.dialing import CannotConnect, Dial, dial
from nevermind.shell.exchange import Exchange
from nevermind.shell.journal import Journal
from nevermind.shell.options import RunOptions
from nevermind.shell.relay import LAST_LINES
from nevermind.shell.signals import SIGCHLD, SignalInbox
from nevermind.shell.transports import stdio
from nevermind.shell.transports.transport import GOING_AWAY, Goodbye

UNREACHABLE = 69
"""Exit code: there is no connection to the server (EX_UNAVAILABLE in BSD's sysexits.h)."""

LOST = 1
"""Exit code: the connection to the server failed, or was closed with an error."""

LAST_WORDS = 1.9
"""Seconds from a signal to our end: the host's own SIGKILL is near."""


def run(
    options: RunOptions,
    to: Dial,
    subprotocols: Sequence[str],
    *,
    leave: Callable[[int], object] = os._exit,
) -> int:
    """Carry messages until either side has ended; the process then ends by ``leave``.

    ``subprotocols`` are offered to a WebSocket server.  Call it on the main thread.
    """
    signals = SignalInbox()
    journal = Journal(options.log_level, options.log_format, options.log_file)
    session = Session(
        options.policy,
        options.dialect,
        nonce=os.urandom(8).hex(),
        messaging=(Peer.SERVER,) if to.endpoint.messages else (),
    )
    code = trio.run(_carry, session, options, to, subprotocols, journal, signals)
    journal.summary(session.statistics())
    journal.close(LAST_LINES)
    leave(code)
    return code


async def _carry(
    session: Session,
    options: RunOptions,
    to: Dial,
    subprotocols: Sequence[str],
    journal: Journal,
    signals: SignalInbox,
) -> int:
    code = 0
    exchange: Exchange | None = None
    async with trio.open_nursery() as nursery:

        async def obey() -> None:
            nonlocal code
            while not (got := [number for number in signals.take() if number != SIGCHLD]):
                await trio.lowlevel.wait_readable(signals.fd)
            code = 128 + got[0]
            if exchange is not None:
                exchange.stop(Goodbye(GOING_AWAY))
                await trio.sleep(LAST_WORDS)
            nursery.cancel_scope.cancel()

        nursery.start_soon(obey)
        try:
            server = await dial(
                nursery, to, subprotocols=subprotocols, limit=options.policy.max_message
            )
        except CannotConnect as error:
            journal.report("error", "unreachable", str(error))
            nursery.cancel_scope.cancel()
            return UNREACHABLE
        exchange = Exchange(
            session,
            stdio.host(),
            server,
            journal=journal,
            grace=options.grace,
            patience=math.inf,
        )
        gc.freeze()  # what has been imported is here to stay
        await exchange.run()
        goodbye = exchange.goodbyes[Peer.SERVER]
        if not code and goodbye is not None and not goodbye.orderly:
            journal.report(
                "warning",
                "broken",
                goodbye.reason or "closed",
                peer=Peer.SERVER.value,
                code=goodbye.code,
            )
            code = LOST
        nursery.cancel_scope.cancel()
    return code
