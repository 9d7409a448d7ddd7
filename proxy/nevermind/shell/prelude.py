"""Carries the first messages while the engine is still being imported.

Importing it takes longer than some servers take to answer.  Until it is there, whole lines
in which nothing can possibly be held back pass as they are, and all that was read is
remembered, so that the engine hears it in the same order and knows every request.  The
first byte that it might have had an opinion on ends the prelude.

Imports next to nothing, and knows of messages only which words would matter.
"""

from __future__ import annotations

import _thread
import gc
import sys
from time import monotonic

from nevermind.shell.descriptors import CHUNK, Sink, Source, open_sink, open_source
from nevermind.shell.readiness import READABLE, Readiness
from nevermind.shell.short_run import code_at_the_end, let_go_of_stdin, tells_nothing
from nevermind.shell.signals import SIGCHLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nevermind.shell.spawn import ServerProcess

SWITCH = 0.0002
"""Seconds after which a thread that imports must let go of the interpreter; the default of
5 ms would be felt in every message."""

UP, DOWN = range(2)
"""From the host to the server, and back."""

LIVELY = 32
"""Pieces read after which the engine is waited for.  Nobody starts up with so many; and where
messages follow one another, what a short pause costs is won back at once: two threads that
share an interpreter stretch an import threefold, and slow every message meanwhile."""

_MATTERS = (b"cancel", b"rogress", b"\\u", b"content-")
"""Without a cancel nothing is late or redundant, without progress nothing stale; an escape
may spell either, and a header would make more of a line than a line.  In lower case."""


class Heard:
    """A piece of what ``way`` was read on: ``data``, empty for the end, at ``now``.

    The first ``sent`` bytes of it have been passed on.
    """

    __slots__ = ("data", "now", "sent", "way")

    def __init__(self, way: int, data: bytes, now: float, sent: int = 0) -> None:
        self.way = way
        self.data = data
        self.now = now
        self.sent = sent


class Prelude:
    """The host's descriptors, taken over, and what was heard before the engine was there."""

    def __init__(self, server: ServerProcess, host: tuple[Source, Sink] | None = None) -> None:
        self.host = host or (open_source(0), open_sink(1))
        self.heard: list[Heard] = []
        self._signals = server.signals
        self._ways = (
            (self.host[0], Sink(server.stdin)),
            (Source(server.stdout), self.host[1]),
        )
        self._rests = [b"", b""]
        self._server = server
        self._readiness = Readiness()
        self._brief = False
        self._output_over = False

    @property
    def lines(self) -> int:
        """How many lines have passed."""
        return sum(piece.data.count(b"\n") for piece in self.heard)

    def play(
        self, load: Callable[[], object], *, carry: bool = True, brief: bool = False
    ) -> int | None:
        """Call ``load`` in a thread, and carry messages until it returns.

        Without ``carry``, or where a descriptor cannot be polled, it is simply called.
        With ``brief`` the run may end before: then its exit code is returned, and ``load``
        may still be at work.
        """
        if not carry or None in (self.host[0].fd, self.host[1].fd):
            load()
            return None
        self._brief = brief
        loaded = _thread.allocate_lock()
        loaded.acquire()
        with_interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        self._signals.wake_a_plain_loop(True)
        _thread.start_new_thread(self._load, (load, loaded))
        code = None
        try:
            self._carry()
            code = self._code()
        finally:
            if code is None:
                loaded.acquire()
            self._signals.wake_a_plain_loop(False)
            sys.setswitchinterval(with_interval)
            del self._readiness  # the pump has one of its own
        return code

    def _load(self, load: Callable[[], object], loaded: _thread.LockType) -> None:
        gc.disable()  # an import makes no garbage to speak of, and is a twentieth faster
        try:
            load()
        finally:
            gc.enable()
            self._signals.wake()
            loaded.release()

    def _carry(self) -> None:
        """Pass lines on until something matters, a peer ends, or a signal or the engine comes."""
        readiness = self._readiness
        readiness.add(self._signals.fd, READABLE)
        ways = {}
        for way, (source, _) in enumerate(self._ways):
            if source.fd is not None:
                readiness.add(source.fd, READABLE)
                ways[source.fd] = way
        going = True
        while going:
            for fd, _ in readiness.wait(None):
                # what woke us stays in the signals' pipe, for the pump to find
                going = going and fd in ways and self._pass_on(ways[fd])
            going = going and len(self.heard) < LIVELY

    def _pass_on(self, way: int) -> bool:
        """Read ``way`` once and write its whole lines; False if the prelude is over."""
        source, sink = self._ways[way]
        try:
            data = source.read()
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        now = monotonic()
        if not data:
            self._keep_rest(way)
            self.heard.append(Heard(way, b"", now))
            return self._outlasts(way)
        data = self._rests[way] + data
        self._rests[way] = data
        lowered = data.lower()
        if len(data) > CHUNK or any(word in lowered for word in _MATTERS):
            return False
        lines = data[: data.rfind(b"\n") + 1]
        if not lines:
            return True
        self._rests[way] = data[len(lines) :]
        try:
            sent = sink.write([lines])
        except OSError:
            sent = 0  # no room or no reader: the pump will see which
        self.heard.append(Heard(way, lines, now, sent))
        return sent == len(lines)

    def _outlasts(self, way: int) -> bool:
        """Whether there is more to do after the end of ``way``: the run may be over soon."""
        if not self._brief or not all(self._is_done(piece) for piece in self.heard):
            return False
        source = self._ways[way][0].fd
        assert source is not None
        self._readiness.remove(source)
        if way == UP:
            let_go_of_stdin(self._server)
        else:
            self._output_over = True
        return True

    def _is_done(self, piece: Heard) -> bool:
        return piece.sent == len(piece.data) and tells_nothing(piece.data)

    def _code(self) -> int | None:
        """The exit code, if all is over and there is nothing that the engine could add."""
        over = self._brief and self._signals.only(SIGCHLD)
        while over and not self._output_over:
            # what a server that has ended left in its pipe
            heard = len(self.heard)
            over = self._pass_on(DOWN) and len(self.heard) > heard
        for way in (UP, DOWN):
            self._keep_rest(way)
        over = over and all(map(self._is_done, self.heard))
        return code_at_the_end(self._server) if over else None

    def _keep_rest(self, way: int) -> None:
        if self._rests[way]:
            self.heard.append(Heard(way, self._rests[way], monotonic()))
            self._rests[way] = b""
