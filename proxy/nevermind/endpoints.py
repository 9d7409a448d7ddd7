"""Where we listen and what we connect to, as people write it.

``ws://HOST:PORT/PATH``, ``wss://…``, ``tcp://HOST:PORT`` and ``unix:PATH``.  Read
before anything is started; opens nothing and resolves no names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DEFAULT_PORTS = {"ws": 80, "wss": 443}
_FORMS = "ws://HOST:PORT/PATH, wss://HOST:PORT/PATH, tcp://HOST:PORT or unix:PATH"
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s\[\]:@/]+))(?::([0-9]{1,5}))?")
_TARGET = re.compile(r"/[!-\"$-~]*")  # printable ASCII, no fragment

_LONGEST_UNIX = 107
"""Bytes of a socket's path on Linux (unix(7)); elsewhere it is a little less."""


class Endpoint(NamedTuple):
    """One address.

    ``scheme`` is ws, wss, tcp or unix.  ``target`` is the path of a URL with its query,
    or the path of a socket; ``host`` and ``port`` are empty and 0 for a socket.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def messages(self) -> bool:
        """Whether whole messages are spoken here."""
        return self.scheme in ("ws", "wss")

    @property
    def path(self) -> str:
        """``target`` without the query, which may hold a secret."""
        return self.target.partition("?")[0]

    @property
    def authority(self) -> str:
        """``HOST:PORT``, the port left out where it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if _DEFAULT_PORTS.get(self.scheme) == self.port else f"{host}:{self.port}"

    def __str__(self) -> str:
        """The address for people and logs: never with a query."""
        if self.scheme == "unix":
            return f"unix:{self.target}"
        return f"{self.scheme}://{self.authority}{self.path}"


def parse_endpoint(text: str, *, listening: bool) -> Endpoint:
    """The endpoint that ``text`` names; ``listening``: it is ours, so port 0 may be asked for.

    ValueError: one line that says what is wrong and never repeats what may be a secret.
    """
    if text.startswith("unix:"):
        return _unix(text.removeprefix("unix:"))
    scheme, colon, rest = text.partition("://")
    if not colon or scheme not in ("ws", "wss", "tcp"):
        raise ValueError(f"not an address such as {_FORMS}")
    authority, slash, target = rest.partition("/")
    if "?" in authority or "#" in authority:
        raise ValueError("a query or fragment needs a path before it")
    if "@" in authority:
        raise ValueError("no user or password here: see --bearer-env and --header")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise ValueError(f"{authority!r} is not HOST:PORT ([HOST]:PORT for IPv6)")
    host = match[1] or match[2]
    port = _port(scheme, match[3], listening=listening)
    if scheme == "tcp":
        if slash:
            raise ValueError("tcp:// has no path")
        return Endpoint(scheme, host, port, "")
    target = slash + target or "/"
    if _TARGET.fullmatch(target) is None:
        raise ValueError("the path holds white space, a fragment or characters to be %-encoded")
    if listening and "?" in target:
        raise ValueError("a query cannot be listened for")
    return Endpoint(scheme, host, port, target)


def _port(scheme: str, digits: str | None, *, listening: bool) -> int:
    if digits is None:
        if listening or scheme == "tcp":
            raise ValueError("the port is missing" + (" (0: any free one)" if listening else ""))
        return _DEFAULT_PORTS[scheme]
    port = int(digits)
    if port > 65535 or (port == 0 and not listening):
        raise ValueError(f"{port} is not a port")
    return port


def _unix(path: str) -> Endpoint:
    path = path.removeprefix("//")
    if not path or "\0" in path:
        raise ValueError("unix: needs the path of a socket")
    if len(path.encode("utf-8", "surrogateescape")) > _LONGEST_UNIX:
        raise ValueError(f"a socket's path has at most {_LONGEST_UNIX} bytes")
    return Endpoint("unix", "", 0, path)
