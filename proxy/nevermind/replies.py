"""The few messages that the proxy authors itself, as bytes without delimiters.

An error of ours must not pass for the peer's own (MCP 2026-07-28, basic,
"Error codes"): its text names the proxy, and ``error.data`` says so to programs.
Knows nothing of when one is due.
"""

from __future__ import annotations

import json

from nevermind.dialects import Dialect

TIMED_OUT = 408
"""The code of our timeout error.  What JSON-RPC reserves (-32768 to -32000) is
not ours to use, and MCP's SDKs for Python say 408 when they time out themselves."""

NAME = "nevermind"


def cancelled(dialect: Dialect, id: bytes, waited: float) -> bytes:
    """The answer to a request, ``id`` in JSON, that was cancelled ``waited`` seconds ago."""
    data: dict[str, object] = {"answeredBy": NAME, "secondsSinceCancel": round(waited, 3)}
    return _error(id, dialect.cancelled_code, f"Request cancelled (answered by {NAME})", data)


def timed_out(id: bytes, waited: float) -> bytes:
    """The answer to a request that timed out ``waited`` seconds after it was read."""
    data: dict[str, object] = {"answeredBy": NAME, "timedOutAfterSeconds": round(waited, 3)}
    return _error(id, TIMED_OUT, f"Request timed out: {_gave_up(waited)}", data)


def cancel(dialect: Dialect, id: bytes, waited: float) -> bytes:
    """The cancel of a request that timed out; the dialect has one."""
    *way, last = dialect.cancel_id
    member = b'%b:%b,"reason":%b' % (_quote(last), id, _quote(_gave_up(waited)))
    for name in reversed(way):
        member = b"%b:{%b}" % (_quote(name), member)
    return b'{"jsonrpc":"2.0","method":%b,%b}' % (_quote(dialect.cancel_method or ""), member)


def cancel_task(id: bytes, task: str, meta: bytes) -> bytes:
    """MCP's request to cancel a task; ``meta`` is the JSON of its ``_meta``, or b""."""
    params = b'"taskId":%b' % _quote(task)
    if meta:
        params += b',"_meta":' + meta
    return b'{"jsonrpc":"2.0","id":%b,"method":"tasks/cancel","params":{%b}}' % (id, params)


def seconds(count: float) -> str:
    """``count`` seconds in figures, to the millisecond."""
    return f"{count:.3f}".rstrip("0").rstrip(".")


def _gave_up(waited: float) -> str:
    return f"{NAME} had no answer after {seconds(waited)} s"


def _error(id: bytes, code: int, message: str, data: dict[str, object]) -> bytes:
    error = json.dumps({"code": code, "message": message, "data": data}, separators=(",", ":"))
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id, error.encode("ascii"))


def _quote(text: str) -> bytes:
    return json.dumps(text).encode("ascii")
