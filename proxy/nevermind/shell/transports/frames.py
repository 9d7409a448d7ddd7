"""Follows the frames in a WebSocket's byte stream (RFC 6455, section 5.2), sans-I/O.

It reads headers and counts payload; it decodes and checks nothing, for the library behind
it does.  Thus a message that is too big is known by its header, with its size, before a
byte of it is held, and a size is bytes, whatever the library counts.
"""

from __future__ import annotations

CLOSE = 8
"""The opcode of a close frame; those below are data, this and those above control."""

_LONGEST_HEADER = 14


class FrameMeter:
    """One direction of one connection.

    ``longest`` is the most that a message may have, in bytes of payload.  ``received``
    counts the payload of data frames so far, ``messages`` what is whole of it.  ``too_big``
    is the size, as far as it is known, of a message that exceeds ``longest``, else 0;
    ``closed``: a close frame came.
    """

    __slots__ = (
        "_data",
        "_header",
        "_last",
        "_left",
        "_longest",
        "_message",
        "closed",
        "messages",
        "received",
        "too_big",
    )

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._header = b""
        self._left = 0
        self._data = False
        self._message = 0
        self._last = False
        self.messages = 0
        self.received = 0
        self.too_big = 0
        self.closed = False

    def feed(self, data: bytes) -> int:
        """How many bytes of ``data`` may go on: all, or those before a frame that is too big."""
        at, size = 0, len(data)
        while at < size:
            if self._left:
                step = min(self._left, size - at)
                self._left -= step
                at += step
                if self._data:
                    self.received += step
                    self.messages += self._last and not self._left
                continue
            if self.closed:
                break  # nothing that follows a close frame means anything
            begun = len(self._header)
            header = self._header + data[at : at + _LONGEST_HEADER - begun]
            length = _header_length(header)
            if len(header) < length:
                self._header = header
                break
            self._header = b""
            if not self._admit(header):
                return at
            at += length - begun
        return size

    def _admit(self, header: bytes) -> bool:
        """Begin the frame with this header; False if its message would be too big."""
        opcode, fin = header[0] & 0x0F, bool(header[0] & 0x80)
        short = header[1] & 0x7F
        ends = {126: 4, 127: 10}.get(short)
        length = int.from_bytes(header[2:ends]) if ends else short
        self._data = opcode < CLOSE
        self._left = length
        if not self._data:
            self.closed = self.closed or opcode == CLOSE
            return True
        self._message += length
        if self._message > self._longest:
            self.too_big = self._message
            return False
        self._last = fin
        if fin:
            self._message = 0
            self.messages += not length
        return True


def _header_length(header: bytes) -> int:
    """How long a header that begins so is; more than is there if that cannot be told yet."""
    if len(header) < 2:
        return 2
    extended = {126: 2, 127: 8}.get(header[1] & 0x7F, 0)
    return 2 + extended + (4 if header[1] & 0x80 else 0)
