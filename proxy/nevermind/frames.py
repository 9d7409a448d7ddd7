"""One message with the bytes that delimit it.  Knows nothing of what it says."""

from __future__ import annotations

from typing import NamedTuple


class Frame(NamedTuple):
    """Bounds in a buffer: of the whole frame, and of the message inside it.

    Before the message stands its header, if any, and behind it the line end.
    An empty message means: bytes that pass as they are, unjudged.
    """

    start: int
    stop: int
    body_start: int
    body_stop: int
