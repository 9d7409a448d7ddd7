"""A session that is fed in any chunks, and looks at blocks of lines or at each by itself."""

from __future__ import annotations

import pytest

from nevermind.policy import Policy
from proxy.messages import call, cancel
from proxy.wire import Wire

BOTH_WAYS = pytest.mark.parametrize("quick", [True, False], ids=("blocks", "line by line"))
ANY_CHUNKS = pytest.mark.parametrize("chunk", [1, 7, 4096])


def cancelled(policy: Policy | None = None, *, chunk: int = 4096, quick: bool = True) -> Wire:
    """Request 7 has been cancelled, request 8 is in flight."""
    wire = Wire(policy or Policy(), chunk=chunk, quick=quick)
    wire.client(call(7), cancel(7), call(8))
    wire.session.take_notes()
    return wire
