"""The harness itself, with no proxy at all: what it calls a failure really is one.

``env`` in the proxy's place is a plain pipe.  Whatever a test says that a plain pipe cannot do has
to fail here, or no test that uses the harness could fail either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.harness import (
    PLAIN_PIPE,
    Conversation,
    ConversationError,
    Server,
    cancel,
    request,
    result,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def plain(**settings: object) -> Conversation:
    """A conversation through a plain pipe, in which a failure comes soon."""
    return Conversation(proxy=PLAIN_PIPE, patience=0.5, **settings)  # type: ignore[arg-type]


def test_bytes_go_both_ways_as_they_are() -> None:
    with plain() as wire:
        wire.passes_to_server(request(1), b" {odd\r\n", "", b"\xff\xfe\n")
        wire.passes_to_client(result(1), b"\x00\n", {"é": "—"})


def test_messages_sent_together_may_cross() -> None:
    large = request(1, blob="A" * 300_000)
    with plain(leftovers=False) as wire:
        wire.client_sends(large)
        wire.server_sends(large)
        wire.client_receives(large)
        wire.server_receives(large)


def test_the_server_ends_when_the_client_closes() -> None:
    with plain() as wire:
        wire.client_closes()
        wire.server_sees_end()
        wire.client_sees_end()
        wire.proxy_exits(0)


def test_the_server_may_stay_and_speak_after_the_end_of_its_input() -> None:
    with plain(server=Server(stays=True)) as wire:
        wire.passes_to_server(request(1))
        wire.client_closes()
        wire.server_sees_end()
        wire.passes_to_client(result(1))


def test_the_server_ends_as_it_is_told() -> None:
    with plain() as wire:
        wire.server_sends(result(1))
        wire.server_exits(3)
        wire.client_receives(result(1))
        wire.proxy_exits(3)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV"])
def test_the_server_dies_of_a_signal(name: str) -> None:
    with plain() as wire:
        wire.server_dies_of(name)
        wire.proxy_exits_by(name)


def test_a_server_that_ignores_a_signal_reports_it() -> None:
    with plain(server=Server(ignores=("SIGTERM",))) as wire:
        wire.proxy_gets_signal("SIGTERM")
        wire.server_got_signal("SIGTERM")
        wire.passes_to_client(result(1))


def test_a_helper_outlives_its_server() -> None:
    with plain(leftovers=True) as wire:
        helper = wire.helper_starts(holds_pipe=False)
        wire.server_exits(0)
        wire.proxy_exits(0)
        with pytest.raises(ConversationError, match="end the helper"):
            wire.is_gone(helper, "helper")


def test_a_server_behind_a_shell_is_the_same_server() -> None:
    with plain(server=Server(behind_shell=True, arguments=("a b", "é'$HOME"))) as wire:
        assert wire.hello["arguments"] == ["a b", "é'$HOME"]
        assert wire.hello["parent"] == wire.process.pid
        wire.passes_to_server(request(1))


def test_a_paused_side_receives_when_it_reads_on() -> None:
    with plain() as wire:
        wire.server_stops_reading()
        wire.client_sends(request(1))
        with pytest.raises(ConversationError):
            wire.server_receives(request(1))
        wire.server_reads_on()
        wire.server_receives(request(1))


def other_bytes(wire: Conversation) -> None:
    wire.client_sends("a")
    wire.server_receives("b")


def another_exit_code(wire: Conversation) -> None:
    wire.server_exits(1)
    wire.proxy_exits(0)


FAILURES: dict[str, Callable[[Conversation], object]] = {
    "a message that passes": lambda wire: wire.never_reaches_client(result(1)),
    "a cancel that passes": lambda wire: wire.never_reaches_server(cancel(1)),
    "other bytes": other_bytes,
    "a missing message": lambda wire: wire.client_receives(result(1)),
    "more than was said": lambda wire: wire.server_sends(result(1)),
    "an end that does not come": lambda wire: wire.client_sees_end(),
    "an exit that does not come": lambda wire: wire.proxy_exits(0),
    "another exit code": another_exit_code,
    "a log line that is not there": lambda wire: wire.logs(event="drop"),
    "a traceback": lambda wire: wire.server_writes_stderr("Traceback (most recent call last):\n"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_what_must_not_happen_fails(what: str) -> None:
    with pytest.raises(ConversationError, match="The conversation"), plain() as wire:
        FAILURES[what](wire)
