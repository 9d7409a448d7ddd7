"""The least that a WebSocket relay on trio-websocket can do: it looks at nothing.

    python websocket_relay.py SERVER [ARG]...

Prints its address; each connection gets a server of its own, a message is a line.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import trio
from trio_websocket import (
    ConnectionClosed,
    WebSocketConnection,
    WebSocketRequest,
    WebSocketServer,
    serve_websocket,
)

LIMIT = 2**26
"""Bytes; the library's own default would refuse the large messages."""


async def relay(request: WebSocketRequest) -> None:
    peer = await request.accept()
    server = await trio.lowlevel.open_process(
        sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(to_server, peer, server)
        nursery.start_soon(to_client, peer, server)
        await server.wait()
        nursery.cancel_scope.cancel()


async def to_server(peer: WebSocketConnection, server: trio.Process) -> None:
    assert server.stdin is not None
    try:
        while True:
            message = await peer.get_message()
            assert isinstance(message, str)
            await server.stdin.send_all(message.encode() + b"\n")
    except ConnectionClosed:
        await server.stdin.aclose()


async def to_client(peer: WebSocketConnection, server: trio.Process) -> None:
    assert server.stdout is not None
    rest = b""
    async for data in server.stdout:
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            await peer.send_message(line.decode())


async def main() -> None:
    async with trio.open_nursery() as nursery:
        serving: WebSocketServer = await nursery.start(
            partial(serve_websocket, relay, "127.0.0.1", 0, None, max_message_size=LIMIT)
        )
        print(f"ws://127.0.0.1:{serving.port}/", flush=True)


trio.run(main)
