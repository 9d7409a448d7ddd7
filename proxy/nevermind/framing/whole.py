"""No framing at all: every message came by itself, as over WebSocket.

Knows nothing of what stands in a message.
"""

from __future__ import annotations

from nevermind.frames import Frame


class Whole:
    """Each buffer is one frame."""

    def next(self, data: bytes, at: int) -> Frame | None:
        """The frame that begins at ``at``: all the rest."""
        return Frame(at, len(data), at, len(data))
