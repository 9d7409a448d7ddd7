"""Byte-exact editing: where a value stands in a message, and putting another there.

Nothing is ever re-serialised: all bytes but those of the replaced values stay
as they came.  A repeated key is found at each place where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from nevermind import scanning
from nevermind.dialects import Path
from nevermind.scanning import Member

Span = tuple[int, int]
Edit = tuple[Path, bytes]
"""The value at a path, and the bytes that take its place."""

SCAN_LIMIT = 1024 * 1024
"""Bytes that the slow scan may have to read; what is longer can't be made out."""

_LARGE = 16 * 1024
"""Bytes from which on it pays to let C find the end of the largest member."""

_RAW_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def members(body: bytes, start: int, stop: int) -> list[Member] | None:
    """The members of the object between the bounds, white space around allowed.

    None if there is none, or none that can be made out in bounded time.
    """
    if stop - start > _LARGE:
        part = body[start:stop]
        gap = _largest_value(part)
        if gap is not None:
            return _around(part, gap, start)
        if stop - start > SCAN_LIMIT:
            return None
    found = scanning.members(body[start:stop])
    if found is None or not start:
        return found
    return [Member(m.key, m.start + start, m.stop + start) for m in found]


def find(body: bytes, path: Path) -> list[Span]:
    """Where the values at ``path`` stand in ``body``, in order: often one, maybe none."""
    spans = [(0, len(body))]
    for name in path:
        spans = [
            (m.start, m.stop)
            for start, stop in spans
            for m in members(body, start, stop) or ()
            if m.key == name
        ]
    return spans


def replace(body: bytes, edits: Iterable[Edit]) -> bytes:
    """``body`` with other bytes at the given paths; paths that lead nowhere are skipped."""
    return put(body, [(span, new) for path, new in edits for span in find(body, path)])


def put(body: bytes, changes: Iterable[tuple[Span, bytes]]) -> bytes:
    """``body`` with other bytes at the given spans, none of which overlap."""
    for (start, stop), new in sorted(changes, reverse=True):
        body = body[:start] + new + body[stop:]
    return body


def repeats_key(body: bytes, paths: Iterable[Path]) -> bool:
    """Whether a key on the way to one of ``paths`` stands twice in its object.

    What can't be made out counts as repeated: the caller is about to drop.
    """
    return any(_repeats(body, (0, len(body)), path) for path in paths)


def _repeats(body: bytes, span: Span, path: Path) -> bool:
    found = members(body, *span)
    if found is None:
        return True
    values = [m for m in found if m.key == path[0]]
    if len(values) > 1:
        return True
    if not values or len(path) == 1 or body[values[0].start : values[0].start + 1] != b"{":
        return False
    return _repeats(body, (values[0].start, values[0].stop), path[1:])


def _largest_value(part: bytes) -> Span | None:
    """The bounds of an object's largest value, if that is most of it."""
    try:
        values = _RAW_OBJECT.decode(part).values()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    largest = max(map(bytes, values), key=len, default=b"")
    if len(part) - len(largest) > SCAN_LIMIT:
        return None
    start = part.index(largest)
    return start, start + len(largest)


def _around(part: bytes, gap: Span, offset: int) -> list[Member] | None:
    """The members of ``part``, the value at ``gap`` left out of the slow scan."""
    start, stop = gap
    shift = stop - start - 1
    found = scanning.members(part[:start] + b"0" + part[stop:])
    if found is None:
        return None
    return [
        Member(
            m.key,
            m.start + offset + (shift if m.start > start else 0),
            m.stop + offset + (shift if m.stop > start else 0),
        )
        for m in found
    ]
