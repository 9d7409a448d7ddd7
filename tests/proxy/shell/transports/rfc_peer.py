"""An independent WebSocket peer: the sans-I/O protocol of ``websockets`` on a Trio stream.

It does nothing by itself that a test does not ask for, but for what the RFC asks of it.
"""

from __future__ import annotations

import trio
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol
from websockets.uri import parse_uri


class RfcPeer:
    """One end of a WebSocket.  ``pongs``: pings are answered, as they must be."""

    def __init__(self, stream: trio.abc.Stream, protocol: Protocol, *, pongs: bool = True) -> None:
        self._stream = stream
        self._pongs = pongs
        self.protocol = protocol
        self.heard: list[Frame] = []
        """Frames that no test has asked for yet."""

    async def raw(self, data: bytes) -> None:
        """Send bytes that no protocol would."""
        await self._stream.send_all(data)

    async def text(self, body: str) -> None:
        self.protocol.send_text(body.encode())
        await self.flush()

    async def binary(self, body: bytes) -> None:
        self.protocol.send_binary(body)
        await self.flush()

    async def fragments(self, *parts: bytes) -> None:
        """One text message in several frames."""
        self.protocol.send_text(parts[0], fin=False)
        for part in parts[1:-1]:
            self.protocol.send_continuation(part, fin=False)
        self.protocol.send_continuation(parts[-1], fin=True)
        await self.flush()

    async def ping(self, payload: bytes) -> None:
        self.protocol.send_ping(payload)
        await self.flush()

    async def close(self, code: int | None = None, reason: str = "") -> None:
        self.protocol.send_close(code, reason)
        await self.flush()

    async def stop_sending(self) -> None:
        """Break off, with no close frame; it goes on reading."""
        assert isinstance(self._stream, trio.abc.HalfCloseableStream)
        await self._stream.send_eof()

    async def flush(self) -> None:
        """Write what the protocol has to say; nothing once the other side is gone."""
        for data in self.protocol.data_to_send():
            try:
                if data:
                    await self._stream.send_all(data)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return

    async def hear(self, *wanted: Opcode) -> Frame | None:
        """The next frame, of those opcodes if any are named; None at the end."""
        while True:
            for frame in self.heard:
                if not wanted or frame.opcode in wanted:
                    self.heard.remove(frame)
                    return frame
            try:
                data = await self._stream.receive_some(65536)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return None
            if not data:
                return None
            await self._feed(bytes(data))

    async def message(self) -> str | bytes | None:
        """The next message, whole; None at the end."""
        frame = await self.hear(Opcode.TEXT, Opcode.BINARY)
        if frame is None:
            return None
        data = bytes(frame.data)
        last = frame
        while not last.fin:
            more = await self.hear(Opcode.CONT)
            assert more is not None
            last = more
            data += bytes(last.data)
        return data.decode() if frame.opcode is Opcode.TEXT else data

    async def closing(self) -> tuple[int | None, str]:
        """The close frame that ends it: code (None: without one) and reason."""
        frame = await self.hear(Opcode.CLOSE)
        assert frame is not None, "the end came without a close frame"
        data = bytes(frame.data)
        return (int.from_bytes(data[:2]), data[2:].decode()) if data else (None, "")

    async def _feed(self, data: bytes) -> None:
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            assert isinstance(event, Frame)
            self.heard.append(event)
        if self._pongs:
            await self.flush()
        else:
            self.protocol.data_to_send()


async def call(stream: trio.abc.Stream, *subprotocols: str, pongs: bool = True) -> RfcPeer:
    """Be a client: ask for a WebSocket over ``stream``."""
    protocol = ClientProtocol(
        parse_uri("ws://there/path?query"),
        subprotocols=[Subprotocol(name) for name in subprotocols] or None,
        max_size=None,
    )
    protocol.send_request(protocol.connect())
    peer = RfcPeer(stream, protocol, pongs=pongs)
    await peer.flush()
    while protocol.state is State.CONNECTING:
        protocol.receive_data(bytes(await stream.receive_some(65536)))
        protocol.events_received()
    return peer


async def answer(stream: trio.abc.Stream, *subprotocols: str, pongs: bool = True) -> RfcPeer:
    """Be a server: accept the WebSocket that is asked for."""
    protocol = ServerProtocol(
        subprotocols=[Subprotocol(name) for name in subprotocols] or None, max_size=None
    )
    peer = RfcPeer(stream, protocol, pongs=pongs)
    requests: list[object] = []
    while not requests:
        protocol.receive_data(bytes(await stream.receive_some(65536)))
        requests = list(protocol.events_received())
    protocol.send_response(protocol.accept(requests[0]))  # type: ignore[arg-type]
    await peer.flush()
    return peer
