"""A server on the Python SDK, 1.x or 2.x, whose tools end in different ways when cancelled.

Every protocol line is the SDK's own; what a docstring says of the SDK is true of 1.x.
"""

# The two major versions never stand in one environment.
# mypy: ignore-errors

from __future__ import annotations

import time

import anyio

try:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as Server
except ModuleNotFoundError:
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver import MCPServer as Server

STEPS = 5
STEP = 0.1
"""Seconds; a tool runs for half a second unless it is cancelled."""

server = Server("peer")


class Work:
    """Counts the tools at work, so that ``settle`` can wait for their end."""

    running = 0
    ended = anyio.Event()

    def __enter__(self) -> None:
        Work.running += 1

    def __exit__(self, *_: object) -> None:
        Work.running -= 1
        if not Work.running:
            Work.ended.set()
            Work.ended = anyio.Event()


@server.tool()
async def obedient(ctx: Context) -> str:
    """Stops when cancelled.  The SDK answers for it, with an error of code 0."""
    with Work():
        for step in range(STEPS):
            await ctx.report_progress(step, STEPS)
            await anyio.sleep(STEP)
    return "done"


@server.tool()
async def deaf() -> str:
    """Blocks the event loop: the cancel is read when the result is on its way."""
    with Work():
        time.sleep(STEP * STEPS)  # noqa: ASYNC251 - that is the fault
    return "done"


@server.tool()
async def tidy(ctx: Context) -> str:
    """Cleans up when cancelled, and reports how far it is."""
    with Work():
        await ctx.report_progress(0, STEPS)
        try:
            await anyio.sleep(STEP * STEPS)
        finally:
            with anyio.CancelScope(shield=True):
                for step in range(1, STEPS):
                    await anyio.sleep(STEP / 2)
                    await ctx.report_progress(step, STEPS)
    return "done"


@server.tool()
async def stubborn(ctx: Context) -> str:
    """Finishes all the same: the SDK answers twice, and its assertion ends the server."""
    with Work():
        await ctx.report_progress(0, STEPS)
        with anyio.CancelScope(shield=True):
            await anyio.sleep(STEP * STEPS)
        return "done"


@server.tool()
async def settle() -> str:
    """Returns when every other tool has ended and what it had to say is out."""
    while Work.running:
        await Work.ended.wait()
    await anyio.sleep(STEP)
    return "settled"


if __name__ == "__main__":
    server.run()
