"""Whole messages, as a WebSocket carries them, and the same as lines or with headers.

One JSON-RPC message is one WebSocket message is one line.  Knows nothing of
queues, sockets or verdicts.
"""

from __future__ import annotations

from typing import NamedTuple

_LINE_ENDS_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")


class Message(NamedTuple):
    """One message without delimiters; ``text`` says that it travels as a text message.

    The body of a text message is valid UTF-8 (RFC 6455, section 8.1).
    """

    body: bytes
    text: bool


def from_body(body: bytes) -> Message:
    """``body``, which came from a byte stream: text if it can be, else binary."""
    if not body.isascii():
        try:
            body.decode()
        except UnicodeDecodeError:
            return Message(body, text=False)
    return Message(body, text=True)


def from_line(line: bytes) -> Message | None:
    """The message that ``line``, without its 0x0A, holds; None for a blank one."""
    if line.endswith(b"\r"):
        line = line[:-1]
    return None if not line or line.isspace() else from_body(line)


def as_line(body: bytes) -> bytes:
    """``body`` as one line.

    Raw CR and LF can only stand between the tokens of a JSON text, never inside
    a string (RFC 8259, sections 2 and 7), so spaces there mean the same.
    """
    if b"\n" in body or b"\r" in body:
        body = body.translate(_LINE_ENDS_TO_SPACES)
    return body + b"\n"


def as_framed(body: bytes) -> bytes:
    """``body`` with a header, as LSP's base protocol wants it."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body
