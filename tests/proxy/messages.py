"""The messages of a conversation, as bytes.

Ids and tokens are Python values (``7``, ``"7"``), or bytes where the spelling matters
(``b"7.0"``).  A name like ``b"<n>"`` stands for a fresh id or token that is not known yet.
"""

from __future__ import annotations

import json

from nevermind.dialects import MCP, Dialect, Path

Spelling = int | str | bytes

OWED = Dialect(
    name="owed",
    cancel_method="$/cancelRequest",
    cancel_id=("params", "id"),
    progress_method="$/progress",
    progress_token=("params", "token"),
    request_tokens=(("params", "workDoneToken"), ("params", "partialResultToken")),
    uncancellable=frozenset({"initialize"}),
    answer_owed=True,
)
"""A protocol in which a cancelled request is still owed an answer, in lines."""

DEEP = b"[" * 5000 + b"]" * 5000
"""A value nested deeper than any decoder goes."""

PLAIN = Dialect(name="jsonrpc")
"""Plain JSON-RPC: there is no cancel."""


def spell(value: object) -> bytes:
    """The JSON of a value; bytes are JSON already."""
    if isinstance(value, bytes):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _nest(path: Path, value: bytes) -> bytes:
    for name in reversed(path):
        value = b"{%b:%b}" % (spell(name), value)
    return value


def _message(*members: bytes) -> bytes:
    return b'{"jsonrpc":"2.0",' + b",".join(members) + b"}"


def call(
    id: Spelling,
    token: Spelling | None = None,
    method: Spelling = "tools/call",
    *,
    work: int | str = "slow",
    dialect: Dialect = MCP,
) -> bytes:
    """A request; ``token`` is its progress token, ``work`` tells it from others."""
    params = b'"name":%b' % spell(work)
    if token is not None:
        path = dialect.request_tokens[0][1:]
        params += b"," + _nest(path, spell(token))[1:-1]
    return _message(
        b'"id":%b' % spell(id), b'"method":%b' % spell(method), b'"params":{%b}' % params
    )


def initialize(id: Spelling = 0) -> bytes:
    """The request that nobody may cancel."""
    return call(id, method="initialize")


def listen(id: Spelling) -> bytes:
    """The request that stays open for as long as its subscription."""
    return call(id, method="subscriptions/listen")


def answer(id: Spelling, result: object = "done") -> bytes:
    """A result."""
    return _message(b'"id":%b' % spell(id), b'"result":%b' % spell(result))


def error(id: Spelling, code: int = 0) -> bytes:
    """An error; of code 0, as many servers answer a cancelled call."""
    body = b'"error":{"code":%d,"message":"Request cancelled"}' % code
    return _message(b'"id":%b' % spell(id), body)


def nobodys_error(*, null: bool = True) -> bytes:
    """An error whose id is null, or is not there at all."""
    body = b'"error":{"code":-32601,"message":"Method not found"}'
    return _message(b'"id":null', body) if null else _message(body)


def task(id: Spelling, *, modern: bool = False) -> bytes:
    """An answer that creates a task, in the way of 2025-11-25 or of the extension since."""
    if modern:
        return answer(id, {"resultType": "task", "taskId": "t-1"})
    return answer(id, {"task": {"taskId": "t-1", "status": "working"}})


def cancel(
    id: Spelling,
    reason: str | None = None,
    *,
    method: Spelling | None = None,
    dialect: Dialect = MCP,
) -> bytes:
    """A cancel; ``reason`` is what its sender gives for it."""
    inner = _nest(dialect.cancel_id[1:], spell(id))[1:-1]
    if reason is not None:
        inner += b',"reason":%b' % spell(reason)
    name = spell(method or dialect.cancel_method)
    return _message(b'"method":%b' % name, b'"params":{%b}' % inner)


def progress(token: Spelling, step: int = 1, *, dialect: Dialect = MCP) -> bytes:
    """Progress of whoever carried ``token``."""
    inner = _nest(dialect.progress_token[1:], spell(token))[1:-1]
    return _message(
        b'"method":%b' % spell(dialect.progress_method),
        b'"params":{%b,"progress":%d}' % (inner, step),
    )


def note(number: int = 0) -> bytes:
    """A notification that has to do with nothing."""
    return _message(b'"method":"notifications/message"', b'"params":{"data":%d}' % number)


def update(id: Spelling) -> bytes:
    """A notification of the subscription that the request ``id`` opened."""
    path: Path = MCP.subscription_id
    return _message(b'"method":"notifications/tools/list_changed"', _nest(path, spell(id))[1:-1])


def batch(*messages: bytes) -> bytes:
    """Several messages in an array."""
    return b"[" + b",".join(messages) + b"]"
