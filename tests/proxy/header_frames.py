"""Messages with a ``Content-Length`` header, and dialects in which each has one."""

from __future__ import annotations

from msgspec.structs import replace

from nevermind.dialects import MCP
from proxy.messages import OWED

FRAMED = replace(OWED, header_framed=True)
"""As LSP: a cancelled request is owed its answer."""

MCP_FRAMED = replace(MCP, header_framed=True)
"""Cancelled stays unanswered, and ids may be translated."""

HEADER = b"Content-Length: <n>\r\n\r\n"


def frame(body: bytes, header: bytes = HEADER) -> bytes:
    """``body`` behind ``header``, in which ``<n>`` is its length."""
    return header.replace(b"<n>", b"%d" % len(body)) + body


def framed(*messages: bytes, header: bytes = HEADER) -> bytes:
    """These messages, each in a frame."""
    return b"".join(frame(message, header) for message in messages)
