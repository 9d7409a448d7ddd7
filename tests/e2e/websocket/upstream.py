"""Servers that the proxy connects to: a WebSocket one of another make, and plain sockets."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve
from websockets.typing import Subprotocol


def answer(message: str | bytes) -> str:
    """The answer to a request: its params."""
    asked = json.loads(message)
    return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": asked.get("params")})


def echo(peer: ServerConnection) -> None:
    """Answer each request with its params, until the end."""
    try:
        for message in peer:
            peer.send(answer(message))
    except ConnectionClosed:
        pass


class Upstream:
    """A WebSocket server and what has become of its connections."""

    def __init__(self, server: Server, secure: bool) -> None:
        self._server = server
        self.port = server.socket.getsockname()[1]
        self.url = f"{'wss' if secure else 'ws'}://localhost:{self.port}"
        self.peers: list[ServerConnection] = []
        self.ended = threading.Semaphore(0)


@contextmanager
def upstream(
    talk: Callable[[ServerConnection], None] = echo,
    *,
    subprotocols: list[str] | None = None,
    context: ssl.SSLContext | None = None,
    refuses: int = 0,
) -> Iterator[Upstream]:
    """A WebSocket server on loopback; ``refuses``: it answers every request with that status."""
    found: list[Upstream] = []

    def handle(peer: ServerConnection) -> None:
        found[0].peers.append(peer)
        try:
            talk(peer)
        finally:
            found[0].ended.release()

    with serve(
        handle,
        "localhost",
        0,
        subprotocols=[Subprotocol(name) for name in subprotocols] if subprotocols else None,
        ssl=context,
        max_size=None,
        compression=None,
        process_request=((lambda peer, _: peer.respond(refuses, "no\n")) if refuses else None),
    ) as server:
        found.append(Upstream(server, context is not None))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield found[0]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def line_server(family: int, address: object) -> Iterator[socket.socket]:
    """Listen on a plain socket; ``accept`` it yourself."""
    with socket.socket(family) as listening:
        listening.bind(address)  # type: ignore[arg-type]
        listening.listen()
        listening.settimeout(20)
        yield listening
