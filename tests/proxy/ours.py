"""The messages that the proxy authors itself, as a conversation must hear them."""

from __future__ import annotations

from nevermind.dialects import MCP, Dialect
from proxy.messages import Spelling, spell


def timed_out(id: Spelling, after: float = 30.0) -> bytes:
    """The answer to a request that timed out, ``after`` seconds."""
    shown = f"{after:g}".encode()
    return (
        b'{"jsonrpc":"2.0","id":%b,"error":{"code":408,'
        b'"message":"Request timed out: nevermind had no answer after %b s",'
        b'"data":{"answeredBy":"nevermind","timedOutAfterSeconds":%b}}}'
        % (spell(id), shown, spell(float(after)))
    )


def cancelled(id: Spelling, after: float = 0.0) -> bytes:
    """The answer to a request that was cancelled ``after`` seconds ago."""
    return (
        b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32800,'
        b'"message":"Request cancelled (answered by nevermind)",'
        b'"data":{"answeredBy":"nevermind","secondsSinceCancel":%b}}}'
        % (spell(id), spell(float(after)))
    )


def stop(id: Spelling, after: float = 30.0, *, dialect: Dialect = MCP) -> bytes:
    """The cancel that the server gets of a request that timed out."""
    return b'{"jsonrpc":"2.0","method":%b,"params":{%b:%b,"reason":%b}}' % (
        spell(dialect.cancel_method),
        spell(dialect.cancel_id[-1]),
        spell(id),
        spell(f"nevermind had no answer after {after:g} s"),
    )


def cancel_task(id: Spelling, task: str = "t-1", meta: bytes = b"") -> bytes:
    """The request that cancels a task."""
    extra = b',"_meta":' + meta if meta else b""
    return b'{"jsonrpc":"2.0","id":%b,"method":"tasks/cancel","params":{"taskId":%b%b}}' % (
        spell(id),
        spell(task),
        extra,
    )
