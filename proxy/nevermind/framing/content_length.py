"""``Content-Length`` framing: LSP's base protocol, where every message has a header.

Header fields come as they like: other fields before or behind, any case,
spaces around the colon, bare LF as line end.  What stands between two frames
(a banner, a log line, a message that somebody forgot to frame) is given out as
a frame without a message, so that it passes as it is; the next header is found
again even in the middle of a line.  Knows nothing of what stands in a message.
"""

from __future__ import annotations

import re

from nevermind.frames import Frame
from nevermind.framing.headers import NO_HEADER, Header
from nevermind.framing.held import Held

STILL_S = 0.1
"""Seconds after which what only resembles a header counts as no header."""

LONGEST_HEADER = 8192
"""Bytes after which something is no header: real ones take a line or two."""

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_FIELD = _TOKEN + rb"[ \t]*+:[^\r\n]*+"
_BLOCK = re.compile(rb"((?:%b\r?\n)++)\r?\n" % _FIELD)
_BEGUN = re.compile(rb"(?:%b\r?\n)*+(?:\r|%b[ \t]*+(?::[^\r\n]*+\r?)?)?\Z" % (_FIELD, _TOKEN))
_LENGTH = re.compile(rb"^content-length[ \t]*+:([^\r\n]*+)(\r?\n)", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(rb"[ \t]*+([0-9]{1,15})[ \t]*+")
_BARE_LINES = re.compile(rb"(?:[^\r\n]*+\n)++")
_SPACE = re.compile(rb"[ \t\r\n]++")
_RESUME = re.compile(rb"content-(?:length|type)[ \t]*+:", re.IGNORECASE)
_CONTENT = b"content-"


def _beginning(word: bytes, then: bytes) -> bytes:
    """A pattern for every beginning of ``word``, the whole of it followed by ``then``."""
    pattern = then
    for letter in reversed(word):
        pattern = b"%c(?:%b)?" % (letter, pattern)
    return pattern


_RESUMING = re.compile(
    _beginning(
        b"content-",
        b"(?:%b|%b)" % (_beginning(b"length", rb"[ \t]*+"), _beginning(b"type", rb"[ \t]*+")),
    )
    + rb"\Z",
    re.IGNORECASE,
)
"""What may become ``_RESUME`` with the bytes that follow."""

_ENOUGH = 4096
"""Bytes of an overlong message that are waited for: what can be told of it is told by them."""


class ContentLength(Held):
    """The header framing of one direction; what it is fed stays in order.

    ``longest`` is the size in bytes beyond which a message is not waited for:
    its frame is given out when it has begun, and ends behind the data.
    ``astray`` says that the last bytes given out were no frame.
    """

    __slots__ = ("_longest", "_mid_line", "astray")

    def __init__(self, longest: int) -> None:
        super().__init__()
        self._longest = longest
        self.astray = False
        self._mid_line = False

    def feed(self, data: bytes, now: float) -> bytes:
        """All held bytes and ``data``, once a frame may be whole; before that b""."""
        if self.size + len(data) < self.awaited:
            self.keep(data, now)
            return b""
        return self._with(data)

    def give_up(self) -> bytes:
        """Give up the rest, which has been still for too long: it was no header."""
        rest = self.take()
        self._pass(0, 0, mid_line=not rest.endswith(b"\n"))
        return rest

    @property
    def still_at(self) -> float | None:
        """When the rest will have been still for too long to be a header.

        Never, once it says ``Content-``: then a header is on its way, however
        slowly, and its receiver could do nothing with half of it.
        """
        if not self.size or self.awaited:
            return None
        rest = b"".join(self._parts).lower()
        expected = _CONTENT.startswith(rest) and not self.astray
        begun = rest.startswith(_CONTENT) or b"\n" + _CONTENT in rest
        return None if expected or begun else self.touched + STILL_S

    def next(self, data: bytes, at: int) -> Frame | None:
        """The frame that begins at ``at``, or None if more bytes are needed.

        A frame without a message passes as it is.  One that is overlong ends
        behind ``data``, or where the message ends if that has come too.
        """
        self.awaited = 0
        if self._mid_line and not _RESUME.match(data, at):
            return None if _RESUMING.match(data, at) else self._stray(data, at)
        block = _BLOCK.match(data, at, at + LONGEST_HEADER)
        if block is None:
            return self._no_header(data, at)
        lengths = list(_LENGTH.finditer(block.group(1)))
        if not lengths:
            return self._stray(data, at)
        header = _read(block, lengths)
        if header is NO_HEADER:
            # Nobody can say where its message ends, but its own lines belong together.
            return self._pass(at, block.end())
        bare = _BARE_LINES.match(data, at, at + lengths[0].start())
        if bare and lengths[0].group(2) == b"\r\n":
            # Somebody printed something that looks like a field: it is not of this header.
            return self._pass(at, bare.end())
        stop = header.stop + header.length
        needed = stop if header.length <= self._longest else min(stop, header.stop + _ENOUGH)
        if needed > len(data):
            self.awaited = needed - at
            return None
        self.astray = self._mid_line = False
        return Frame(at, stop, header.stop, stop)

    def _no_header(self, data: bytes, at: int) -> Frame | None:
        space = _SPACE.match(data, at)
        if space:
            return Frame(at, space.end(), space.end(), space.end())
        if len(data) - at < LONGEST_HEADER and _BEGUN.match(data, at):
            return None
        return self._stray(data, at)

    def _stray(self, data: bytes, at: int) -> Frame | None:
        """What is no header: up to the line's end, or to where one may begin."""
        stop = data.find(b"\n", at) + 1
        found = _RESUME.search(data, at + 1, stop or len(data))
        if found:
            return self._pass(at, found.start(), mid_line=True)
        if stop:
            return self._pass(at, stop)
        found = _RESUMING.search(data, at + 1)
        return self._pass(at, found.start() if found else len(data), mid_line=True)

    def _pass(self, at: int, stop: int, *, mid_line: bool = False) -> Frame:
        self.astray = True
        self._mid_line = mid_line
        return Frame(at, stop, stop, stop)


def with_length(header: bytes, length: int) -> bytes:
    """``header`` with another length in the place of the one that it announces."""
    for field in reversed(list(_LENGTH.finditer(header))):
        number = _NUMBER.match(header, *field.span(1))
        assert number is not None
        header = header[: number.start(1)] + b"%d" % length + header[number.end(1) :]
    return header


def _read(block: re.Match[bytes], lengths: list[re.Match[bytes]]) -> Header:
    """The header that ``block`` is; ``NO_HEADER`` if its lengths differ or are no numbers."""
    numbers = [_NUMBER.fullmatch(field[1]) for field in lengths]
    values = {int(number[1]) for number in numbers if number}
    if None in numbers or len(values) > 1:
        return NO_HEADER
    return Header(block.end(), values.pop())
