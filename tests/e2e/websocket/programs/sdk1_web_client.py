"""A WebSocket client on python-sdk 1.x: calls a tool, gives up, goes on, says what it saw.

    python sdk1_web_client.py PLAN TOOL -- URL

Like the client over stdio; it cancels by hand, as hosts built on this SDK do.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import anyio
from mcp import ClientSession, types
from mcp.client.websocket import websocket_client

if TYPE_CHECKING:
    from collections.abc import Awaitable

FIRST_SIGN = "progress=0.0"


async def main(tool: str, url: str) -> None:
    complaints: list[str] = []
    report: dict[str, Any] = {"complaints": complaints, "next_call": "failed", "ping": "failed"}

    async def handle(message: object) -> None:
        if FIRST_SIGN not in str(message):
            complaints.append(f"{type(message).__name__}: {message}")

    async with (
        websocket_client(url) as (reading, writing),
        ClientSession(reading, writing, message_handler=handle) as session,
        anyio.create_task_group() as tasks,
    ):
        await session.initialize()
        call = anyio.CancelScope()

        async def give_up() -> None:
            params = types.CancelledNotificationParams(requestId=1, reason="Escape")
            cancel = types.CancelledNotification(method="notifications/cancelled", params=params)
            call.cancel()
            await session.send_notification(types.ClientNotification(cancel))

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if progress == 0:
                tasks.start_soon(give_up)

        with call:
            report["outcome"] = await text_of(
                session.call_tool(tool, {}, progress_callback=on_progress)
            )
        report.setdefault("outcome", "failed: gave up")
        with anyio.move_on_after(5):
            report["next_call"] = await text_of(session.call_tool("settle", {}))
            report["ping"] = await text_of(session.send_ping())
        report["lost"] = report["ping"] != "ok"
        print(json.dumps(report), flush=True)


async def text_of(answer: Awaitable[Any]) -> str:
    """The text of an answer ("ok" where it has none), or what came instead."""
    try:
        value = await answer
    except Exception as error:  # noqa: BLE001 - whatever it is, the test wants to know
        return f"failed: {error}"
    content = getattr(value, "content", None)
    return content[0].text if content else "ok"


anyio.run(main, sys.argv[2], sys.argv[4])
