"""Every dialect that a session can speak: the shipped ones, and one of a user's own."""

from __future__ import annotations

from nevermind.dialects import MCP, Dialect
from nevermind_config.dialects import dialect

LSP, BSP, ACP, JSONRPC = (dialect(name, {}) for name in ("lsp", "bsp", "acp", "jsonrpc"))

CUSTOM = Dialect(
    name="custom",
    cancel_method="job/stop",
    cancel_id=("params", "job", "ref.id"),
    progress_method="job/step",
    progress_token=("params", "job", "mark"),
    request_tokens=(("params", "job", "mark"), ("params", "also")),
    uncancellable=frozenset({"initialize"}),
    creates_tasks=True,
    header_framed=True,
    cancelled_code=-7,
)
"""Cancelled stays unanswered, so that ids are translated, behind headers that say how long."""

EVERY: tuple[Dialect, ...] = (MCP, LSP, BSP, ACP, JSONRPC, CUSTOM)
