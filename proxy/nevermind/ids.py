"""Request ids and progress tokens as dictionary keys: by JSON type and exact value.

Knows the JSON spelling of one id, nothing of messages.  ``7``, ``7.0`` and
``7e0`` are one key, ``"7"`` is another, and ``true`` is none (JSON-RPC 2.0
section 4 allows strings and numbers; MCP narrows the numbers to integers).
"""

from __future__ import annotations

import json
import re

Key = int | str | tuple[int, str, int]
"""A tracked id or token.  The tuple (sign, digits, exponent) stands for whole
numbers too long to be expanded: ``1e999999999`` must not cost a gigabyte."""

LONGEST = 1024
"""Bytes of the longest id that is tracked, quotes included: real ids are
counters and UUIDs, and a table of long ones would be a way to fill us."""

_NUMBER = re.compile(rb"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_LENIENT = json.JSONDecoder(strict=False)
"""Reads raw control characters in strings, as some peers send them."""

_SPELLED_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")


def read_key(raw: bytes) -> Key | None:
    """The key of the JSON value ``raw``, or None for what is never tracked.

    None: objects, arrays, ``null``, ``true``, ``false``, numbers that are not
    whole, and anything that takes more than ``LONGEST`` bytes.
    """
    if len(raw) > LONGEST:
        return None
    if raw[:1] == b'"':
        return read_string(raw)
    if raw.isdigit() and (raw[:1] != b"0" or raw == b"0"):
        return int(raw)  # nearly always, and ten times as fast
    match = _NUMBER.fullmatch(raw)
    return _whole_number(match) if match else None


def read_string(raw: bytes) -> str | None:
    """The text of the JSON string ``raw``; None if it is none or can't be made out.

    Bad UTF-8 has no text: two strings are equal only if their values are.
    """
    if raw[:1] != b'"':
        return None  # unread: nesting could be deeper than the parser can go
    try:
        text = raw.decode("utf-8")
        if b"\\" not in raw and raw.find(b'"', 1) == len(raw) - 1:
            return text[1:-1]
        value = _LENIENT.decode(text)
    except ValueError:
        return None
    assert isinstance(value, str)
    return value


def spell(key: Key) -> bytes:
    """The JSON of ``key``: its value, not the spelling that it once was read from."""
    if isinstance(key, str):
        return json.dumps(key).encode("ascii")
    return str(shown(key)).encode("ascii")


def shown(key: Key) -> int | str:
    """``key`` for people: an int or a str."""
    return f"{key[0] * int(key[1])}e{key[2]}" if isinstance(key, tuple) else key


def twin(key: Key) -> Key | None:
    """The key of the other JSON type that spells the same integer, if any.

    SDKs on both sides turn ``"7"`` into ``7`` and back, so a lookup that finds
    nothing under one may mean the other.
    """
    if type(key) is int:
        return str(key)
    if type(key) is str and _SPELLED_INTEGER.fullmatch(key) and len(key) <= LONGEST:
        return int(key)
    return None


def _whole_number(match: re.Match[bytes]) -> Key | None:
    sign, whole, fraction, power = match.groups()
    digits = whole + (fraction or b"")
    if power is not None and len(power) > 18:
        if not digits.strip(b"0"):
            return 0
        # An exponent beyond any memory: a canonical form would need big-number
        # arithmetic on it, so it is not tracked, which only ever forwards.
        return None
    exponent = int(power or 0) - len(fraction or b"")
    kept = digits.rstrip(b"0")
    exponent += len(digits) - len(kept)
    kept = kept.lstrip(b"0")
    if not kept:
        return 0
    if exponent < 0:
        return None
    if len(kept) + exponent <= LONGEST:
        value: int = int(kept) * 10**exponent
        return -value if sign else value
    return (-1 if sign else 1, kept.decode("ascii"), exponent)
