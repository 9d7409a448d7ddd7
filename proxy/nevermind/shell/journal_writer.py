"""Writes lines to one file descriptor from a thread of its own.

Whoever reads a log may stall for as long as it likes: ``put`` never waits.
Knows bytes, not what they say.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque

ROOM = 1024 * 1024
"""Bytes that may wait for a slow reader: ten thousand lines, then lines are lost."""


class Writer:
    """A bounded queue in front of a descriptor, and the thread that empties it.

    The descriptor stays in the mode it is in: it may be shared with the
    server and with whoever started us.  ``lost`` counts the pieces that ``take_lost`` has
    not told of yet; ``error`` is why the last write failed, if one did.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self.lost = 0
        self._closing = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.error: OSError | None = None

    def put(self, data: bytes, *, always: bool = False) -> bool:
        """Queue ``data`` to be written; False, and counted, where there is no room for it.

        A single piece may exceed the room there is; ``always`` makes room for a last word.
        """
        with self._changed:
            if not always and self._size and self._size + len(data) > ROOM:
                self.lost += 1
                return False
            self._waiting.append(data)
            self._size += len(data)
            if self._thread is None:  # most sessions have nothing to say until their end
                self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
                self._thread.start()
            self._changed.notify()
        return True

    def take_lost(self, *, even_if_full: bool = False) -> int:
        """How many pieces were lost since the last call; 0 while there is no room to say so."""
        with self._changed:
            if not self.lost or (self._size > ROOM // 2 and not even_if_full):
                return 0
            lost, self.lost = self.lost, 0
            return lost

    def close(self, timeout: float) -> bool:
        """Write what waits, for at most ``timeout`` seconds; whether all was written."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout)
        return not self._waiting and not self._size

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    return
                data = self._waiting.popleft()
            written = self._write(data)
            with self._changed:
                self._size -= len(data)
                self.lost += not written

    def _write(self, data: bytes) -> bool:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # somebody else made the description non-blocking
                waiting = select.poll()
                waiting.register(self._descriptor, select.POLLOUT)
                waiting.poll()
            except OSError as error:  # nobody reads, the disk is full: our own work goes on
                self.error = error
                return False
        return True
