"""A WebSocket server on python-sdk 1.x, with the tools of the one over stdio.

    python sdk1_web_server.py SDK_SERVER.PY

Prints its port.
"""

from __future__ import annotations

import runpy
import socket
import sys
from typing import Any

import uvicorn
from mcp.server.websocket import websocket_server
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

tools: Any = runpy.run_path(sys.argv[1])["server"]._mcp_server


async def talk(peer: WebSocket) -> None:
    async with websocket_server(peer.scope, peer.receive, peer.send) as (reading, writing):
        await tools.run(reading, writing, tools.create_initialization_options())


with socket.socket() as listening:
    listening.bind(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    app = Starlette(routes=[WebSocketRoute("/mcp", talk)])
    uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off")).run([listening])
