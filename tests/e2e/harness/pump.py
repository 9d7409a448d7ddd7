"""All the pipes of one conversation, moved by one thread.

Nothing moves but inside ``Pump.run``: a test that does not wait for anything lets the pipes fill
up, which is what a slow peer does.  Knows nothing of messages.
"""

from __future__ import annotations

import os
import selectors
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 65_536
WINK = 0.02
"""Seconds after which a condition that no pipe announces (a process ended) is looked at again."""


@dataclass
class Inbox:
    """What one side has received and no test has looked at yet."""

    data: bytearray = field(default_factory=bytearray)
    ended: bool = False

    def feed(self, data: bytes) -> None:
        self.data += data

    def end(self) -> None:
        self.ended = True


class Channel:
    """One file descriptor of ours, read, written or both; not blocking."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        fd: int,
        on_data: Callable[[bytes], None] | None,
        on_end: Callable[[], None] | None,
    ) -> None:
        self._selector = selector
        self._fd = fd
        self._on_data = on_data
        self._on_end = on_end
        self._reading = on_data is not None
        self._outgoing: deque[memoryview] = deque()
        self._closing = False
        self.open = True
        self.broken = False
        os.set_blocking(fd, False)
        self._watch()

    def send(self, data: bytes) -> None:
        """Queue ``data``; it goes out while the pump runs."""
        if data:
            self._outgoing.append(memoryview(data))
            self._watch()

    def close(self) -> None:
        """Close the descriptor once everything queued is out."""
        self._closing = True
        self._watch()

    def pause(self) -> None:
        self._reading = False
        self._watch()

    def resume(self) -> None:
        self._reading = self._on_data is not None
        self._watch()

    def abandon(self) -> None:
        """Close at once, whatever is queued."""
        self._outgoing.clear()
        self._closing = True
        self._watch()

    def ready(self, events: int) -> None:
        if events & selectors.EVENT_WRITE and self._outgoing:
            self._write()
        if events & selectors.EVENT_READ and self._reading and self.open:
            self._read()

    def _write(self) -> None:
        try:
            done = os.write(self._fd, self._outgoing[0][: 1 << 20])
        except BlockingIOError:
            return
        except OSError:
            self.broken = True
            self._outgoing.clear()
        else:
            rest = self._outgoing[0][done:]
            if rest:
                self._outgoing[0] = rest
            else:
                self._outgoing.popleft()
        self._watch()

    def _read(self) -> None:
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            assert self._on_data is not None
            self._on_data(data)
        else:
            self._reading = False
            if self._on_end is not None:
                self._on_end()
            self._watch()

    def _watch(self) -> None:
        """Tell the selector what we wait for now; close when there is nothing left to do."""
        if not self.open:
            return
        events = 0
        if self._reading and not self._closing:
            events |= selectors.EVENT_READ
        if self._outgoing:
            events |= selectors.EVENT_WRITE
        registered = self._fd in self._selector.get_map()
        if events and registered:
            self._selector.modify(self._fd, events, self)
        elif events:
            self._selector.register(self._fd, events, self)
        elif registered:
            self._selector.unregister(self._fd)
        if self._closing and not self._outgoing:
            self.open = False
            os.close(self._fd)


class Pump:
    """The channels of one conversation."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._channels: list[Channel] = []

    def channel(
        self,
        fd: int,
        on_data: Callable[[bytes], None] | None = None,
        on_end: Callable[[], None] | None = None,
    ) -> Channel:
        """Take over ``fd``, which is closed with the pump."""
        channel = Channel(self._selector, fd, on_data, on_end)
        self._channels.append(channel)
        return channel

    def run(self, until: Callable[[], bool], seconds: float) -> bool:
        """Move bytes until the condition holds; False when ``seconds`` have passed before."""
        deadline = time.monotonic() + seconds
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, events in self._selector.select(min(left, WINK)):
                key.data.ready(events)
        return True

    def moves(self, seconds: float) -> bool:
        """Wait so long for anything to move, and move it; False if nothing does."""
        ready = self._selector.select(seconds)
        for key, events in ready:
            key.data.ready(events)
        return bool(ready)

    def drain(self) -> None:
        """Move what can be moved without waiting."""
        while ready := self._selector.select(0):
            for key, events in ready:
                key.data.ready(events)

    def close(self) -> None:
        for channel in self._channels:
            channel.abandon()
        self._selector.close()
