"""What people see on stderr, or in a file: one line per cancel and per drop, and a summary."""

from __future__ import annotations

import re
from pathlib import Path

from e2e.harness import Conversation, cancel, encode, error, log_message, progress, request, result
from e2e.harness.journal import read_events

SECRET = "a very secret payload"


def lines(wire: Conversation) -> list[str]:
    return wire.journal.data.decode().splitlines()


def cancelled_call(wire: Conversation) -> None:
    """A call with progress is cancelled twice; everything that may come late does."""
    wire.passes_to_server(request(1, token="t", secret=SECRET), cancel(1, "the user left"))
    wire.never_reaches_server(cancel(1, "again"))
    wire.never_reaches_client(progress("t"), error(1), result(1, SECRET))


def test_a_line_for_people_says_what_and_why() -> None:
    with Conversation(log_format="text") as wire:
        cancelled_call(wire)
        wire.client_closes()
        wire.proxy_exits(0)
        first, again, late_progress, late_error, late_result, summary = lines(wire)
    assert re.match(r"nevermind: cancel: client, id 1, tools/call.*the user left", first)
    assert re.match(r"nevermind: drop redundant-cancel: client, id 1, .*again", again)
    assert re.match(r'nevermind: drop late-progress: .*id "t"', late_progress)
    for line, outcome in ((late_error, "error"), (late_result, "result")):
        assert re.match(r"nevermind: drop late-response: client, id 1, tools/call, ", line)
        assert outcome in line
        assert re.search(r"\d+ bytes, \d+\.\d+ s after the request, \d+\.\d+ s after the", line)
        assert "the user left" in line
    assert re.match(r"nevermind: summary: forwarded \d+, dropped 4 ", summary)
    assert re.search(r"never answered 0, longest overrun \d+\.\d+ s", summary)


def test_the_same_as_json() -> None:
    with Conversation() as wire:
        cancelled_call(wire)
        wire.client_closes()
        wire.proxy_exits(0)
        assert [(e["event"], e.get("what")) for e in wire.journal.events()] == [
            ("cancel", None),
            ("drop", "redundant-cancel"),
            ("drop", "late-progress"),
            ("drop", "late-response"),
            ("drop", "late-response"),
            ("summary", None),
        ]
        drop = wire.logs(event="drop", what="late-response", outcome="result")
        assert drop["issuer"] == "client"
        assert drop["id"] == 1
        assert drop["method"] == "tools/call"
        assert drop["bytes"] == len(encode(result(1, SECRET))) - 1  # the newline is none of it
        assert drop["since_request_s"] >= drop["since_cancel_s"] >= 0
        assert drop["reason"] == "the user left"
        summary = wire.logs(event="summary")
        assert summary["dropped"] == {"redundant-cancel": 1, "late-progress": 1, "late-response": 2}
        assert summary["longest_overrun_s"] >= drop["since_cancel_s"]


def test_payloads_are_nobodys_business() -> None:
    with Conversation(("--log-level", "debug")) as wire:
        cancelled_call(wire)
        wire.client_closes()
        wire.proxy_exits(0)
        assert SECRET.encode() not in wire.journal.data


def test_what_was_never_answered_is_counted() -> None:
    with Conversation() as wire:
        wire.passes_to_server(request(1), cancel(1), request(2), cancel(2), request(3))
        wire.never_reaches_client(result(2))
        wire.client_closes()
        wire.proxy_exits(0)
        assert wire.logs(event="summary")["never_answered"] == 1


def test_the_servers_own_cancels_are_told_too() -> None:
    ask = request("s-1", "sampling/createMessage")
    with Conversation() as wire:
        wire.passes_to_client(ask, cancel("s-1", "no longer needed"))
        wire.never_reaches_server(result("s-1"))
        wire.logs(event="cancel", issuer="server", id="s-1", reason="no longer needed")
        wire.logs(event="drop", what="late-response", issuer="server", id="s-1")


def test_a_fresh_id_is_told() -> None:
    with Conversation() as wire:
        wire.passes_to_server(request(1), cancel(1))
        wire.client_sends(request(1))
        wire.line_at_server()
        wire.logs(event="alias", issuer="client", id=1)


def test_what_peers_choose_cannot_forge_a_line() -> None:
    evil = 'x\n{"event":"drop","what":"forged"}\x1b[31m'
    with Conversation(log_format="text") as wire:
        wire.passes_to_server(request(evil), cancel(evil, evil * 100))
        wire.never_reaches_client(result(evil))
        wire.client_closes()
        wire.proxy_exits(0)
        assert all(line.startswith("nevermind: ") for line in lines(wire))
        assert b"\x1b" not in wire.journal.data
        assert all(len(line) < 1000 for line in lines(wire))


def test_a_file_takes_the_lines_instead(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    with Conversation(("--log-file", str(log))) as wire:
        cancelled_call(wire)
        wire.client_closes()
        wire.proxy_exits(0)
        assert wire.journal.data == b""
    assert log.read_text().startswith("before\n")
    assert [e["event"] for e in read_events(log.read_bytes())] == [
        "cancel",
        *["drop"] * 4,
        "summary",
    ]


def test_silence_when_asked_for() -> None:
    with Conversation(("--log-level", "off")) as wire:
        cancelled_call(wire)
        wire.client_closes()
        wire.proxy_exits(0)
        assert wire.journal.data == b""


def test_the_servers_stderr_is_left_alone() -> None:
    with Conversation(("--log-level", "off")) as wire:
        wire.server_writes_stderr(b"warning: \xff\r\nno newline")
        wire.passes_to_client(log_message())
        wire.stderr_has(b"warning: \xff\r\nno newline")
