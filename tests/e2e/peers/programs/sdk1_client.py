"""A client on python-sdk 1.x: calls a tool, gives up, goes on, and prints what it saw as JSON.

    python sdk1_client.py PLAN TOOL -- SERVER-COMMAND...

These clients send no cancel of their own accord, so it is sent by hand, as hosts built on them do.
PLAN: "on-progress" gives up at the first sign of progress, "soon" after a moment (such tools report
none), "waits-on" cancels at the first sign of progress and still waits, "never" does not give up.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mcp.shared.session import ProgressFnT

FIRST_SIGN = "progress=0.0"
"""The progress that makes us give up; it reaches the handler of all messages too."""


async def main(plan: str, tool: str, command: list[str]) -> None:
    complaints: list[str] = []
    report: dict[str, Any] = {"complaints": complaints}

    async def handle(message: object) -> None:
        if FIRST_SIGN not in str(message):
            complaints.append(f"{type(message).__name__}: {message}")

    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with (
        stdio_client(parameters) as (reading, writing),
        ClientSession(reading, writing, message_handler=handle) as session,
        anyio.create_task_group() as tasks,
    ):
        await session.initialize()
        call = anyio.CancelScope()

        async def give_up() -> None:
            params = types.CancelledNotificationParams(requestId=1, reason="Escape")
            cancel = types.CancelledNotification(method="notifications/cancelled", params=params)
            if plan == "waits-on":
                call.deadline = anyio.current_time() + 2
            else:
                call.cancel()
            await session.send_notification(types.ClientNotification(cancel))

        async def give_up_soon() -> None:
            await anyio.sleep(0.2)
            await give_up()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if "started" not in report:
                report["started"] = True
                tasks.start_soon(give_up)

        if plan == "soon":
            tasks.start_soon(give_up_soon)
        with call:
            gives_up = plan in ("on-progress", "waits-on")
            callback: ProgressFnT | None = on_progress if gives_up else None
            report["outcome"] = await text_of(
                session.call_tool(tool, {}, progress_callback=callback)
            )
        report.setdefault("outcome", "failed: gave up")
        with anyio.move_on_after(5):
            report["next_call"] = await text_of(session.call_tool("settle", {}))
            report["ping"] = await text_of(session.send_ping())
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
