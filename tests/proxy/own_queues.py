"""What is asked of a queue that messages of our own are in."""

from __future__ import annotations

from nevermind.mailbox import Mailbox, Queue
from nevermind.outbox import Bytes, Outbox, Spoken

LIMIT = 1000


def sent(queue: Outbox, count: int = 1 << 30) -> bytes:
    """Take what goes out next, at most ``count`` bytes."""
    data = b"".join(queue.buffers(1 << 30))[:count]
    queue.wrote(len(data))
    return data


def full(box: Outbox | Mailbox) -> bool:
    """Whether the other peer should not be read; asked anew each time."""
    return box.full


def flooded(box: Outbox | Mailbox) -> bool:
    """Whether this peer should not be read."""
    return box.flooded


def waits(spoken: Spoken) -> bool:
    """Whether nothing of it has gone out."""
    return spoken.waiting


def waiting(box: Queue) -> list[Bytes]:
    """What may still be withdrawn."""
    found = (box.part(number) for number in range(box.first, box.end))
    return [one.part for one in found if one is not None]
