"""``Content-Length`` headers, as LSP's base protocol has them.

Tolerant of other fields and of any case; the header's bytes are kept as they
came.  Knows nothing of what stands in a message.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FIELDS = re.compile(rb"(?:[!-9;-~]++:[^\r\n]*+\r\n)++")
_LENGTH = re.compile(
    rb"^content-length:[ \t]*+([0-9]{1,15})[ \t]*+\r\n", re.IGNORECASE | re.MULTILINE
)
_MAYBE = re.compile(rb"content-[!-9;-~]*+:", re.IGNORECASE)

LONGEST_HEADER = 4096
"""Bytes after which something is no header: real ones take a line or two."""


class Header(NamedTuple):
    """Where the body begins, and its length in bytes."""

    stop: int
    length: int


NO_HEADER = Header(0, 0)


def begins(data: bytes, start: int) -> bool:
    """Whether a header may begin at ``start``."""
    return _MAYBE.match(data, start) is not None


def read_header(data: bytes, start: int, longest: int) -> Header | None:
    """The header at ``start``; None if more bytes are needed to tell, else ``NO_HEADER``.

    It is one only if it announces a length of at most ``longest``, an empty
    line closes it and an object or array follows.
    """
    window = data[start : start + LONGEST_HEADER]
    fields = _FIELDS.match(window)
    stop = fields.end() if fields else 0
    rest = window[stop : stop + 3]
    if rest[:2] != b"\r\n":
        cut_off = len(window) < LONGEST_HEADER and b"\n" not in window[stop:]
        return None if cut_off else NO_HEADER
    length = _LENGTH.search(window[:stop])
    if length is None or int(length.group(1)) > longest:
        return NO_HEADER
    if len(rest) < 3:
        return None
    if rest[2:] not in (b"{", b"["):
        return NO_HEADER
    return Header(start + stop + 2, int(length.group(1)))


def with_length(header: bytes, length: int) -> bytes:
    """``header``, which announces a length, with another in its place."""
    match = _LENGTH.search(header)
    assert match is not None
    return header[: match.start(1)] + b"%d" % length + header[match.end(1) :]
