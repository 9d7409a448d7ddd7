"""Streams under TLS: how they end, and why they do not begin."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
import trustme

from nevermind.shell.reception import respond
from nevermind.shell.transports.tls import reason
from nevermind.shell.transports.wire import Wire

Secured = trio.SSLStream[trio.abc.Stream]


@pytest.fixture(scope="module")
def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context, and that of a client that knows it."""
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("us.example").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


async def secured(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> tuple[Secured, Secured]:
    """Our end as the server, and the other."""
    below, there = trio.testing.memory_stream_pair()
    ours: Secured = trio.SSLStream(below, contexts[0], server_side=True, https_compatible=True)
    theirs: Secured = trio.SSLStream(
        there, contexts[1], server_hostname="us.example", https_compatible=True
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ours.do_handshake)
        nursery.start_soon(theirs.do_handshake)
    return ours, theirs


async def _linger(stream: Secured) -> None:
    await stream.send_all(b"last words")
    await Wire(stream, 1000).linger()


async def _respond(stream: Secured) -> None:
    await respond(stream, 200, b"last words")


@pytest.mark.parametrize("leave", [_linger, _respond])
async def test_a_peer_that_waits_for_our_end_is_not_waited_for(
    leave: Callable[[Secured], Awaitable[None]],
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
    autojump_clock: trio.testing.MockClock,
) -> None:
    """We take leave -> it reads to the end -> it closes -> so do we, at once."""
    ours, theirs = await secured(contexts)
    began = trio.current_time()
    heard = b""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave, ours)
        while data := await theirs.receive_some():
            heard += data
        await theirs.aclose()
    assert heard.endswith(b"last words")
    assert trio.current_time() == began


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "plain HTTP"),
        (b'{"jsonrpc":"2.0"}\n', "it speaks no TLS"),
        (b"\x16\x03\x01\x00\x04\x01\x00\x00\x00", "length too short"),
        (b"", "the connection was closed"),
    ],
)
async def test_why_there_is_no_handshake(
    said: bytes, why: str, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    below, there = trio.testing.memory_stream_pair()
    await there.send_all(said)
    await there.send_eof()
    stream = trio.SSLStream(below, contexts[0], server_side=True)
    with pytest.raises(trio.BrokenResourceError) as failed:
        await stream.do_handshake()
    assert isinstance(failed.value.__cause__, ssl.SSLError)
    assert reason(failed.value.__cause__) == why
