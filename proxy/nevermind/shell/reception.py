"""The first words with whoever connects by HTTP: reads one request, writes one response.

Knows neither what is asked for nor WebSockets.
"""

from __future__ import annotations

from http import HTTPStatus

import trio

from nevermind.shell.admission import Head, Refusal, Request
from nevermind.shell.transports.tls import half_close
from nevermind.shell.transports.wire import CHUNK

PATIENCE = 10.0
"""Seconds that somebody may take to say what is wanted."""

LINGER = 1.0
"""Seconds that a response gets to be read."""


async def receive_request(stream: trio.abc.Stream) -> tuple[Request, bytes] | Refusal | None:
    """The request and what came behind its head; None if nothing came of it."""
    head = Head()
    try:
        with trio.move_on_after(PATIENCE):
            while data := await stream.receive_some(CHUNK):
                found = head.feed(bytes(data))
                if found is not None:
                    return found
            return None
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return None
    return Refusal(HTTPStatus.REQUEST_TIMEOUT, "too slow")


async def respond(
    stream: trio.abc.Stream,
    status: int,
    body: bytes,
    fields: tuple[tuple[str, str], ...] = (),
    *,
    content_type: str = "text/plain; charset=utf-8",
) -> None:
    """Send a whole response and close ``stream``."""
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        "Connection: close" if not any(name == "Connection" for name, _ in fields) else "",
        *(f"{name}: {value}" for name, value in fields),
    ]
    head = "\r\n".join(filter(None, lines)) + "\r\n\r\n"
    with trio.move_on_after(LINGER):
        try:
            await stream.send_all(head.encode("ascii") + body)
            await half_close(stream)
            # closing while something comes in would reset the connection, response and all
            while await stream.receive_some(CHUNK):
                pass
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
    await trio.aclose_forcefully(stream)


async def refuse(stream: trio.abc.Stream, refusal: Refusal) -> None:
    """Respond with ``refusal``."""
    await respond(stream, refusal.status, f"{refusal.why}\n".encode(), refusal.fields)
