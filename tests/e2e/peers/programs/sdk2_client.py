"""A client on python-sdk 2.x: calls a tool, gives up, goes on, and prints what it saw as JSON.

    python sdk2_client.py PLAN TOOL -- SERVER-COMMAND...

The SDK sends the cancel when the task that waits is cancelled.  PLAN: "on-progress" gives up at
the first sign of progress, "never" does not.
"""

# The tests' own environment has the other major version.
# mypy: ignore-errors

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

if TYPE_CHECKING:
    from collections.abc import Awaitable

FIRST_SIGN = "progress=0.0"
"""The progress that makes us give up; it reaches the handler of all messages too."""


async def main(plan: str, tool: str, command: list[str]) -> None:
    complaints: list[str] = []
    report: dict[str, Any] = {"complaints": complaints}

    async def handle(message: object) -> None:
        if FIRST_SIGN not in str(message):
            complaints.append(f"{type(message).__name__}: {message}")

    transport = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    async with Client(transport, mode="legacy", message_handler=handle) as client:
        with anyio.CancelScope() as call:

            async def on_progress(*_: object) -> None:
                call.cancel()

            callback = on_progress if plan == "on-progress" else None
            report["outcome"] = await text_of(
                client.call_tool(tool, {}, progress_callback=callback)
            )
        report.setdefault("outcome", "failed: gave up")
        with anyio.move_on_after(5):
            report["next_call"] = await text_of(client.call_tool("settle", {}))
            report["ping"] = await text_of(client.send_ping())
        report["lost"] = report.get("ping") != "ok"
        print(json.dumps({"next_call": "failed", "ping": "failed"} | report), flush=True)


async def text_of(answer: Awaitable[Any]) -> str:
    """The text of an answer ("ok" where it has none), or what came instead."""
    try:
        value = await answer
    except Exception as error:  # noqa: BLE001 - whatever it is, the test wants to know
        return f"failed: {error}"
    content = getattr(value, "content", None)
    return content[0].text if content else "ok"


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[4:])
