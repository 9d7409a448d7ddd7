"""One run over stdio, from the started server to the exit code.

Messages flow from the first moment.  Importing Trio takes a tenth of a second of computing,
which neither the host nor a server that is starting up should have to share: a plain loop
turns the pump until there is a break in the conversation, a thread imports Trio in it, and
then Trio takes the very same pump over.
"""

from __future__ import annotations

import _thread
import gc
import math
import os
import sys
from collections.abc import Callable
from time import monotonic

from nevermind.policy import FirstCancel
from nevermind.session import Session
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.ending import Ending
from nevermind.shell.journal import Journal
from nevermind.shell.options import RunOptions
from nevermind.shell.prelude import SWITCH, Prelude
from nevermind.shell.pump import Pump
from nevermind.shell.signals import SignalInbox
from nevermind.shell.spawn import ServerProcess, start
from nevermind.shell.tree import ServerTree

LINGER = 0.002
"""Seconds to poll on after something came, before Trio is asked to wait: in a
conversation the next message is nearly always nearer than a trip through its scheduler."""

TURN = 0.005
"""Seconds of work without a break after which Trio's other tasks get their turn."""

BREAK = 0.05
"""Seconds in which nothing happens: nobody is kept waiting by an import."""

BOOT = 2.0
"""Seconds that a silent server gets to start up in peace."""

HINT = "if it dies of cancels, --cancel absorb keeps them from it"

LAST_LINES = 0.25
"""Seconds that the journal gets at the end, if whoever reads it is slow."""


def run(
    options: RunOptions,
    server: ServerProcess | None = None,
    prelude: Prelude | None = None,
    *,
    leave: Callable[[int], object] = os._exit,
) -> int:
    """Carry messages between our stdin and stdout and the server until it is over.

    ``server`` has been started already, or is started now; ``prelude`` has been played if
    it is given.  Call it on the main thread.
    The process ends here, by ``leave``: nothing is left to be cleaned up, and the
    interpreter would take longer to do so than many a server to answer.
    Raises ``CannotStart``, and ``OSError`` for a log file that cannot be opened.
    """
    if server is None:
        server = start(options.command)
    if prelude is None:
        prelude = Prelude(server)
    session = Session(options.policy, options.dialect, nonce=os.urandom(8).hex())
    journal = Journal(options.log_level, options.log_format, options.log_file)
    ending = Ending(options.grace, lambda: session.statistics().waiting)
    pump = Pump(
        session,
        prelude.host,
        (Source(server.stdout), Sink(server.stdin)),
        tree=ServerTree(server.pid, whole=server.adopts_orphans, others=server.elder),
        ending=ending,
        signals=server.signals,
        journal=journal,
    )
    pump.recall(prelude.heard)
    gc.freeze()
    code = carry(pump, server)
    statistics = session.statistics()
    absorbed = options.policy.cancel is FirstCancel.ABSORB
    if code and ending.unprompted and statistics.cancelled and not absorbed:
        journal.report("warning", "hint", f"server ended with {code} after a cancel: {HINT}")
    journal.summary(statistics)
    journal.close(LAST_LINES)
    leave(code)
    return code


def carry(pump: Pump, server: ServerProcess) -> int:
    """Turn ``pump`` until it is done, first without Trio, then under it; the exit code."""
    signals = server.signals
    signals.wake_a_plain_loop(True)
    began = monotonic()
    loading: list[bool] | None = None
    nested = pump.readiness.fd is not None
    while pump.code is None and not loading:
        # at the end the server has its leave to take, and needs the processor more than we
        waits = loading is None and nested and not pump.ends
        busy = pump.turn(BREAK if waits else None)
        if waits and not busy and (pump.heard_server or monotonic() - began > BOOT):
            loading = load_trio(signals)
    signals.wake_a_plain_loop(False)
    if pump.code is None:
        import trio

        gc.freeze()
        trio.run(turn_under_trio, pump)
    return 0 if pump.code is None else pump.code


def load_trio(signals: SignalInbox) -> list[bool]:
    """Begin to import Trio in a thread; the list gets an element when that is over."""
    loaded: list[bool] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    gc.disable()  # an import makes no garbage to speak of, and is a twentieth faster

    def load() -> None:
        try:
            import trio  # noqa: F401
        finally:
            gc.enable()
            sys.setswitchinterval(interval)
            loaded.append(True)
            signals.wake()

    _thread.start_new_thread(load, ())
    return loaded


async def turn_under_trio(pump: Pump) -> None:
    """Turn ``pump`` until it is done; wait for its poll only when there is nothing to do."""
    import trio

    fd = pump.readiness.fd
    if fd is None:
        raise ValueError("this poll set cannot be waited for under Trio")
    rested = monotonic()
    while True:
        busy = pump.turn(LINGER)
        if pump.code is not None:
            return
        if not busy:
            with trio.move_on_after(_until(pump.due())):
                await trio.lowlevel.wait_readable(fd)
            rested = monotonic()
        elif (now := monotonic()) - rested > TURN:
            await trio.lowlevel.checkpoint()
            rested = now


def _until(due: float | None) -> float:
    return math.inf if due is None else max(0.0, due - monotonic())
