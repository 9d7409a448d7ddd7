"""A message too long to be held: let through as it comes, its ends looked at.

Only the first and the last few kilobytes are read, enough to find an id at
either end (Python peers write it first, TypeScript peers last).  It is dropped
only if its head proves that it is late; it is never truncated.
"""

from __future__ import annotations

import re

from nevermind import scanning, spans
from nevermind.dialects import Dialect
from nevermind.envelopes import BROKEN, UNDERSTANDABLE, Envelope, Request, Response
from nevermind.ids import Key, read_key, read_string
from nevermind.judge import Judge
from nevermind.peers import Peer
from nevermind.spans import Span

END = 4096
"""Bytes of each end that are looked at."""

_LAST_MEMBERS = re.compile(
    rb'(?:,\s*"(?:id|jsonrpc|method)"\s*:\s*(?:"[^"\\]*"|-?[0-9.eE+-]+)\s*)+\}\s*$'
)


class Overlong:
    """One message on its way through, from its first bytes to its line end."""

    __slots__ = ("_dropping", "_judge", "_kind", "_sender", "_size", "_tail", "_verdict", "envelope")

    def __init__(self, judge: Judge, sender: Peer) -> None:
        self._judge = judge
        self._sender = sender
        self._tail = b""
        self._size = 0
        self._dropping = False
        self._kind = ""
        self._verdict = None
        self.envelope: Envelope | None = None

    def begin(self, data: bytes, now: float) -> bytes:
        """What to send on of the first ``data``."""
        head = _Head(data[:END], self._judge.dialect)
        self._kind = head.kind
        self.envelope = head.envelope
        edits: list[tuple[Span, bytes]] = []
        if self.envelope is not None:
            verdict = self._judge.rule(self._sender, self.envelope, data[:END], now)
            late = verdict.held is not None and b"task" not in data[:END]
            if late and not head.repeats:
                self._dropping = True
                self._verdict = verdict
            elif verdict.edits:
                edits = [(span, new) for path, new in verdict.edits for span in head.find(path)]
        return self.feed(spans.put(data, edits))

    def feed(self, data: bytes) -> bytes:
        """What to send on once ``data`` has come too; the last kilobytes are held."""
        self._size += len(data)
        if self._dropping:
            return b""
        held = self._tail + data
        cut = max(0, len(held) - END)
        self._tail = held[cut:]
        return held[:cut]

    def finish(self, data: bytes, now: float) -> bytes:
        """What to send on at the end, ``data`` being the last of it, line end included."""
        out = self.feed(data)
        judge = self._judge
        if self._dropping:
            assert self.envelope is not None and self._verdict is not None
            judge.drop(self._sender, self.envelope, self._verdict, b"", now)
            return b""
        judge.forwarded += 1
        if self.envelope is not None:
            return out + self._tail
        return out + self._finish_by_tail(now)

    def _finish_by_tail(self, now: float) -> bytes:
        tail = self._tail
        found = _last_members(tail)
        span = found.get("id")
        key = None if span is None else read_key(tail[span[0] : span[1]])
        method = found.get("method")
        name = read_string(tail[method[0] : method[1]]) if method else None
        envelope: Envelope
        if self._kind in ("result", "error") and key is not None and name is None:
            envelope = Response(key, is_error=self._kind == "error", scanned=True)
        elif self._kind.startswith("method:") and key is not None:
            envelope = Request(key, self._kind[7:])
        elif self._kind == "object" and key is not None and name is not None:
            envelope = Request(key, name)
        else:
            envelope = BROKEN if self._kind == "" else UNDERSTANDABLE
        verdict = self._judge.rule(self._sender, envelope, tail, now)
        changes = [(span, new) for path, new in verdict.edits if path == ("id",) and span]
        return spans.put(tail, changes)


class _Head:
    """What the first bytes of an object show."""

    def __init__(self, head: bytes, dialect: Dialect) -> None:
        self._head = head
        self.kind = ""
        self.envelope: Envelope | None = None
        self.repeats = False
        at = scanning.first_byte(head)
        if head[at : at + 1] == b"[":
            self.kind = "array"
        if head[at : at + 1] != b"{":
            return
        self.kind = "object"
        self._members = scanning.leading_members(head)
        names = [m.key for m in self._members]
        self.repeats = len(set(names)) < len(names)
        values = {m.key: head[m.start : m.stop if m.stop >= 0 else None] for m in self._members}
        key = self._key_of("id")
        if "method" in values:
            name = read_string(values["method"])
            self.kind = f"method:{name}" if name is not None else "array"
            if key is not None and name is not None:
                carried = (self._token(path) for path in dialect.request_tokens)
                self.envelope = Request(key, name, tuple(t for t in carried if t is not None))
        elif "result" in values or "error" in values:
            self.kind = "error" if "error" in values else "result"
            if key is not None:
                self.envelope = Response(key, is_error=self.kind == "error", scanned=True)

    def find(self, path: tuple[str, ...]) -> list[Span]:
        """Where the value at ``path`` stands, if it is whole in the head."""
        members = self._members
        head = self._head
        offset = 0
        for depth, name in enumerate(path):
            match = [m for m in members if m.key == name]
            if not match:
                return []
            member = match[-1]
            if depth == len(path) - 1:
                whole = member.stop >= 0
                return [(member.start + offset, member.stop + offset)] if whole else []
            offset += member.start
            head = head[member.start : member.stop if member.stop >= 0 else None]
            members = scanning.leading_members(head)
        return []

    def _key_of(self, name: str) -> Key | None:
        return self._token((name,))

    def _token(self, path: tuple[str, ...]) -> Key | None:
        found = self.find(path)
        return read_key(self._head[found[0][0] : found[0][1]]) if found else None


def _last_members(tail: bytes) -> dict[str, Span]:
    """The plain members that close an object, as SDKs write them last."""
    match = _LAST_MEMBERS.search(tail)
    if match is None:
        return {}
    found: dict[str, Span] = {}
    at = match.start()
    inner = b"{" + tail[at + 1 : match.end()].rstrip()
    for member in scanning.members(inner) or ():
        if member.key is not None:
            found[member.key] = (member.start + at, member.stop + at)
    return found
