"""A listening proxy: takes connections, counts places, stops gracefully.

Sessions share nothing but this process: what fails in one touches no other.  Who is let in
is ``welcome``'s, what is said there ``exchange``'s.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

import trio

from nevermind.session import Session
from nevermind.shell.exchange import Exchange
from nevermind.shell.journal import Journal
from nevermind.shell.journal_lines import Member
from nevermind.shell.listening import Sockets
from nevermind.shell.tally import Tally, Totals
from nevermind.shell.transports.transport import GOING_AWAY, Goodbye

LAST_RESORT = 5.0
"""Seconds from the end of the grace until sessions are cut off that have not ended."""

GREETINGS = 256
"""Connections that may be saying who they are at once; more are closed unheard."""

BREATH = 0.1
"""Seconds to wait when the system gives no more descriptors."""

LINES = 20
"""Lines about connections within a second; more are not written, for anybody can cause them."""

Answer = Callable[[trio.SocketStream], Awaitable[None]]


class Service:
    """Takes connections until it is told to stop.

    ``limit`` is how many sessions there may be at once, ``grace`` how many seconds they may
    go on after ``stop``.
    """

    def __init__(self, journal: Journal, *, limit: int, grace: float) -> None:
        self.tally = Tally()
        self._journal = journal
        self._limit = limit
        self._grace = grace
        self._numbers = itertools.count(1)
        self._greetings = 0
        self._places = 0
        self._living: dict[int, tuple[Session, Exchange]] = {}
        self._left = trio.Event()
        self._stopping = False
        self._listening = trio.CancelScope()
        self._waiting = trio.CancelScope()
        self._second = -1
        self._lines = 0

    @property
    def closed_because(self) -> str:
        """Why no more sessions are taken, so that they should go elsewhere; "" while they are."""
        if self._stopping:
            return "about to stop"
        return f"no more than {self._limit} at once" if self._places >= self._limit else ""

    def open_now(self) -> int:
        """How many sessions there are."""
        return len(self._living)

    def totals(self) -> Totals:
        """The sums over all sessions that ever were."""
        return self.tally.totals(session.statistics() for session, _ in self._living.values())

    async def run(self, sockets: Sockets, answer: Answer) -> None:
        """Answer whoever connects to ``sockets`` until ``stop`` and the last session's end."""
        async with trio.open_nursery() as visits:
            with self._listening:
                async with trio.open_nursery() as doors:
                    for listener in sockets.listeners:
                        doors.start_soon(self.accept, listener, answer, visits)
            for stream in sockets.waiting():
                visits.start_soon(self._guard, answer, stream)
            await sockets.close()
            self._journal.report("info", "stopping", "a signal said so; nobody is let in any more")
            with self._waiting, trio.move_on_after(self._grace):
                await self._until_empty()
            for _, exchange in self._living.values():
                exchange.stop(Goodbye(GOING_AWAY, "the proxy is going away"))
            with trio.move_on_after(LAST_RESORT):
                await self._until_empty()
            visits.cancel_scope.cancel()

    def stop(self) -> None:
        """Take no new connections and let sessions end; told again, end them at once."""
        if self._stopping:
            self._waiting.cancel()
        self._stopping = True
        self._listening.cancel()

    async def accept(
        self, listener: trio.SocketListener, answer: Answer, visits: trio.Nursery
    ) -> None:
        """Answer each connection in a task of ``visits``."""
        while True:
            try:
                stream = await listener.accept()
            except OSError as error:
                self.report("warning", "refused", f"no connection: {error.strerror}")
                await trio.sleep(BREATH)
                continue
            visits.start_soon(self._guard, answer, stream)

    @contextmanager
    def greeting(self) -> Iterator[bool]:
        """For as long as somebody says who they are; False if too many do."""
        self._greetings += 1
        try:
            yield self._greetings <= GREETINGS
        finally:
            self._greetings -= 1

    @contextmanager
    def place(self) -> Iterator[int]:
        """The place of one session: its number.  Ask first what is ``closed_because``."""
        self._places += 1
        try:
            yield next(self._numbers)
        finally:
            self._places -= 1
            self._left.set()

    async def carry(self, number: int, session: Session, exchange: Exchange, whom: str) -> None:
        """Run a session to its end; ``whom`` says where its host is."""
        self.tally.opened += 1
        self._living[number] = session, exchange
        self._journal.report("info", "open", connection=number, **{"from": whom})
        orderly = False
        try:
            await exchange.run()
            goodbyes = exchange.goodbyes
            orderly = all(goodbye is None or goodbye.orderly for goodbye in goodbyes.values())
            for peer, goodbye in goodbyes.items():
                if goodbye is not None and not goodbye.orderly:
                    self._journal.report(
                        "warning",
                        "broken",
                        goodbye.reason or "closed",
                        connection=number,
                        peer=peer.value,
                        code=goodbye.code,
                    )
        finally:
            del self._living[number]
            statistics = session.statistics()
            self.tally.add(statistics, orderly=orderly)
            self._journal.summary(statistics, connection=number)

    def refuse(self, status: int, why: str, about: Mapping[str, Member]) -> None:
        """Count a connection that is refused, and say so; ``about``: who asked for what."""
        self.tally.refused[status] += 1
        self.report("info", "refused", why, **about, status=status)

    def report(self, level: str, event: str, why: str, **about: Member) -> None:
        """Write a line that anybody can cause, unless there have been too many."""
        second = int(trio.current_time())
        if second != self._second:
            self._second, self._lines = second, 0
        self._lines += 1
        if self._lines <= LINES:
            self._journal.report(level, event, why, **about)

    async def _guard(self, answer: Answer, stream: trio.SocketStream) -> None:
        """What goes wrong with one connection ends that one."""
        try:
            await answer(stream)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it touches no other
            self.tally.failed += 1
            self.report("error", "failed", _whereabouts(error))
        finally:
            await trio.aclose_forcefully(stream)

    async def _until_empty(self) -> None:
        while self._places:
            self._left = trio.Event()
            await self._left.wait()


def _whereabouts(error: BaseException) -> str:
    """What kind of error, and where: never its text, which may quote what a peer said."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
