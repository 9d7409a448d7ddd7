"""Time passes: what nevermind says itself where it is told to, with real processes and clocks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.harness import Conversation, cancel, error, progress, request, result
from e2e.harness.messages import encode

TASK = {"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t-1", "status": "working"}}}


def both_ways(option: str, value: str) -> pytest.MarkDecorator:
    """The switch on the command line, and as a variable of the environment."""
    variable = "NEVERMIND_" + option[2:].replace("-", "_").upper()
    settings = [{"options": (option, value)}, {"environment": {variable: value}}]
    return pytest.mark.parametrize("settings", settings, ids=["option", "variable"])


def conversation(settings: dict[str, Any]) -> Conversation:
    return Conversation(**settings)


def cancelled(number: int) -> dict[str, Any]:
    """Our answer to a request that was cancelled just now."""
    data = {"answeredBy": "nevermind", "secondsSinceCancel": 0.0}
    message = "Request cancelled (answered by nevermind)"
    failure = {"code": -32800, "message": message, "data": data}
    return {"jsonrpc": "2.0", "id": number, "error": failure}


@both_ways("--answer-cancelled", "0")
def test_whoever_cancels_is_answered_at_once(settings: dict[str, Any]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1), request(2), cancel(1))
        wire.client_receives(cancelled(1))
        wire.never_reaches_client(result(1), error(1))
        wire.passes_to_client(result(2))


def test_even_while_the_server_reads_nothing() -> None:
    """The cancel takes effect when we read it, not when the server does."""
    with Conversation(options=("--answer-cancelled", "0")) as wire:
        wire.passes_to_server(request(1))
        wire.server_stops_reading()
        wire.client_sends(request(2, text="x" * 1_000_000))
        wire.nothing_moves()
        wire.client_sends(cancel(1))
        wire.client_receives(cancelled(1))
        wire.server_reads_on()
        wire.server_receives(request(2, text="x" * 1_000_000), cancel(1))


def test_a_client_that_cancels_much_and_reads_nothing_is_not_read_for_ever() -> None:
    """A mebibyte of answers may wait for it, and the rest follows when it reads."""
    with Conversation(options=("--answer-cancelled", "0", "--log-level", "off")) as wire:
        wire.client_stops_reading()
        said = [encode(m) for n in range(9000) for m in (request(n), cancel(n))]
        wire.client_sends(b"".join(said))
        wire.nothing_moves()
        wire.client_reads_on()
        wire.server_receives(b"".join(said))
        wire.client_receives(b"".join(encode(cancelled(n)) for n in range(9000)))


@both_ways("--timeout", "0.3")
def test_a_request_times_out(settings: dict[str, Any]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1, token=1))
        told = json_of(wire.line_at_server())
        answered = json_of(wire.line_at_client())
        assert told["method"] == "notifications/cancelled"
        assert told["params"]["requestId"] == 1
        assert "nevermind had no answer after 0.3" in told["params"]["reason"]
        assert answered["id"] == 1
        assert answered["error"]["code"] == 408
        assert answered["error"]["data"]["timedOutAfterSeconds"] >= 0.3
        wire.never_reaches_client(progress(1), result(1))
        wire.never_reaches_server(cancel(1))


def test_methods_have_timeouts_of_their_own(tmp_path: Path) -> None:
    """The file says which; the option is for all others."""
    file = tmp_path / "nevermind.toml"
    file.write_text('timeout = "off"\n[methods]\n"tools/call" = { timeout = 0.2 }\n')
    with Conversation(options=("--config", str(file), "--log-format", "json")) as wire:
        wire.passes_to_server(request(1, method="resources/read"), request(2))
        assert json_of(wire.line_at_server())["params"]["requestId"] == 2
        assert json_of(wire.line_at_client())["id"] == 2
        wire.passes_to_client(result(1))
        assert wire.logs(event="timeout")["id"] == 2


def test_tasks_that_nobody_wants_are_reaped() -> None:
    with Conversation(options=("--reap-tasks", "--log-format", "json")) as wire:
        wire.passes_to_server(request(1), cancel(1))
        wire.server_sends(TASK)
        told = json_of(wire.line_at_server())
        assert told["method"] == "tasks/cancel"
        assert told["params"] == {"taskId": "t-1"}
        wire.never_reaches_client(result(told["id"]))
        assert wire.logs(event="reap")["task"] == "t-1"


def test_the_summary_counts_what_we_said() -> None:
    options = ("--timeout", "0.2", "--answer-cancelled", "0", "--log-format", "json")
    with Conversation(options=options) as wire:
        wire.passes_to_server(request(1), request(2), cancel(1))
        wire.client_receives(cancelled(1))
        wire.line_at_server()
        wire.line_at_client()
        wire.client_closes()
        wire.proxy_exits(0)
        summary = wire.logs(event="summary")
        assert (summary["timed_out"], summary["answered"], summary["cancelled"]) == (1, 2, 2)


def json_of(line: bytes) -> dict[str, Any]:
    """A line, read."""
    found = json.loads(line)
    assert isinstance(found, dict)
    return found
