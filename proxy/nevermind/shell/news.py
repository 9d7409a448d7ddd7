"""Word that something has happened, for whoever waits for one of many things.

It does not say what: whoever waits looks again.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import trio


class News:
    """Deadlines are in Trio's time."""

    def __init__(self) -> None:
        self._told = trio.Event()

    def tell(self) -> None:
        """Something has happened."""
        self._told.set()

    async def wait(self, deadline: float = math.inf) -> None:
        """Wait until something happens, or for the deadline."""
        if self._told.is_set():
            self._told = trio.Event()
        with trio.move_on_at(deadline):
            await self._told.wait()

    async def until(self, holds: Callable[[], bool], deadline: float = math.inf) -> None:
        """Wait until ``holds``, or for the deadline."""
        while not holds() and trio.current_time() < deadline:
            await self.wait(deadline)
