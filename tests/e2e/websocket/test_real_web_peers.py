"""Real hosts and servers whose WebSockets are their SDK's, through every pairing they can be in.

Bare, each pair shows the fault; with the proxy in between it is gone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.peers.calling import Pair, Report
from e2e.peers.environments import PROGRAMS, UnavailableError, node_with
from e2e.peers.test_real_peers import client
from e2e.websocket.proxies import PATIENCE, Listening

HERE = Path(__file__).with_name("programs")
SDK_SERVER = PROGRAMS / "sdk_server.py"
TYPESCRIPT_1 = ("@modelcontextprotocol/sdk@1.32.2", "zod@4.6.7", "ws@8.18.3")

CALLERS = ["python-1", "typescript-1"]
"""The SDKs that have a WebSocket client: it is gone from 2.x of both."""


def web_client(name: str) -> list[str]:
    """The command of a client that takes an address."""
    if name == "python-1":
        return [sys.executable, str(HERE / "sdk1_web_client.py")]
    try:
        folder = node_with(*TYPESCRIPT_1)
    except UnavailableError as error:
        pytest.skip(f"{name}: {error}")
    program = folder / "typescript_web_client.mjs"
    program.write_bytes((HERE / program.name).read_bytes())
    return ["node", str(program)]


@contextmanager
def web_server() -> Iterator[str]:
    """A server on python-sdk 1.x; its address."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "sdk1_web_server.py"), str(SDK_SERVER)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        try:
            yield f"ws://127.0.0.1:{int(process.stdout.readline())}/mcp"
        finally:
            process.kill()


def call(command: list[str], url: str, tool: str = "obedient") -> dict[str, Any]:
    """What a client says that called ``tool`` and gave up."""
    done = subprocess.run(
        [*command, "on-progress", tool, "--", url], capture_output=True, timeout=3 * PATIENCE
    )
    assert done.stdout.startswith(b"{"), done.stderr.decode()
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def is_cured(report: dict[str, Any] | Report) -> bool:
    seen = report if isinstance(report, dict) else vars_of(report)
    return (
        seen["complaints"] == []
        and not seen["lost"]
        and seen["ping"] == "ok"
        and seen["next_call"] == "settled"
    )


def vars_of(report: Report) -> dict[str, Any]:
    return {name: getattr(report, name) for name in ("complaints", "lost", "ping", "next_call")}


@pytest.mark.parametrize("caller", CALLERS)
def test_bare_the_answer_to_a_cancelled_call_is_complained_of(caller: str) -> None:
    with web_server() as url:
        report = call(web_client(caller), url)
    assert any("Request cancelled" in said or "unknown" in said for said in report["complaints"])


@pytest.mark.parametrize("tool", ["obedient", "tidy"])
@pytest.mark.parametrize("caller", CALLERS)
class TestWithTheProxy:
    def test_websocket_to_stdio(self, caller: str, tool: str) -> None:
        command = web_client(caller)
        with Listening(server=(sys.executable, str(SDK_SERVER))) as proxy:
            assert is_cured(call(command, proxy.address, tool))
            proxy.said("drop")

    def test_websocket_to_websocket(self, caller: str, tool: str) -> None:
        command = web_client(caller)
        with web_server() as url, Listening("--connect", url, server=None) as proxy:
            assert is_cured(call(command, proxy.address, tool))
            proxy.said("drop")


@pytest.mark.parametrize("tool", ["obedient", "tidy"])
@pytest.mark.parametrize("name", ["python-1", "typescript-1", "typescript-2"])
def test_stdio_to_websocket(name: str, tool: str) -> None:
    try:
        words = client(name)
    except UnavailableError as error:
        pytest.skip(f"{name}: {error}")
    with web_server() as url:
        report = Connected(words, ("--connect", url)).proxied("on-progress", tool)
    assert is_cured(report)
    assert report.drops


class Connected(Pair):
    """A client over stdio whose server runs already."""

    def proxied(self, plan: str, tool: str, *options: str) -> Report:
        from e2e.harness import nevermind

        words = [*nevermind().words, "--log-format", "json", *options, *self.server]
        return self._call(plan, tool, words)
