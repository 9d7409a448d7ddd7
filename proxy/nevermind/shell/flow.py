"""One direction of a session's bytes: a source, a queue, a sink, and what is open of them.

Reads and writes only when told to; knows nothing of messages or of the other direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nevermind.outbox import Outbox
from nevermind.peers import Peer
from nevermind.shell.descriptors import Sink, Source
from nevermind.shell.readiness import READABLE, ROOM, Readiness

BACKLOG = 1024 * 1024
"""Bytes that wait for a sink before its source is asked to wait too."""

PATIENCE = 0.02
"""Seconds for which it does so while nothing is taken: if the reader itself is stuck until
it has been read, the queue has to grow after all."""


class Stream(Protocol):
    """One direction of a session, as far as its bytes go."""

    passing: bool
    """What comes now may be lent."""

    clean: bool
    """A line may be asked about with ``passes``."""

    @property
    def deadline(self) -> float | None:
        """When it wants to be told the time."""

    passes: Callable[[bytes, float], bool]
    """Whether a line, read at this time, goes on as it is and need not be received."""

    def receive(self, data: bytes, now: float) -> None:
        """Take ``data``, read at ``now``."""

    def receive_lent(self, buffer: bytearray, size: int, now: float) -> None:
        """Take the first ``size`` bytes of ``buffer``; see ``Outbox.copy_lent``."""


class Flow:
    """What ``sender`` writes, on its way through ``outbox`` to the other peer."""

    __slots__ = (
        "blocked",
        "draining",
        "eager",
        "ended",
        "lost",
        "outbox",
        "passes",
        "patience",
        "paused",
        "read",
        "readiness",
        "reading",
        "receive",
        "sender",
        "sink",
        "source",
        "stream",
        "waits_until",
    )

    def __init__(
        self,
        sender: Peer,
        source: Source,
        sink: Sink,
        stream: Stream,
        outbox: Outbox,
        readiness: Readiness,
    ) -> None:
        self.sender = sender
        self.source = source
        self.sink = sink
        self.outbox = outbox
        self.readiness = readiness
        self.read = source.read
        self.stream = stream
        self.passes = stream.passes
        self.receive = stream.receive
        """Takes what was read, and when."""
        self.reading = True
        """The source is to be read: it has not ended, and there is room."""
        self.ended = False
        """The source is closed: at its end, or no longer of interest."""
        self.paused = False
        """The source is not read for now: a queue is full."""
        self.patience: float | None = None
        """Until when a backlog may last before the source is read in spite of it."""
        self.waits_until: float | None = None
        """The same while the source is paused for nothing else."""
        self.draining = False
        """The source counts as ended as soon as nothing is there to be read."""
        self.eager = source.fd is None
        """The source is read without being asked whether it is ready."""
        self.blocked = False
        """The sink has no room for now."""
        self.lost = False
        """The sink is closed: what is queued goes nowhere."""
        if source.fd is not None:
            readiness.add(source.fd, READABLE)
        for fd in {sink.fd, sink.watched}:
            if fd is not None:
                readiness.add(fd, 0)

    def pause(self, paused: bool) -> None:
        """Stop reading the source, or go on.

        Its descriptor leaves the poll set: with an empty mask a hang-up would still be
        reported, over and over, as long as the queue is full.
        """
        if self.ended or paused is self.paused:
            return
        self.paused = paused
        self.reading = not paused
        if self.source.fd is None:
            return
        if paused:
            self.readiness.remove(self.source.fd)
        else:
            self.readiness.add(self.source.fd, READABLE)

    def press(self, full: bool, clock: Callable[[], float]) -> None:
        """Pause the source if its queue is ``full``, or for a while if there is a backlog.

        A sink that takes what it gets will be ready in a moment.  Without the wait a fast
        writer would fill the queue meanwhile: memory for nothing.
        """
        self.waits_until = None
        # of a long message that passes through, what can't be written has to be copied
        enough = self.outbox.pending >= BACKLOG or self.stream.passing
        if not full and self.blocked and enough:
            now = clock()
            if self.patience is None:
                self.patience = now + PATIENCE
            if now < self.patience:
                self.waits_until = self.patience
        self.pause(full or self.waits_until is not None)

    def drain(self) -> None:
        """Read on only as long as there is something at once; that is then the end."""
        self.draining = self.eager = True

    def end(self) -> None:
        """Close the source: whoever writes to it still will be told."""
        if self.ended:
            return
        self.pause(True)
        self.ended = True
        self.source.close()

    def send(self, data: bytes) -> bool:
        """Write ``data``, ahead of which nothing is queued; see ``flush``."""
        outbox = self.outbox
        try:
            wrote = self.sink.send(data)
            if wrote == len(data):
                return True
        except BlockingIOError:
            wrote = 0
        except OSError:
            return False
        outbox.append(data)
        outbox.wrote(wrote)
        return self.flush()

    def flush(self) -> bool:
        """Write what there is room for; False once nobody reads the sink any more."""
        outbox = self.outbox
        if self.lost:
            outbox.clear()
            return True
        sink = self.sink
        try:
            # nearly always one part waits and there is room for all of it
            if (part := outbox.only) is not None:
                wrote = sink.send(part)
                if wrote < outbox.pending:
                    outbox.wrote(wrote)
                else:
                    outbox.wrote_only()
                    if not self.blocked:
                        return True
            while outbox.pending:
                buffers = outbox.buffers()
                wrote = sink.write(buffers)
                outbox.wrote(wrote)
                if outbox.pending and sink.fd is not None and wrote < sum(map(len, buffers)):
                    break
        except BlockingIOError:
            pass
        except OSError:
            return False
        blocked = outbox.pending > 0
        if blocked is not self.blocked and sink.fd is not None:
            self.blocked = blocked
            self.readiness.change(sink.fd, ROOM if blocked else 0)
        return True

    def shut(self) -> None:
        """Close the sink; whatever is queued is discarded, now and later."""
        if self.lost:
            return
        for fd in {self.sink.fd, self.sink.watched}:
            if fd is not None:
                self.readiness.remove(fd)
        self.lost = True
        self.blocked = False
        self.outbox.clear()
        self.sink.close()
