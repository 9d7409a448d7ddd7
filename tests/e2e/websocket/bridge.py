"""Puts WebSockets on one or both sides of the proxy, for a harness that speaks in lines.

    bridge.py [host] [server] -- NEVERMIND run [OPTIONS] -- SERVER...

With ``host``, the proxy listens and our stdin and stdout reach it over a WebSocket; with
``server``, it connects to us, and SERVER is started behind that.  The peer's end of every
WebSocket is the ``websockets`` library, which shares no code with the one under test.  A line
is a message, so blank lines and line ends are not carried.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from functools import partial

from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from nevermind.shell.linux import die_with_parent

_LISTENING = re.compile(rb"listening\b.*?(ws://[^\s;\"]+)")
_NO_LIMIT = 2**30

HOSTS_PATIENCE = 2.0
"""Seconds from the end of the proxy's stdin to SIGTERM, as MCP hosts have it: over a WebSocket
no server sees that end, and an answer that is owed is waited for."""


async def lines_of(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The lines of ``stream`` without their ends."""
    while line := await stream.readline():
        yield line.removesuffix(b"\n")


def as_message(line: bytes) -> str | bytes:
    """Text if it can be."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line


def as_line(message: str | bytes) -> bytes:
    body = message.encode() if isinstance(message, str) else message
    return body.replace(b"\n", b" ") + b"\n"


async def from_lines(stream: asyncio.StreamReader, socket: Connection) -> None:
    async for line in lines_of(stream):
        if line.strip():
            try:
                await socket.send(as_message(line))
            except ConnectionClosed:
                return


async def reader_of(fd: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=_NO_LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
    )
    return reader


async def behind(socket: Connection, command: list[str]) -> None:
    """Start SERVER for a connection of the proxy's and carry lines."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_NO_LIMIT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    sending = asyncio.create_task(from_lines(process.stdout, socket))
    sending.add_done_callback(lambda _: asyncio.ensure_future(socket.close()))
    try:
        async for message in socket:
            process.stdin.write(as_line(message))
            await process.stdin.drain()
    except (ConnectionClosed, ConnectionError):
        pass
    process.stdin.close()
    await process.wait()
    await sending


async def before(command: list[str]) -> int:
    """Start the proxy, connect to it, and carry our stdin and stdout."""
    proxy = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,  # ours is the client's
        stderr=asyncio.subprocess.PIPE,
        limit=_NO_LIMIT,
        preexec_fn=partial(die_with_parent, signal.SIGKILL),  # where a test fails, we are killed
    )
    assert proxy.stderr is not None
    url = ""
    while not url and (line := await proxy.stderr.readline()):
        if match := _LISTENING.search(line):
            url = match[1].decode()
        else:
            os.write(2, line)
    if not url:
        return await proxy.wait()

    async def tell() -> None:
        assert proxy.stderr is not None
        while data := await proxy.stderr.read(65536):
            os.write(2, data)

    telling = asyncio.create_task(tell())
    async with connect(
        url, max_size=None, compression=None, subprotocols=[Subprotocol("mcp")]
    ) as socket:

        async def receive() -> None:
            try:
                async for message in socket:
                    data = memoryview(as_line(message))
                    while data:
                        data = data[await asyncio.to_thread(os.write, 1, data) :]
            except ConnectionClosed:
                pass  # its code says how it ended, and lines have no codes

        receiving = asyncio.create_task(receive())
        sending = asyncio.create_task(from_lines(await reader_of(0), socket))
        await asyncio.wait([receiving, sending], return_when=asyncio.FIRST_COMPLETED)
    receiving.cancel()
    sending.cancel()
    proxy.terminate()
    code = await proxy.wait()
    await telling
    return code


async def beside(command: list[str]) -> int:
    """Be a host on the proxy's stdin and stdout: it closes, waits, and sends SIGTERM."""
    proxy = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    assert proxy.stdin is not None
    stdin = await reader_of(0)
    ended = asyncio.create_task(proxy.wait())

    async def send() -> None:
        assert proxy.stdin is not None
        try:
            while data := await stdin.read(65536):
                proxy.stdin.write(data)
                await proxy.stdin.drain()
        except ConnectionError:
            return
        proxy.stdin.close()
        await asyncio.sleep(HOSTS_PATIENCE)
        if not ended.done():
            proxy.terminate()

    sending = asyncio.create_task(send())
    code = await ended
    sending.cancel()
    return 0 if code == 128 + signal.SIGTERM else code


async def main(words: list[str]) -> int:
    sides, command = words[: words.index("--")], words[words.index("--") + 1 :]
    if "host" in sides:
        at = command.index("run") + 1
        command[at:at] = ["--listen", "ws://127.0.0.1:0"]
    if "server" not in sides:
        return await before(command)
    first = command.index("--")
    command, server = command[:first], command[first + 1 :]
    async with serve(
        lambda socket: behind(socket, server),
        "127.0.0.1",
        0,
        max_size=None,
        compression=None,
        subprotocols=[Subprotocol("mcp")],
    ) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        command += ["--connect", f"ws://127.0.0.1:{port}/"]
        if "host" in sides:
            return await before(command)
        return await beside(command)


if __name__ == "__main__":
    code = asyncio.run(main(sys.argv[1:]))
    os._exit(code)  # a thread may still wait for our stdin
