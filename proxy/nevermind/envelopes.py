"""What can be told of a message without reading its payload.

``look`` is the careful look, at one message at a time: a C decoder that skips
values, then the shallow scan for what it refuses.  (``quicklook`` is the fast
one, for whole blocks.)  It classifies by members and validates nothing: a
missing ``jsonrpc`` (Codex app-server) or an error code of any value is fine.
Only the paths that the dialect names are read; a message inside ``params`` is
somebody else's protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from nevermind import scanning
from nevermind.dialects import Dialect, Path
from nevermind.ids import Key, read_key, read_string
from nevermind.scanning import SCAN_LIMIT


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

LARGEST_BATCH = 4096
"""Elements of the longest array that is judged.  Batches of hundreds are unheard of;
one of millions of empty objects would cost gigabytes and a minute."""

_REFUSALS = (msgspec.MsgspecError, UnicodeError, RecursionError)


def look(body: bytes, dialect: Dialect) -> Envelope:
    """The envelope of ``body``, one whole message with or without white space around.

    ``BROKEN`` also for an object of more than ``SCAN_LIMIT`` bytes that only the
    scan could read: its ends may still tell what it is.
    """
    start = scanning.first_byte(body)
    mark = body[start : start + 1]
    if mark == b"{":
        return _look_at_object(body[start:] if start else body, dialect)
    if mark == b"[":
        return _look_at_array(body, dialect)
    return BROKEN


def raw_members(body: bytes, names: Path) -> tuple[Mapping[str, bytes], bool] | None:
    """The members ``names`` of an object as raw bytes, as far as it has them.

    Of a repeated key the last counts.  The flag says whether it took the
    shallow scan to read them.  None if there is no object to be made out.
    """
    try:
        values = _members_decoder(names)(body)
    except _REFUSALS:
        found = scanning.members(body) if len(body) <= SCAN_LIMIT else None
        if found is None:
            return None
        return {m.key: body[m.start : m.stop] for m in found if m.key in names}, True
    raws = zip(names, values, strict=True)
    return {name: bytes(raw) for name, raw in raws if raw is not UNSET}, False


def value_at(body: bytes, path: Path) -> bytes | None:
    """The raw value at ``path`` in ``body``, or None if any part of the way is missing."""
    for name in path:
        looked = raw_members(body, (name,))
        if looked is None or name not in looked[0]:
            return None
        body = looked[0][name]
    return body


def _tuple_decoder(fields: list[str], **options: Any) -> Callable[[bytes], tuple[Any, ...]]:
    """What decodes into ``fields``, raw bytes or UNSET, and reads nothing else.

    A dictionary would have an entry for every member that somebody sends.
    """
    kind = msgspec.defstruct(
        "Raws", [(field, Raw | UnsetType, UNSET) for field in fields], gc=False, **options
    )
    decode = msgspec.json.Decoder(kind).decode
    return lambda body: msgspec.structs.astuple(decode(body))


@lru_cache(maxsize=256)
def _members_decoder(names: Path) -> Callable[[bytes], tuple[Any, ...]]:
    fields = [f"m{n}" for n in range(len(names))]
    return _tuple_decoder(fields, rename=dict(zip(fields, names, strict=True)))


@lru_cache(maxsize=1)
def _elements_decoder() -> Callable[[bytes], tuple[Any, ...]]:
    fields = [f"e{n}" for n in range(LARGEST_BATCH)]
    return _tuple_decoder(fields, array_like=True, forbid_unknown_fields=True)


@lru_cache(maxsize=16)
def _names(dialect: Dialect) -> Path:
    """The top-level members that are looked at."""
    fixed = (dialect.cancel_id, dialect.progress_token, dialect.subscription_id)
    tops = (path[0] for path in (*fixed, *dialect.request_tokens) if path)
    return tuple(dict.fromkeys(("method", "id", "result", "error", *tops)))


def _look_at_object(body: bytes, dialect: Dialect) -> Envelope:
    looked = raw_members(body, _names(dialect))
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
    looked = None if result is None else raw_members(result, ("resultType", "task"))
    if looked is None:
        return False
    members = looked[0]
    if read_string(members.get("resultType", b"null")) == "task":
        return True
    task = _value_in(members, ("task", "taskId"))
    return task is not None and task[:1] == b'"'


def task_id(body: bytes) -> str:
    """The id of the task that a response creates; "" where it can't be told."""
    for path in _TASK_IDS:
        raw = value_at(body, path)
        if raw is not None and raw[:1] == b'"':
            return read_string(raw) or ""
    return ""


def _value_in(members: Mapping[str, bytes], path: Path) -> bytes | None:
    top = members.get(path[0])
    return None if top is None else value_at(top, path[1:])


def _key_at(members: Mapping[str, bytes], path: Path) -> Key | None:
    raw = _value_in(members, path)
    return None if raw is None else read_key(raw)


def _look_at_array(body: bytes, dialect: Dialect) -> Envelope:
    spans = _element_spans(body)
    if spans is None:
        return BROKEN if len(body) <= SCAN_LIMIT else UNDERSTANDABLE
    if len(spans) > LARGEST_BATCH:
        return UNDERSTANDABLE
    objects = sum(body[start : start + 1] == b"{" for start, _ in spans)
    if objects < len(spans) or not spans:
        return UNDERSTANDABLE if objects else BROKEN
    found = tuple(_look_at_object(body[start:stop], dialect) for start, stop in spans)
    return Batch(tuple(spans), found)


def _element_spans(body: bytes) -> list[tuple[int, int]] | None:
    try:
        decoded = _elements_decoder()(body)
    except _REFUSALS:
        return scanning.elements(body, LARGEST_BATCH) if len(body) <= SCAN_LIMIT else None
    spans: list[tuple[int, int]] = []
    at = 0
    for raw in decoded:
        if raw is UNSET:
            break
        # Between two elements stand only white space and a comma, with which
        # no element begins: the first occurrence is the element itself.
        value = bytes(raw)
        at = body.index(value, at)
        spans.append((at, at + len(value)))
        at += len(value)
    return spans
