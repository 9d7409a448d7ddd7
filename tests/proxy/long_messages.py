"""Messages made long, by a member of their params or result."""

from __future__ import annotations

from collections.abc import Callable

from nevermind.policy import Policy
from nevermind.through import CUT_THROUGH
from proxy.messages import Spelling, answer
from proxy.wire import Wire

BULK = b"x" * (3 * CUT_THROUGH)
LONGEST = CUT_THROUGH
"""What may be held, in the sessions in which long messages are too long."""


def long(message: bytes, *, last: bool = False, bulk: bytes = BULK) -> bytes:
    """``message`` made long by a member of its params or result, before or behind the others."""
    for name in (b"params", b"result", b"error"):
        start = b'"%b":{' % name
        if start in message:
            filler = b'"bulk":"%b"' % bulk
            at = message.index(start) + len(start)
            if not last:
                return message[:at] + filler + b"," + message[at:]
            end = message.rindex(b"}}") if message.endswith(b"}}") else message.rindex(b"},")
            return message[:end] + b"," + filler + message[end:]
    raise ValueError(message)


def id_last(message: bytes) -> bytes:
    """The same message, as TypeScript peers write it: the id behind everything else."""
    head, id_member, rest = message.partition(b'"id":')
    value, _, rest = rest.partition(b",")
    return head + rest[:-1] + b"," + id_member + value + b"}"


Shape = Callable[[bytes], bytes]
SHAPES: list[Shape] = [long, lambda message: id_last(long(message))]
"""The id comes first, or last."""


def result(id: Spelling, value: object = "done") -> bytes:
    """An answer whose result is an object."""
    return answer(id, {"value": value})


def overlong(**switches: object) -> Wire:
    """A session in which long messages are too long to be held."""
    return Wire(Policy(max_message=LONGEST, **switches))  # type: ignore[arg-type]
