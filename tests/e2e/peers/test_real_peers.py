"""Real hosts and real servers: what they do to each other, and that it is over with the proxy.

Each test first shows the fault with nothing in between, then that it is gone.  Peers that cannot
be installed here are skipped, with the reason.
"""

from __future__ import annotations

import sys

import pytest

from e2e.peers.calling import Pair
from e2e.peers.environments import PROGRAMS, UnavailableError, node_program, python_with

TYPESCRIPT = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0", "zod@4.6.7")
PYTHON_2 = "mcp==2.3.0"
LEGACY = ("mcp-server-time==0.6.2", "mcp==1.1.0")

CLIENTS = ["typescript-1", "typescript-2", "python-1", "python-2"]
TYPESCRIPT_CLIENTS = CLIENTS[:2]


def client(name: str) -> tuple[str, ...]:
    """The command of a client program."""
    match name:
        case "typescript-1" | "typescript-2":
            return (*node_program("typescript_client.mjs", *TYPESCRIPT), name[-1])
        case "python-1":
            return (sys.executable, str(PROGRAMS / "sdk1_client.py"))
        case "python-2":
            return (str(python_with(PYTHON_2) / "python"), str(PROGRAMS / "sdk2_client.py"))
        case _:
            raise ValueError(name)


def server(name: str) -> tuple[str, ...]:
    """The command of a server."""
    match name:
        case "python-1":
            return (sys.executable, str(PROGRAMS / "sdk_server.py"))
        case "python-2":
            return (str(python_with(PYTHON_2) / "python"), str(PROGRAMS / "sdk_server.py"))
        case "legacy-time":
            command = python_with(*LEGACY) / "mcp-server-time"
            return (str(command), "--local-timezone", "Europe/London")
        case _:
            raise ValueError(name)


def pair(client_name: str, server_name: str) -> Pair:
    try:
        return Pair(client(client_name), server(server_name))
    except UnavailableError as error:
        pytest.skip(f"{client_name} with {server_name}: {error}")


@pytest.mark.parametrize("client_name", ["typescript-1", "typescript-2", "python-1"])
def test_the_error_that_a_1x_server_sends_for_a_cancelled_call(client_name: str) -> None:
    """The SDK answers a cancelled call itself, with an error of code 0."""
    peers = pair(client_name, "python-1")

    bare = peers.bare("on-progress", "obedient")
    assert any("unknown" in said and "Request cancelled" in said for said in bare.complaints)

    proxied = peers.proxied("on-progress", "obedient")
    assert proxied.complaints == []
    assert proxied.goes_on
    assert "late-response" in proxied.drops


@pytest.mark.parametrize("client_name", ["typescript-1", "typescript-2", "python-1"])
def test_the_result_that_comes_when_the_work_is_over(client_name: str) -> None:
    """A tool that blocks the server's event loop: the cancel is read too late."""
    peers = pair(client_name, "python-1")

    bare = peers.bare("soon", "deaf")
    assert any("unknown" in said for said in bare.complaints)

    proxied = peers.proxied("soon", "deaf")
    assert proxied.complaints == []
    assert proxied.goes_on
    assert proxied.drops == ["late-response"]


@pytest.mark.parametrize("client_name", CLIENTS)
@pytest.mark.parametrize("server_name", ["python-1", "python-2"])
def test_progress_that_goes_on_after_the_cancel(client_name: str, server_name: str) -> None:
    """A tool that cleans up and tells how far it is.  A 2.x server is silent but for that."""
    peers = pair(client_name, server_name)

    bare = peers.bare("on-progress", "tidy")
    assert sum("progress" in complaint.lower() for complaint in bare.complaints) >= 3

    proxied = peers.proxied("on-progress", "tidy")
    assert proxied.complaints == []
    assert proxied.goes_on
    assert proxied.drops.count("late-progress") >= 3


@pytest.mark.parametrize("client_name", TYPESCRIPT_CLIENTS)
def test_a_server_that_dies_of_a_cancel(client_name: str) -> None:
    """A tool that finishes all the same: the 1.x SDK answers twice and trips over its assertion.

    The cancel itself is what kills, so it must not arrive: ``--cancel absorb``.
    """
    peers = pair(client_name, "python-1")

    bare = peers.bare("on-progress", "stubborn")
    assert not bare.goes_on

    proxied = peers.proxied("on-progress", "stubborn", "--cancel", "absorb")
    assert proxied.complaints == []
    assert proxied.goes_on
    assert proxied.next_call == "settled"
    assert "absorbed-cancel" in proxied.drops
    assert "late-response" in proxied.drops


def test_a_cancel_that_comes_after_the_answer() -> None:
    """TypeScript 1.x sends one when a signal fires late; servers on mcp 1.1 die of any cancel."""
    peers = pair("typescript-1", "legacy-time")

    bare = peers.bare("after-result", "get_current_time")
    assert "Europe/London" in bare.outcome
    assert bare.lost

    proxied = peers.proxied("after-result", "get_current_time")
    assert proxied.goes_on
    assert "Europe/London" in proxied.next_call
    assert proxied.drops == ["redundant-cancel"]


def test_a_caller_that_waits_on_after_its_cancel() -> None:
    """A 1.x host that cancels by hand and waits gets the server's error, and nothing otherwise.

    That is the price of the default, and why there is ``--late-response forward-errors``.
    """
    peers = pair("python-1", "python-1")

    bare = peers.bare("waits-on", "obedient")
    assert bare.outcome == "failed: Request cancelled"

    proxied = peers.proxied("waits-on", "obedient")
    assert proxied.outcome == "failed: gave up"
    assert proxied.goes_on

    lenient = peers.proxied("waits-on", "obedient", "--late-response", "forward-errors")
    assert lenient.outcome == "failed: Request cancelled"
    assert lenient.goes_on


@pytest.mark.parametrize("client_name", CLIENTS)
def test_a_conversation_without_a_cancel_is_not_touched(client_name: str) -> None:
    proxied = pair(client_name, "python-1").proxied("never", "obedient")
    assert proxied.outcome == "done"
    assert proxied.complaints == []
    assert proxied.goes_on
    assert proxied.drops == []
