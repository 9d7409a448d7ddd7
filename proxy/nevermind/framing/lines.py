"""Lines: the framing of MCP over stdio.

A line ends at 0x0A and nowhere else.  A peer that speaks with
``Content-Length`` headers all the same is understood frame by frame, and so
is one whose newline never comes (``heads``).
"""

from __future__ import annotations

import msgspec

from nevermind import scanning
from nevermind.frames import Frame
from nevermind.framing import headers
from nevermind.framing.held import Held

STILL_S = 0.1
"""Seconds after which an unterminated rest counts as still."""

STILL_LIMIT = 1024 * 1024
"""Bytes of the longest unterminated rest that is searched for whole messages."""

_OPENERS = (b"{", b"[")

_VALUE = msgspec.json.Decoder(msgspec.Raw)


class Lines(Held):
    """The line framing of one direction; what it is fed stays in order.

    ``longest`` is the size in bytes beyond which an unterminated line is
    ``overlong`` and should be taken off with ``take``.  ``awaited`` is 0
    outside of a header-framed message.
    """

    __slots__ = ("_asked", "_longest", "_searched")

    def __init__(self, longest: int) -> None:
        super().__init__()
        self._longest = longest
        self._searched = False
        self._asked = False

    def feed(self, data: bytes, now: float) -> bytes:
        """All held bytes and ``data``, once a frame may be whole; before that b""."""
        awaited = self.awaited
        if not (self.size + len(data) >= awaited if awaited else b"\n" in data):
            self.keep(data, now)
            return b""
        return self._with(data)

    def keep(self, rest: bytes, now: float) -> None:
        """See ``Held.keep``; what is new may be searched."""
        super().keep(rest, now)
        self._searched = self._searched and not rest

    def take(self) -> bytes:
        """See ``Held.take``; another line may be asked for."""
        self._asked = False
        return super().take()

    def ask_once(self, size: int) -> bool:
        """Whether more than ``size`` bytes of a line are held; True once per line."""
        asked = self._asked
        self._asked = asked or (self.size > size and not self.awaited)
        return self._asked and not asked

    def head(self, size: int) -> bytes:
        """The first ``size`` bytes of what is held."""
        head = b""
        for part in self._parts:
            head += part[: size - len(head)]
            if len(head) == size:
                break
        return head

    @property
    def overlong(self) -> bool:
        """Whether the rest is longer than what may be held."""
        return self.size > self._longest

    @property
    def still_at(self) -> float | None:
        """When the rest will have been still for long enough to be looked at."""
        if not self.size or self._searched or (self.size > STILL_LIMIT and not self.awaited):
            return None
        return self.touched + STILL_S

    def hold_still(self, rest: bytes) -> None:
        """Hold ``rest`` again after it was searched: not before more comes is it again."""
        self.keep(rest, self.touched)
        self._searched = True

    def next(self, data: bytes, at: int) -> Frame | None:
        """The frame that begins at ``at``, or None if it is not whole."""
        if headers.begins(data, at):
            header = headers.read_header(data, at, self._longest)
            if header is None:
                self.awaited = len(data) - at + 1
                return None
            if header.stop:
                return self._framed(data, at, header)
        end = data.find(b"\n", at)
        return Frame(at, end + 1, at, end) if end >= 0 else None

    def _framed(self, data: bytes, at: int, header: headers.Header) -> Frame | None:
        stop = header.stop + header.length
        if stop > len(data):
            self.awaited = stop - at
            return None
        # A length that does not fit its body proves nothing: the bytes pass.
        fits = _is_one_value(data[header.stop : stop])
        return Frame(at, stop, header.stop if fits else stop, stop)


def _is_one_value(body: bytes) -> bool:
    """Whether ``body`` is one JSON value, with or without white space around."""
    try:
        _VALUE.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        end = scanning.skip_value(body, 0) if len(body) <= scanning.SCAN_LIMIT else None
        return end is not None and not body[end:].strip()
    return True


def heads(rest: bytes) -> list[Frame]:
    """The whole objects and arrays at the head of a still rest."""
    frames: list[Frame] = []
    at = 0
    while True:
        start = scanning.first_byte(rest, at)
        if rest[start : start + 1] not in _OPENERS:
            return frames
        stop = scanning.skip_value(rest, start)
        if stop is None:
            return frames
        frames.append(Frame(at, stop, start, stop))
        at = stop
