"""A queue of bytes in which something waits, and what that is."""

from __future__ import annotations

from nevermind.outbox import Outbox, Waiting


def filled(*parts: bytes, limit: int = 1000) -> Outbox:
    """A queue in which these parts wait."""
    outbox = Outbox(limit)
    for part in parts:
        outbox.append(part)
    return outbox


def content(outbox: Outbox) -> bytes:
    """All that waits."""
    return b"".join(outbox.buffers(1 << 30))


def waiting(outbox: Outbox) -> list[Waiting]:
    """What may still be replaced."""
    found = (outbox.part(number) for number in range(outbox.first - 1, outbox.end + 1))
    return [part for part in found if part is not None]
