"""How the oracle reads a message: by quotes, backslashes and brackets, one naive way for all.

It knows what a message is (request, notification, response, opaque) and where values stand in
it.  It does not know what becomes of the message: ``proxy.oracle`` does.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nevermind.dialects import Dialect, Path

Key = tuple[str, str]
"""An id or a token by JSON type and exact value: ("s", text) or ("n", digits and exponent)."""

Span = tuple[int, int]

BOM = b"\xef\xbb\xbf"
WHITE = b" \t\r\n"
LONGEST_ID = 1024

_NUMBER = re.compile(rb"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_INTEGER_TEXT = re.compile(r"-?(0|[1-9][0-9]*)")


class Kind(enum.Enum):
    """What a message is, by its members alone."""

    REQUEST = enum.auto()
    NOTIFICATION = enum.auto()
    RESPONSE = enum.auto()
    OPAQUE = enum.auto()


def skip_white(raw: bytes, at: int) -> int:
    """The first place from ``at`` on that is no white space."""
    while at < len(raw) and raw[at] in WHITE:
        at += 1
    return at


def body(raw: bytes) -> Span:
    """Where the message stands in a line, white space and a byte order mark left out."""
    start = skip_white(raw, 0)
    if raw.startswith(BOM, start):
        start = skip_white(raw, start + len(BOM))
    end = len(raw)
    while end > start and raw[end - 1] in WHITE:
        end -= 1
    return start, end


def end_of_string(raw: bytes, at: int) -> int | None:
    """Behind the closing quote of the string that starts at ``at``."""
    at += 1
    while at < len(raw):
        if raw[at] == ord('"'):
            return at + 1
        at += 2 if raw[at] == ord("\\") else 1
    return None


def end_of_value(raw: bytes, at: int) -> int | None:
    """Behind the value that starts at ``at``; None where none ends."""
    if at >= len(raw):
        return None
    if raw[at] == ord('"'):
        return end_of_string(raw, at)
    if raw[at] in b"{[":
        return _end_of_brackets(raw, at)
    start = at
    while at < len(raw) and raw[at] not in WHITE + b',:]}"[{':
        at += 1
    return at if at > start else None


def _end_of_brackets(raw: bytes, at: int) -> int | None:
    awaited: list[int] = []
    while at < len(raw):
        if raw[at] == ord('"'):
            after = end_of_string(raw, at)
            if after is None:
                return None
            at = after
            continue
        if raw[at] in b"{[":
            awaited.append(ord("}") if raw[at] == ord("{") else ord("]"))
        elif raw[at] in b"}]":
            if awaited.pop() != raw[at]:
                return None
            if not awaited:
                return at + 1
        at += 1
    return None


def text_of(string: bytes) -> str:
    """What a JSON string says; as it stands where it can't be decoded."""
    text = string.decode("utf-8", "surrogateescape")
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text


def elements(raw: bytes, span: Span) -> list[Span] | None:
    """The elements of the array that fills ``span``; None where it is no array."""
    start, end = span
    if raw[start : start + 1] != b"[" or end_of_value(raw, start) != end:
        return None
    found: list[Span] = []
    at = skip_white(raw, start + 1)
    if at == end - 1:
        return found
    while True:
        after = end_of_value(raw, at)
        if after is None:
            return None
        found.append((at, after))
        at = skip_white(raw, after)
        if at == end - 1:
            return found
        if raw[at] != ord(","):
            return None
        at = skip_white(raw, at + 1)


def members(raw: bytes, span: Span) -> list[tuple[str, Span]] | None:
    """The members of the object that fills ``span``, repeated ones too."""
    start, end = span
    if raw[start : start + 1] != b"{" or end_of_value(raw, start) != end:
        return None
    found: list[tuple[str, Span]] = []
    at = skip_white(raw, start + 1)
    if at == end - 1:
        return found
    while True:
        colon = end_of_string(raw, at) if raw[at] == ord('"') else None
        if colon is None:
            return None
        name = text_of(raw[at:colon])
        colon = skip_white(raw, colon)
        if raw[colon] != ord(":"):
            return None
        at = skip_white(raw, colon + 1)
        after = end_of_value(raw, at)
        if after is None:
            return None
        found.append((name, (at, after)))
        at = skip_white(raw, after)
        if at == end - 1:
            return found
        if raw[at] != ord(","):
            return None
        at = skip_white(raw, at + 1)


