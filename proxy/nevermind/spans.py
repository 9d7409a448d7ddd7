"""Byte-exact editing: where a value stands in a message, and putting another there.

Nothing is ever re-serialised: all bytes but those of the replaced values stay
as they came.  A repeated key is found at each place where it stands.  Knows
nothing of JSON-RPC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from nevermind import scanning
from nevermind.dialects import Path
from nevermind.scanning import SCAN_LIMIT, Member

Span = tuple[int, int]
Edit = tuple[Path, bytes]
"""The value at a path, and the bytes that take its place."""

_LARGE = 16 * 1024
"""Bytes from which on it pays to let C find the ends of large members."""

_WORTHWHILE = 1024
"""Bytes of a value whose end it pays to know."""

_PLAIN = re.compile(r"[A-Za-z0-9_.$-]+")

_keys: dict[str, bytes] = {}
"""The names of dialects' paths as they stand in messages; b"" for those with many spellings."""

_RAW_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def members(body: bytes, start: int, stop: int) -> list[Member] | None:
    """The members of the object between the bounds, white space around allowed.

    None if there is none, or none that can be made out in bounded time.
    """
    part = body[start:stop]
    known = _large_values(part) if len(part) > _LARGE else {}
    if len(part) - sum(map(len, known.values())) > SCAN_LIMIT:
        return None
    found = scanning.members(part, known)
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


def in_place(changes: Iterable[tuple[Span, bytes]]) -> list[tuple[Span, bytes]]:
    """The changes that take no more room than there is, the rest of it filled with spaces."""
    return [
        (span, new.ljust(span[1] - span[0]))
        for span, new in changes
        if len(new) <= span[1] - span[0]
    ]


def repeats_key(body: bytes, paths: Iterable[Path]) -> bool:
    """Whether a key on the way to one of ``paths`` stands twice in its object.

    What can't be made out counts as repeated: the caller is about to drop.
    """
    escaped = b"\\u" in body
    return any(
        _repeats(body, (0, len(body)), path) for path in paths if escaped or _may_repeat(body, path)
    )


def _may_repeat(body: bytes, path: Path) -> bool:
    """Whether a name in ``path`` may be a key twice, where no escapes of four digits are about.

    Only then can a plain name be spelled in another way.
    """
    for name in path:
        key = _keys.get(name)
        if key is None:
            key = b'"%b"' % name.encode("ascii") if _PLAIN.fullmatch(name) else b""
            _keys[name] = key
        if not key or body.count(key) > 1:
            return True
    return False


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


def _large_values(part: bytes) -> dict[str | None, bytes]:
    """The large objects, arrays and strings of an object, by key; of repeated keys the last."""
    try:
        values = {key: bytes(raw) for key, raw in _RAW_OBJECT.decode(part).items()}
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    # A number may be the beginning of another number; these show where they end.
    return {
        key: value
        for key, value in values.items()
        if len(value) >= _WORTHWHILE and value[:1] in (b"{", b"[", b'"')
    }
