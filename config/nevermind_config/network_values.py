"""The kinds of value that have to do with connections.

No complaint repeats what may be a secret.  Like ``values``, it imports nothing that takes
time before it is needed.
"""

from __future__ import annotations

from nevermind_config.values import Kind, Value

_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""What names in HTTP are made of (RFC 9110, section 5.6.2)."""

_OURS = ("host", "connection", "upgrade", "content-length", "transfer-encoding", "origin")
"""Header fields that the opening handshake sets itself, or must not have."""

_FORMS = {
    "ws": "ws://HOST:PORT/PATH",
    "wss": "wss://HOST:PORT/PATH",
    "tcp": "tcp://HOST:PORT",
    "unix": "unix:PATH",
}


class Address(Kind):
    """Where to listen or to connect.  ``schemes`` are those that are allowed."""

    metavar = "ADDRESS"
    discreet = True

    def __init__(self, *schemes: str, listening: bool) -> None:
        self._listening = listening
        self._heads = tuple("unix:" if scheme == "unix" else f"{scheme}://" for scheme in schemes)
        *most, last = (_FORMS[scheme] for scheme in schemes)
        self.allowed = f"an address such as {', '.join(most)}{' or ' if most else ''}{last}"

    def read(self, text: str) -> str:
        from nevermind.endpoints import parse_endpoint

        if not text.startswith(self._heads):
            raise ValueError(f"{_without_secrets(text)!r} is not {self.allowed}")
        try:
            parse_endpoint(text, listening=self._listening)
        except ValueError as error:
            raise ValueError(f"{_without_secrets(text)!r}: {error}") from None
        return text

    def hides(self, value: Value) -> bool:
        return "?" in str(value)

    def show(self, value: object) -> str:
        from nevermind.endpoints import parse_endpoint

        if value is None:
            return ""
        return str(parse_endpoint(str(value), listening=self._listening))


class Header(Kind):
    """A header field, ``Name:value``; ``${ENV}`` in the value stands for a variable."""

    metavar = "NAME:VALUE"
    discreet = True
    allowed = "a header field such as Name:value or Name:${ENV}"

    def read(self, text: str) -> str:
        name, colon, value = text.partition(":")
        if not colon or not name or not _TOKEN.issuperset(name):
            raise ValueError("not a header field such as Name:value or Name:${ENV}")
        if name.lower() in _OURS or name.lower().startswith("sec-websocket-"):
            raise ValueError(f"{name} is the handshake's own")
        if not value.isascii() or not value.isprintable():
            raise ValueError(f"the value of {name} holds characters that a header cannot")
        return text

    def hides(self, value: Value) -> bool:  # noqa: ARG002
        return True

    def show(self, value: object) -> str:
        return f"{str(value).partition(':')[0]}:…"


class Variable(Kind):
    """The name of an environment variable."""

    metavar = "NAME"
    discreet = True
    allowed = "the name of an environment variable"

    def read(self, text: str) -> str:
        if not text.replace("_", "a").isalnum() or not text.isascii() or text[0].isdigit():
            # whoever writes the secret itself here should not see it in a log
            raise ValueError("not the name of an environment variable")
        return text


class Origin(Kind):
    """Where a browser's page comes from, ``https://HOST[:PORT]``, as it says it itself."""

    metavar = "ORIGIN"
    allowed = "an origin such as https://example.com"

    def read(self, text: str) -> str:
        scheme, slashes, host = text.partition("://")
        plain = text.isascii() and text.isprintable() and " " not in text and text == text.lower()
        if text != "null" and not (plain and scheme and slashes and host and "/" not in host):
            raise ValueError(
                f"{text!r} is not an origin such as https://example.com (no path, lower case)"
            )
        return text


class Subprotocol(Kind):
    """The name of a WebSocket subprotocol."""

    metavar = "NAME"
    allowed = "the name of a subprotocol"

    def read(self, text: str) -> str:
        if not text or not _TOKEN.issuperset(text):
            raise ValueError("not the name of a subprotocol")
        return text


class UrlPath(Kind):
    """A path of an HTTP request."""

    metavar = "PATH"
    allowed = "a path such as /healthz"

    def read(self, text: str) -> str:
        plain = text.isascii() and text.isprintable() and not set(text) & set(" ?#")
        if not text.startswith("/") or not plain:
            raise ValueError(f"{text!r} is not a path such as /healthz")
        return text


def _without_secrets(address: str) -> str:
    """``address``, well formed or not, without what may be a password or a token."""
    scheme, slashes, _ = address.partition("://")
    if "@" in address:
        return f"{scheme}://…" if slashes else "…"
    plain, mark, _ = address.partition("?")
    return f"{plain}?…" if mark else plain
