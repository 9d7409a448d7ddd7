"""Callers that cancel and still wait: which switches keep them from waiting in vain.

The client is python-sdk 1.x, whose code sends the cancel by hand while ``send_request`` still
waits.  It waits for two seconds and then gives up, so that a test can tell.
"""

from __future__ import annotations

import sys

import pytest

from e2e.peers.calling import Pair
from e2e.peers.environments import PROGRAMS

GAVE_UP = "failed: gave up"
RESULT = "done all the same"
ERROR = "failed: stopped half-way"
OURS = "failed: Request cancelled (answered by nevermind)"
AT_ONCE = ("--answer-cancelled", "0")


@pytest.fixture
def peers() -> Pair:
    """A 1.x client, and a server that answers when a call is cancelled, or never."""
    client = (sys.executable, str(PROGRAMS / "sdk1_client.py"))
    return Pair(client, (sys.executable, str(PROGRAMS / "late_server.py")))


@pytest.mark.parametrize(
    ("tool", "outcome"), [("result", RESULT), ("error", ERROR), ("silent", GAVE_UP)]
)
def test_without_us(peers: Pair, tool: str, outcome: str) -> None:
    """What the server says is what it gets, if it says anything."""
    assert peers.bare("waits-on", tool).outcome == outcome


@pytest.mark.parametrize("tool", ["result", "error", "silent"])
def test_behind_us(peers: Pair, tool: str) -> None:
    """Late answers are dropped: the price of the default."""
    report = peers.proxied("waits-on", tool)
    assert report.outcome == GAVE_UP
    assert report.goes_on
    assert report.drops.count("late-response") == (tool != "silent")


@pytest.mark.parametrize(
    ("late", "tool", "outcome"),
    [
        ("forward-errors", "error", ERROR),
        ("forward-errors", "result", GAVE_UP),
        ("first", "error", ERROR),
        ("first", "result", RESULT),
        ("forward", "error", ERROR),
        ("forward", "result", RESULT),
        ("forward", "silent", GAVE_UP),
    ],
)
def test_late_answers_let_through(peers: Pair, late: str, tool: str, outcome: str) -> None:
    """Then the caller is left hanging only where the server says nothing at all."""
    report = peers.proxied("waits-on", tool, "--late-response", late)
    assert report.outcome == outcome
    assert report.goes_on


@pytest.mark.parametrize("tool", ["result", "error", "silent"])
def test_answered_by_us(peers: Pair, tool: str) -> None:
    """Nobody is left hanging, whatever the server does; its own answer is dropped."""
    report = peers.proxied("waits-on", tool, *AT_ONCE)
    assert report.outcome == OURS
    assert report.goes_on
    assert report.complaints == []
    assert report.drops.count("late-response") == (tool != "silent")


def test_answered_by_us_after_a_moment(peers: Pair) -> None:
    """A server that answers by then is heard, where late answers are let through."""
    patient = ("--answer-cancelled", "0.3", "--late-response", "first")
    assert peers.proxied("waits-on", "result", *patient).outcome == RESULT
    assert peers.proxied("waits-on", "silent", *patient).outcome == OURS


def test_timed_out_by_us(peers: Pair) -> None:
    """A call that nobody cancels ends all the same, and the server is told to stop."""
    report = peers.proxied("never", "silent", "--timeout", "0.4")
    assert report.outcome.startswith("failed: Request timed out: nevermind had no answer after 0.4")
    assert report.goes_on
    assert [e["id"] for e in report.log if e["event"] == "timeout"] == [1]


def test_timed_out_by_us_though_the_server_answers_then(peers: Pair) -> None:
    """Our cancel makes it answer: that answer is late."""
    report = peers.proxied("never", "result", "--timeout", "0.4")
    assert report.outcome.startswith("failed: Request timed out")
    assert report.goes_on
    assert report.complaints == []
    assert report.drops == ["late-response"]
