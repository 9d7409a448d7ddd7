"""A shallow scan of one message: where its members stand, values unread.

It is the last link of the chain of looks, for what strict parsers refuse but
peers send and accept all the same (``NaN``, lone surrogates, bad UTF-8), and
the only one that knows byte positions, which editing needs.  Strings are told
by quotes and backslashes, nesting by counting brackets, without recursion.
Knows nothing of JSON-RPC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from nevermind.ids import read_string

BOM = b"\xef\xbb\xbf"

SCAN_LIMIT = 1024 * 1024
"""Bytes that are scanned: a megabyte takes up to a third of a second."""

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKETS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_SCALAR = re.compile(rb'[^ \t\r\n,:\[\]{}"]++')

_CLOSERS = {b'"': b'"', b"{": b"}", b"[": b"]"}

_NOTHING: Mapping[str | None, bytes] = {}


class Member(NamedTuple):
    """One ``"key": value`` of an object; ``start`` and ``stop`` bound the value."""

    key: str | None
    start: int
    stop: int


def first_byte(data: bytes, start: int = 0) -> int:
    """The position of the first byte that is neither white space nor a BOM."""
    if data.startswith(BOM, start):
        start += len(BOM)
    return _skip_space(data, start)


def members(data: bytes, known: Mapping[str | None, bytes] = _NOTHING) -> list[Member] | None:
    """The members of the object that fills ``data``.

    None if there is no such object or something follows it.  A key that can't
    be decoded is None.  ``known`` has objects, arrays and strings that may be
    the values of keys: where one is, nothing in it is read.
    """
    found: list[Member] = []
    stop = _object(data, first_byte(data), found, known)
    return found if stop is not None and _skip_space(data, stop) == len(data) else None


def leading_members(data: bytes) -> list[Member]:
    """The members that are whole in ``data``, the beginning of an object.

    The value of the last one may be cut off: its ``stop`` is then -1.
    """
    found: list[Member] = []
    _object(data, first_byte(data), found, _NOTHING, cut=True)
    return found


def elements(data: bytes, most: int) -> list[tuple[int, int]] | None:
    """The bounds of each element of the array that fills ``data``, or None.

    Of an array with more than ``most`` elements the first ones, one too many.
    """
    found: list[tuple[int, int]] = []
    at = first_byte(data)
    if data[at : at + 1] != b"[":
        return None
    at = _skip_space(data, at + 1)
    if data[at : at + 1] == b"]":
        return found if _skip_space(data, at + 1) == len(data) else None
    while True:
        stop = skip_value(data, at)
        if stop is None:
            return None
        found.append((at, stop))
        if len(found) > most:
            return found
        at = _skip_space(data, stop)
        mark = data[at : at + 1]
        if mark == b"]":
            return found if _skip_space(data, at + 1) == len(data) else None
        if mark != b",":
            return None
        at = _skip_space(data, at + 1)


def skip_value(data: bytes, start: int) -> int | None:
    """Where the value that begins at ``start`` ends; None if it does not."""
    mark = data[start : start + 1]
    closer = _CLOSERS.get(mark)
    if closer is not None and data.find(closer, start + 1) < 0:
        return None  # the beginning of a long message: told without reading on
    if mark == b'"':
        match = _STRING.match(data, start)
        return match.end() if match else None
    if closer is not None:
        return _closing_bracket(data, start)
    match = _SCALAR.match(data, start)
    return match.end() if match else None


def _closing_bracket(data: bytes, start: int) -> int | None:
    depth = 0
    for match in _BRACKETS.finditer(data, start):
        mark = match.group()
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return match.end()
        elif mark == b'"':
            return None  # a string that is never closed
    return None


def _object(
    data: bytes,
    at: int,
    found: list[Member],
    known: Mapping[str | None, bytes],
    *,
    cut: bool = False,
) -> int | None:
    """Collect the members of the object at ``at``; where it ends, or None."""
    if data[at : at + 1] != b"{":
        return None
    at = _skip_space(data, at + 1)
    if data[at : at + 1] == b"}":
        return at + 1
    while True:
        key = _STRING.match(data, at)
        if key is None:
            return None
        at = _skip_space(data, key.end())
        if data[at : at + 1] != b":":
            return None
        at = _skip_space(data, at + 1)
        name = read_string(key.group())
        value = known.get(name)
        if value is not None and data.startswith(value, at):
            stop: int | None = at + len(value)
        else:
            stop = skip_value(data, at)
        if cut and stop in (None, len(data)):
            if at < len(data):
                found.append(Member(name, at, -1))
            return None
        if stop is None:
            return None
        found.append(Member(name, at, stop))
        at = _skip_space(data, stop)
        mark = data[at : at + 1]
        if mark == b"}":
            return at + 1
        if mark != b",":
            return None
        at = _skip_space(data, at + 1)


def _skip_space(data: bytes, start: int) -> int:
    if data[start : start + 1] > b" ":
        return start  # nearly always, and four times as fast
    match = _SPACE.match(data, start)
    return match.end() if match else start
