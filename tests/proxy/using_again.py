"""An id used again after its cancel, as the tests of fresh ids begin."""

from __future__ import annotations

import json

from proxy.messages import Spelling, call, cancel
from proxy.playbook import End, Script


def again(asker: End, id: Spelling, token: Spelling | None = None) -> list[Script]:
    """The id is used, cancelled and used again: the new use goes out under a fresh id."""
    fresh = call(b"<n>", b"<t>" if token is not None else None)
    return [
        asker.passes(call(id, token), cancel(id)),
        asker >> call(id, token),
        End(asker.peer.other) << fresh,
    ]


def loads(names: dict[bytes, bytes], name: bytes) -> int | str:
    """What a name turned out to be."""
    value = json.loads(names[name])
    assert isinstance(value, int | str)
    return value
