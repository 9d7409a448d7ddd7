"""The messages that conversations are made of, and how they stand on the wire.

Knows JSON-RPC and MCP's method names, nothing of processes.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

Id: TypeAlias = int | str | None
Message: TypeAlias = dict[str, Any]
Wire: TypeAlias = Message | list[Any] | str | bytes
"""A message as a test writes it: a value, its line without the newline, or exact bytes."""


def encode(message: Wire) -> bytes:
    """The bytes that go over the pipe; only ``bytes`` are taken without adding a newline."""
    match message:
        case bytes():
            return message
        case str():
            return message.encode("utf-8", "surrogatepass") + b"\n"
        case _:
            return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def request(
    id_: Id, method: str = "tools/call", *, token: int | str | None = None, **params: Any
) -> Message:
    """A request; a ``token`` asks for progress under that name."""
    if method == "tools/call":
        params = {"name": "slow", "arguments": {}, **params}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def cancel(id_: Id, reason: str | None = None) -> Message:
    """The notification that gives up the request ``id_``."""
    params: dict[str, Any] = {"requestId": id_}
    if reason is not None:
        params["reason"] = reason
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def result(id_: Id, text: str = "done") -> Message:
    """A tool's answer."""
    return {"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": text}]}}


def error(id_: Id, code: int = 0, message: str = "Request cancelled") -> Message:
    """An error; the default is how python-sdk 1.x answers a cancelled call."""
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def progress(token: int | str, done: int = 1) -> Message:
    """Progress towards the answer of the request that carried ``token``."""
    params = {"progressToken": token, "progress": done, "total": 10}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def log_message(text: str = "fence") -> Message:
    """A notification of the server that no rule applies to."""
    params = {"level": "info", "data": text}
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}


ROOTS_CHANGED: Message = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
"""A notification of the client that no rule applies to."""

INITIALIZE: Message = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "host", "version": "1"},
    },
}
INITIALIZE_RESULT: Message = {
    "jsonrpc": "2.0",
    "id": 0,
    "result": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "serverInfo": {"name": "server", "version": "1"},
    },
}
INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