def key_of(value: bytes) -> Key | None:
    """The key of an id or token; None for a kind that is never tracked.

    7, 7.0 and 7e0 are one, -0 is 0, "7" is another; integers of any size are exact and their
    exponents stay as they are.  Null, true, objects, arrays, numbers that are not whole and
    what is longer than 1 KiB have no key.
    """
    if len(value) > LONGEST_ID:
        return None
    if value.startswith(b'"'):
        return "s", text_of(value)
    number = _NUMBER.fullmatch(value)
    if number is None:
        return None
    sign, whole, fraction, exponent = (group or b"" for group in number.groups())
    digits = (whole + fraction).decode().lstrip("0")
    if not digits:
        return "n", "0"
    short = digits.rstrip("0")
    power = int(exponent or b"0") - len(fraction) + len(digits) - len(short)
    return None if power < 0 else ("n", f"{sign.decode()}{short}e{power}")


def twin_of(key: Key) -> Key | None:
    """The key of the other type that stands for it: 7 for "7", "7" for 7."""
    kind, text = key
    if kind == "s":
        return key_of(text.encode()) if _INTEGER_TEXT.fullmatch(text) else None
    digits, _, power = text.partition("e")
    return None if len(power) > 3 else ("s", digits + "0" * int(power or "0"))


@dataclass(frozen=True, slots=True)
class Message:
    """One JSON object of a conversation, as its bytes."""

    raw: bytes
    top: tuple[tuple[str, Span], ...]
    kind: Kind

    def spans(self, path: Sequence[str]) -> list[Span]:
        """Every place where the path leads, repeated keys included."""
        inside = list(self.top)
        found: list[Span] = []
        for depth, name in enumerate(path):
            found = [span for key, span in inside if key == name]
            if depth < len(path) - 1:
                inside = [one for span in found for one in members(self.raw, span) or []]
        return found

    def value(self, path: Sequence[str]) -> bytes | None:
        """The bytes of the value at ``path``: of a repeated key its last value counts."""
        inside = list(self.top)
        span: Span | None = None
        for name in path:
            places = [span for key, span in inside if key == name]
            if not places:
                return None
            span = places[-1]
            inside = members(self.raw, span) or []
        return None if span is None else self.raw[span[0] : span[1]]

    def has(self, name: str) -> bool:
        """Whether the message has that member at its top."""
        return any(key == name for key, _ in self.top)

    def repeats(self, paths: Sequence[Path]) -> bool:
        """Whether a key on one of the paths is repeated where it stands."""
        return any(
            len(self.spans(path[:depth])) > 1 for path in paths for depth in range(1, len(path) + 1)
        )

    @property
    def method(self) -> str | None:
        """The method, decoded; None where it is no string."""
        value = self.value(("method",))
        return text_of(value) if value is not None and value.startswith(b'"') else None

    @property
    def creates_task(self) -> bool:
        """Whether it is an answer that creates a task."""
        named = self.value(("result", "task", "taskId"))
        kind = self.value(("result", "resultType"))
        return (named is not None and named.startswith(b'"')) or (
            kind is not None and kind.startswith(b'"') and text_of(kind) == "task"
        )

    @property
    def is_json(self) -> bool:
        """Whether a real parser reads it: where none does, only the scan succeeded."""
        try:
            json.loads(self.raw.decode("utf-8", "surrogateescape"), strict=False)
        except (ValueError, RecursionError):
            return False
        return True


def _kind(raw: bytes, top: list[tuple[str, Span]]) -> Kind:
    last = {name: raw[start:end] for name, (start, end) in top}
    if last.get("method", b"").startswith(b'"'):
        if last.get("result", b"null") == b"null" and last.get("error", b"null") == b"null":
            return Kind.REQUEST if "id" in last else Kind.NOTIFICATION
    elif last.get("method", b"null") == b"null" and ("result" in last or "error" in last):
        return Kind.RESPONSE
    return Kind.OPAQUE


def read_object(raw: bytes) -> Message | None:
    """The message that ``raw`` is; None where it is not one object."""
    span = body(raw)
    top = members(raw, span) if span[0] < span[1] else None
    return None if top is None else Message(raw, tuple(top), _kind(raw, top))


def is_cancel(message: Message, dialect: Dialect) -> bool:
    """A cancel is the notification of that name; with an id it is the request it is."""
    return message.kind is Kind.NOTIFICATION and message.method == dialect.cancel_method


def is_progress(message: Message, dialect: Dialect) -> bool:
    """Progress is the notification of that name."""
    return message.kind is Kind.NOTIFICATION and message.method == dialect.progress_method


def is_noise(line: bytes) -> bool:
    """First bytes, white space and a BOM left out, neither ``{`` nor ``[{``, ``[[``, ``[]``."""
    start, end = body(line)
    first = bytes(byte for byte in line[start:end] if byte not in WHITE)[:2]
    return not first.startswith((b"{", b"[{", b"[[", b"[]"))
