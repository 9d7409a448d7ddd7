"""What can be told of a message without reading its payload.

``look`` is the careful look, at one message at a time: a C decoder that skips
values, then the shallow scan for what it refuses.  (``quicklook`` is the fast
one, for whole blocks.)  It classifies by members and validates nothing: a
missing ``jsonrpc`` (Codex app-server) or an error code of any value is fine.
Only the paths that the dialect names are read; a message inside ``params`` is
somebody else's protocol.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from nevermind import scanning
from nevermind.dialects import Dialect, Path
from nevermind.ids import Key, read_key, read_string


class Request(msgspec.Struct, frozen=True, gc=False):
    """A ``method`` with an ``id`` member, whatever the method: also a "cancel"."""

    id: Key | None
    method: str
    tokens: tuple[Key, ...] = ()


class Response(msgspec.Struct, frozen=True, gc=False):
    """A ``result`` or ``error`` without a ``method``.

    ``anonymous``: the id is null or absent.  ``scanned``: only the shallow
    scan could read it, so nothing is known about the result.
    """

    id: Key | None
    is_error: bool = False
    creates_task: bool = False
    anonymous: bool = False
    scanned: bool = False


class Cancel(msgspec.Struct, frozen=True, gc=False):
    """The dialect's cancel notification; ``id`` None if missing or malformed."""

    id: Key | None


class Progress(msgspec.Struct, frozen=True, gc=False):
    """The dialect's progress notification; ``token`` None if untrackable."""

    token: Key | None


class Notification(msgspec.Struct, frozen=True, gc=False):
    """Any other ``method`` without an ``id``; ``subscription`` as MCP's listens tag it."""

    method: str
    subscription: Key | None = None


class Opaque(msgspec.Struct, frozen=True, gc=False):
    """What is none of these.  ``understandable``: its receiver may make sense of it."""

    understandable: bool


class Batch(msgspec.Struct, frozen=True, gc=False):
    """An array of objects: per element its bounds in the message and its envelope."""

    spans: tuple[tuple[int, int], ...]
    elements: tuple[Envelope, ...]


Envelope = Request | Response | Cancel | Progress | Notification | Opaque | Batch

BROKEN = Opaque(understandable=False)
UNDERSTANDABLE = Opaque(understandable=True)

_TASK_IDS: tuple[Path, ...] = (("result", "task", "taskId"), ("result", "taskId"))

_RAW_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_REFUSALS = (msgspec.MsgspecError, UnicodeError, RecursionError)


def look(body: bytes, dialect: Dialect) -> Envelope:
    """The envelope of ``body``, one whole message with or without white space around."""
    start = scanning.first_byte(body)
    mark = body[start : start + 1]
    if mark == b"{":
        return _look_at_object(body[start:] if start else body, dialect)
    if mark == b"[":
        return _look_at_array(body, dialect)
    return BROKEN


def raw_members(body: bytes) -> tuple[Mapping[str, bytes], bool] | None:
    """The members of an object as raw bytes, the last of repeated keys.

    The flag says whether it took the shallow scan to read them.  None if
    there is no object to be made out.
    """
    try:
        decoded = _RAW_OBJECT.decode(body)
    except _REFUSALS:
        found = scanning.members(body)
        if found is None:
            return None
        return {m.key: body[m.start : m.stop] for m in found if m.key is not None}, True
    return {key: bytes(raw) for key, raw in decoded.items()}, False


def read_path(members: Mapping[str, bytes], path: Path) -> bytes | None:
    """The raw value at ``path``, or None if any part of the way is missing."""
    for name in path[:-1]:
        inner = members.get(name)
        if inner is None or inner[:1] != b"{":
            return None
        looked = raw_members(inner)
        if looked is None:
            return None
        members = looked[0]
    return members.get(path[-1])


def _look_at_object(body: bytes, dialect: Dialect) -> Envelope:
    looked = raw_members(body)
    if looked is None:
        return BROKEN
    members, scanned = looked
    method = members.get("method", b"null")
    if method == b"null":
        if "result" in members or "error" in members:
            return _response(members, scanned, dialect)
        return UNDERSTANDABLE
    name = read_string(method) if method[:1] == b'"' else None
    answered = any(members.get(key, b"null") != b"null" for key in ("result", "error"))
    if name is None or answered:
        return UNDERSTANDABLE
    if "id" in members:
        tokens = (_key_at(members, path) for path in dialect.request_tokens)
        return Request(read_key(members["id"]), name, tuple(t for t in tokens if t is not None))
    if name == dialect.cancel_method:
        return Cancel(_key_at(members, dialect.cancel_id))
    if name == dialect.progress_method:
        return Progress(_key_at(members, dialect.progress_token))
    return Notification(
        name, _key_at(members, dialect.subscription_id) if dialect.subscription_id else None
    )


def _response(members: Mapping[str, bytes], scanned: bool, dialect: Dialect) -> Response:
    raw_id = members.get("id", b"null")
    return Response(
        id=read_key(raw_id),
        is_error=members.get("error", b"null") != b"null",
        creates_task=dialect.creates_tasks and creates_task(members.get("result")),
        anonymous=raw_id == b"null",
        scanned=scanned,
    )


def creates_task(result: bytes | None) -> bool:
    """Whether a result creates a task (MCP 2025-11-25 ``task``, 2026-07-28 ``resultType``)."""
    if result is None or result[:1] != b"{":
        return False
    looked = raw_members(result)
    if looked is None:
        return False
    members = looked[0]
    if read_string(members.get("resultType", b"null")) == "task":
        return True
    task_id = read_path(members, ("task", "taskId"))
    return task_id is not None and task_id[:1] == b'"'


def task_id(body: bytes) -> str:
    """The id of the task that a response creates; "" where it can't be told."""
    looked = raw_members(body)
    members = {} if looked is None else looked[0]
    for path in _TASK_IDS:
        raw = read_path(members, path)
        if raw is not None and raw[:1] == b'"':
            return read_string(raw) or ""
    return ""


def _key_at(members: Mapping[str, bytes], path: Path) -> Key | None:
    raw = read_path(members, path)
    return None if raw is None else read_key(raw)


def _look_at_array(body: bytes, dialect: Dialect) -> Envelope:
    spans = _element_spans(body)
    if spans is None:
        return BROKEN
    objects = sum(body[start : start + 1] == b"{" for start, _ in spans)
    if objects < len(spans) or not spans:
        return UNDERSTANDABLE if objects else BROKEN
    found = tuple(_look_at_object(body[start:stop], dialect) for start, stop in spans)
    return Batch(tuple(spans), found)


def _element_spans(body: bytes) -> list[tuple[int, int]] | None:
    try:
        decoded = _RAW_ARRAY.decode(body)
    except _REFUSALS:
        return scanning.elements(body)
    spans: list[tuple[int, int]] = []
    at = 0
    for raw in decoded:
        # Between two elements stand only white space and a comma, with which
        # no element begins: the first occurrence is the element itself.
        value = bytes(raw)
        at = body.index(value, at)
        spans.append((at, at + len(value)))
        at += len(value)
    return spans
