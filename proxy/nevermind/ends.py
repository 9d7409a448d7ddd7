"""The two ends of a long message: what its first and last bytes show of it.

Python peers write the id first, TypeScript peers last; either way it stands in
one of the ends.  Knows positions and members, nothing of what they mean for a
verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from nevermind import scanning
from nevermind.dialects import Path
from nevermind.ids import Key, read_key, read_string
from nevermind.scanning import Member
from nevermind.spans import Span

END = 4096
"""Bytes of each end that are looked at."""

TOKEN: Path = ("params", "_meta", "progressToken")
"""Where a token can be told from the tail alone: MCP's, if it comes last."""

_PLAIN = rb'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?[0-9][0-9.eE+-]*+)'
_MEMBER = rb',\s*+"(?:id|jsonrpc|method)"\s*+:\s*+' + _PLAIN + rb"\s*+"
_LAST_MEMBERS = re.compile(_MEMBER + rb"(?:" + _MEMBER + rb")*+\}\s*+$")
"""Begins with a plain comma: the search for anything else takes ten times as long."""
_LAST_TOKEN = re.compile(
    rb'"_meta"\s*+:\s*+\{\s*+"progressToken"\s*+:\s*+(' + _PLAIN + rb")\s*+\}\s*+\}\s*+\}\s*+$"
)
_CLOSES_A_MEMBER = re.compile(rb"[}\]]\s*+\}\s*+$")


class Head:
    """What the first bytes of a message show.

    ``kind`` is "request", "result", "error", "object" (no telling yet),
    "array" or "" (nothing that can be read).  ``id`` is the id, if it is whole
    and trackable.  ``cut`` is the key of the member that is still arriving.
    """

    def __init__(self, head: bytes) -> None:
        self._head = head
        self._members: list[Member] = []
        self._values: dict[str | None, Member] = {}
        self.kind = ""
        self.method: str | None = None
        self.id: Key | None = None
        self.cut: str | None = None
        at = scanning.first_byte(head)
        mark = head[at : at + 1]
        if mark == b"[":
            self.kind = "array"
        elif mark == b"{":
            self._members = scanning.leading_members(head)
            self._classify()

    @property
    def repeats(self) -> bool:
        """Whether a key stands twice already."""
        return len(self._values) < len(self._members)

    def key(self, path: Path) -> Key | None:
        """The id or token at ``path``, if it is whole and trackable."""
        span = self.find(path)
        return None if span is None else read_key(self._head[span[0] : span[1]])

    def has(self, name: str) -> bool:
        """Whether a top-level member ``name`` is whole in the head."""
        member = self._values.get(name)
        return member is not None and member.stop >= 0

    def find(self, path: Path) -> Span | None:
        """Where the value at ``path`` stands, if it is whole in the head."""
        values, head, offset = self._values, self._head, 0
        for name in path[:-1]:
            member = values.get(name)
            if member is None:
                return None
            offset += member.start
            head = head[member.start : member.stop if member.stop >= 0 else None]
            values = {member.key: member for member in scanning.leading_members(head)}
        member = values.get(path[-1])
        if member is None or member.stop < 0:
            return None
        return member.start + offset, member.stop + offset

    def excerpt(self, paths: Iterable[Path]) -> bytes:
        """A small message with the same values at ``paths``, as far as they are in the head."""
        found = ((path, self.find(path)) for path in paths)
        return _excerpt((path, self._head[span[0] : span[1]]) for path, span in found if span)

    def shows(self, word: bytes) -> bool:
        """Whether ``word`` stands in the head, wherever."""
        return word in self._head

    def _classify(self) -> None:
        self._values = values = {member.key: member for member in self._members}
        last = self._members[-1] if self._members else None
        self.cut = last.key if last is not None and last.stop < 0 else None
        self.id = self.key(("id",))
        method = values.get("method")
        if method is not None and method.stop >= 0:
            self.method = read_string(self._head[method.start : method.stop])
            self.kind = "object" if self.method is None else "request"
        elif "error" in values:
            self.kind = "error"
        elif "result" in values:
            self.kind = "result"
        else:
            self.kind = "object"


class Tail:
    """What the last bytes of a message show: the plain members that close it.

    In JSON, a comma with a whole key and a colon behind it stands in no string: there the
    quotes would have backslashes.  So what is read from there on as members are some, and
    of the top object if its brace alone follows.
    """

    def __init__(self, tail: bytes) -> None:
        self._tail = tail
        self._members: dict[str | None, Span] = {}
        match = _LAST_MEMBERS.search(tail)
        self._before = tail
        if match is not None:
            at = match.start()
            self._before = tail[:at] + b"}"
            inner = b"{" + tail[at + 1 :]
            for member in scanning.members(inner) or ():
                self._members[member.key] = (member.start + at, member.stop + at)

    @property
    def id_span(self) -> Span | None:
        """Where the id stands."""
        return self._members.get("id")

    @property
    def key(self) -> Key | None:
        """The id, if it is here and trackable."""
        span = self.id_span
        return None if span is None else read_key(self._tail[span[0] : span[1]])

    @property
    def method(self) -> str | None:
        """The method, if it is here."""
        span = self._members.get("method")
        return None if span is None else read_string(self._tail[span[0] : span[1]])

    @property
    def token_span(self) -> Span | None:
        """The progress token, if ``_meta`` closes the params and they all but close the message."""
        match = _LAST_TOKEN.search(self._before)
        return None if match is None else match.span(1)

    @property
    def token(self) -> Key | None:
        """The progress token, if it is here and trackable."""
        span = self.token_span
        return None if span is None else read_key(self._tail[span[0] : span[1]])

    def excerpt(self) -> bytes:
        """A small message with the same id and token, as far as they are in the tail."""
        found = ((("id",), self.id_span), (TOKEN, self.token_span))
        return _excerpt((path, self._tail[span[0] : span[1]]) for path, span in found if span)

    @property
    def closes(self) -> bool:
        """Whether it ends as an object does."""
        return self._tail.rstrip().endswith(b"}")

    @property
    def closes_a_member(self) -> bool:
        """Whether an object or array is the last member: no plain one follows it."""
        return not self._members and _CLOSES_A_MEMBER.search(self._tail) is not None


def _excerpt(values: Iterable[tuple[Path, bytes]]) -> bytes:
    members: list[bytes] = []
    for path, value in values:
        for name in reversed(path):
            value = b"{%b:%b}" % (json.dumps(name).encode("ascii"), value)
        members.append(value[1:-1])
    return b"{%b}" % b",".join(members)
