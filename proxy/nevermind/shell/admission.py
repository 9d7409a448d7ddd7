"""Who may open a WebSocket here: the rules, on the head of one request.

Sans-I/O.  A request that passes is one that the WebSocket library can only accept; what it
would choke on is refused here.  Nothing that a request says ever stands in a reason, for it
may be a secret.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import h11

LONGEST_HEAD = 16 * 1024
"""Bytes of the longest request head: proxies and browsers stop at 8 to 16 KiB."""

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BEARER = re.compile(rb"[Bb]earer +(\S+)")


class Refusal(NamedTuple):
    """A response that ends the connection: its status, a word why, and header fields."""

    status: int
    why: str
    fields: tuple[tuple[str, str], ...] = ()


class Request(NamedTuple):
    """The head of one request.  Field names are in lower case, in the order they came."""

    method: str
    target: str
    version: str
    fields: tuple[tuple[bytes, bytes], ...]

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def all(self, name: bytes) -> list[bytes]:
        """The values of all fields of that name."""
        return [value for field_name, value in self.fields if field_name == name]

    def members(self, name: bytes) -> list[bytes]:
        """The members of a field that is a comma-separated list."""
        parts = b",".join(self.all(name)).split(b",")
        return [part.strip() for part in parts if part.strip()]

    @property
    def subprotocols(self) -> list[str]:
        """What a WebSocket client offers; they may carry tokens."""
        return [member.decode("ascii") for member in self.members(b"sec-websocket-protocol")]

    def handshake(self) -> bytes:
        """The request anew, for the WebSocket library: all that was examined, nothing else.

        Lists, repeats and odd bytes are read in different ways by different parsers.
        """
        fields = [
            (b"Host", b"localhost"),
            (b"Upgrade", b"websocket"),
            (b"Connection", b"Upgrade"),
            (b"Sec-WebSocket-Key", self.all(b"sec-websocket-key")[0]),
            (b"Sec-WebSocket-Version", b"13"),
        ]
        if offered := self.members(b"sec-websocket-protocol"):
            fields.append((b"Sec-WebSocket-Protocol", b", ".join(offered)))
        lines = [b"%b: %b\r\n" % field for field in fields]
        return b"GET %b HTTP/1.1\r\n%b\r\n" % (self.target.encode("ascii"), b"".join(lines))


class Head:
    """Collects the bytes of one request's head."""

    def __init__(self) -> None:
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
        self._size = 0

    def feed(self, data: bytes) -> tuple[Request, bytes] | Refusal | None:
        """The request and what came behind its head; None: more is needed."""
        self._size += len(data)
        self._connection.receive_data(data)
        try:
            event = self._connection.next_event()
        except h11.RemoteProtocolError as error:
            return Refusal(error.error_status_hint, "bad request")
        if not isinstance(event, h11.Request):
            return None
        rest = self._connection.trailing_data[0]
        if self._size - len(rest) > LONGEST_HEAD:
            return Refusal(431, "too long")
        request = Request(
            event.method.decode("ascii"),
            event.target.decode("ascii"),
            event.http_version.decode("ascii"),
            tuple(event.headers),
        )
        return request, rest


@dataclass(frozen=True, slots=True)
class Door:
    """Who is let in.

    ``path`` is the only one; ``origins`` are those that browsers may come from, spelled as
    they send them; ``token`` is the bearer token that everybody must show, None for none.
    """

    path: str
    origins: frozenset[str] = frozenset()
    token: bytes | None = field(default=None, repr=False)

    def examine(self, request: Request) -> Refusal | None:
        """None if ``request`` may become a WebSocket."""
        origins = request.all(b"origin")
        # only browsers send one: any page could otherwise reach a server on this machine
        if origins and not (len(origins) == 1 and _text(origins[0]) in self.origins):
            return Refusal(403, "this origin is not allowed")
        if request.path != self.path:
            return Refusal(404, "nothing here")
        if self.token is not None and not self._knows(request):
            return Refusal(401, "a bearer token is needed", (("WWW-Authenticate", "Bearer"),))
        if request.method != "GET":
            return Refusal(405, "only GET", (("Allow", "GET"),))
        return _examine_upgrade(request)

    def _knows(self, request: Request) -> bool:
        """In constant time, whatever is shown: both are hashed first, so that lengths agree."""
        assert self.token is not None
        shown = request.all(b"authorization")
        match = _BEARER.fullmatch(shown[0]) if len(shown) == 1 else None
        given = hashlib.sha256(match[1] if match else b"").digest()
        return hmac.compare_digest(given, hashlib.sha256(self.token).digest())


def _examine_upgrade(request: Request) -> Refusal | None:
    """Whether it is an opening handshake (RFC 6455, section 4.2.1)."""
    connection = [member.lower() for member in request.members(b"connection")]
    upgrade = [member.lower() for member in request.members(b"upgrade")]
    if b"upgrade" not in connection or upgrade != [b"websocket"]:
        fields = (("Upgrade", "websocket"), ("Connection", "Upgrade"))
        return Refusal(426, "only WebSockets here", fields)
    if request.all(b"sec-websocket-version") != [b"13"]:
        return Refusal(426, "version 13 only", (("Sec-WebSocket-Version", "13"),))
    keys = request.all(b"sec-websocket-key")
    if len(keys) != 1 or not _is_key(keys[0]):
        return Refusal(400, "no valid key")
    if request.version != "1.1" or not _is_host(request.all(b"host")):
        return Refusal(400, "bad request")
    if request.all(b"content-length") + request.all(b"transfer-encoding"):
        return Refusal(400, "no body here")
    offered = request.members(b"sec-websocket-protocol")
    if not all(map(_TOKEN.fullmatch, offered)) or len(set(offered)) < len(offered):
        return Refusal(400, "no valid subprotocols")
    return None


def _is_key(key: bytes) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == 16
    except binascii.Error:
        return False


def _is_host(hosts: list[bytes]) -> bool:
    try:
        return len(hosts) == 1 and bool(hosts[0].decode("idna"))
    except UnicodeError:
        return False


def _text(value: bytes) -> str:
    return value.decode("latin-1")
