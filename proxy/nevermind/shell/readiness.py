"""Which descriptors are ready: one poll set, level-triggered.

An epoll on Linux, whose own descriptor can be waited for in another poll set (Trio's);
elsewhere poll(2), which cannot.  Knows nothing of what is read or written.
"""

from __future__ import annotations

import math
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Ready = list[tuple[int, int]]

READABLE = select.POLLIN
ROOM = select.POLLOUT
GONE = select.POLLERR | select.POLLHUP
"""The other end is closed; reported whether it is asked for or not."""


MOST = 8
"""Descriptors to be told of at a time: a call makes room for a thousand otherwise."""


class Readiness:
    """A poll set.  ``fd`` is readable while anything in it is ready; None: it has no fd.

    ``nested`` False forces poll(2).
    """

    def __init__(self, *, nested: bool = hasattr(select, "epoll")) -> None:
        self._poll = select.epoll() if nested else select.poll()
        self.fd: int | None = self._poll.fileno() if hasattr(self._poll, "fileno") else None
        self.add = self._poll.register
        """``add(fd, mask)``: report ``fd`` from now on."""
        self.change = self._poll.modify
        """``change(fd, mask)``: report it for something else."""
        self.remove = self._poll.unregister
        """``remove(fd)``: report it no more, its hang-up neither."""
        # a bound C function where that will do: it is called for every chunk
        self.wait: Callable[..., Ready]
        self.wait = self._poll.poll if nested else self._wait_in_milliseconds
        """``wait(seconds[, MOST])``: what is ready, as (fd, mask); None waits for ever."""

    def _wait_in_milliseconds(
        self, timeout: float | None, most: int = MOST
    ) -> list[tuple[int, int]]:
        ready = self._poll.poll(None if timeout is None else math.ceil(timeout * 1000))
        return ready[:most]
