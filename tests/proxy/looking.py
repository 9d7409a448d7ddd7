"""What MCP makes of a message."""

from __future__ import annotations

from nevermind.dialects import MCP
from nevermind.envelopes import Envelope, look


def mcp(body: bytes) -> Envelope:
    """The envelope of ``body`` in MCP."""
    return look(body, MCP)
