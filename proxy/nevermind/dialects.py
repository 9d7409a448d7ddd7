"""The protocols in which people cancel, as data: names and paths, no rules.

A path is a tuple of member names from the top of a message.  The table of
states lives in ``lifecycle``; what a dialect changes there is only whether a
cancelled request is still owed an answer.
"""

from __future__ import annotations

import msgspec

Path = tuple[str, ...]


class Dialect(msgspec.Struct, frozen=True):
    """One JSON-RPC protocol, as far as cancelling goes.

    ``request_tokens`` are the paths at which a request may carry a progress
    token.  ``header_framed`` says that messages come with a Content-Length
    header; otherwise they are lines.
    """

    name: str
    cancel_method: str | None = None
    cancel_id: Path = ()
    progress_method: str | None = None
    progress_token: Path = ()
    request_tokens: tuple[Path, ...] = ()
    uncancellable: frozenset[str] = frozenset()
    subscriptions: frozenset[str] = frozenset()
    subscription_id: Path = ()
    creates_tasks: bool = False
    answer_owed: bool = False
    header_framed: bool = False
    cancelled_code: int = -32800


MCP = Dialect(
    name="mcp",
    cancel_method="notifications/cancelled",
    cancel_id=("params", "requestId"),
    progress_method="notifications/progress",
    progress_token=("params", "progressToken"),
    request_tokens=(("params", "_meta", "progressToken"),),
    uncancellable=frozenset({"initialize"}),
    subscriptions=frozenset({"subscriptions/listen"}),
    subscription_id=("params", "_meta", "io.modelcontextprotocol/subscriptionId"),
    creates_tasks=True,
)
