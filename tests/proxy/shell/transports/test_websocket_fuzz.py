"""Damaged handshakes and frames: a peer of another make says what is to become of each.

``e2e/websocket/test_fuzz`` does the like with the whole proxy and sees that nobody else is hurt.
"""

from __future__ import annotations

import codecs
import random

import pytest
import trio
import trio.testing
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidMessage
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Protocol, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from nevermind.messages import Message
from nevermind.shell.transports.transport import ConnectionLost, Goodbye
from nevermind.shell.transports.websocket import HandshakeFailed
from proxy.shell.transports.opened_websocket import LIMIT, NO_PINGS, both_roles, connect, opened

URI = parse_uri("ws://there/path?query")
MCP = [Subprotocol("mcp")]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """``data`` with bytes or lines changed, added, left out, said twice."""
    at = chance.randrange(len(data))
    match chance.randrange(5):
        case 0:
            return data[:at] + chance.randbytes(1) + data[at + 1 :]
        case 1:
            return data[:at] + chance.randbytes(chance.randint(1, 4)) + data[at:]
        case 2:
            return data[:at] + data[at + chance.randint(1, 8) :]
    lines = data.split(b"\r\n")
    line = chance.randrange(len(lines))
    if chance.random() < 0.5:
        return b"\r\n".join(lines[:line] + lines[line + 1 :])
    return b"\r\n".join([*lines[:line], chance.choice(lines), *lines[line:]])


class Judge:
    """What another client makes of a response to our request."""

    def __init__(self, key: str, response: bytes) -> None:
        client = ClientProtocol(URI, subprotocols=MCP)
        asking = client.connect()
        client.key = key
        client.send_request(asking)
        client.receive_data(response)
        client.receive_eof()
        client.events_received()
        self.accepts = client.handshake_exc is None and client.state is not State.CONNECTING
        # it is stricter with what does not matter: words behind the status, odd values
        self.may_accept = self.accepts or isinstance(client.handshake_exc, InvalidMessage)


@pytest.mark.parametrize("seed", range(300))
async def test_a_damaged_response_opens_nothing(
    seed: int, autojump_clock: trio.testing.MockClock
) -> None:
    chance = random.Random(seed)
    here, there = trio.testing.memory_stream_pair()
    judges: list[Judge] = []

    async def answer() -> None:
        server = ServerProtocol(subprotocols=MCP)
        requests: list[object] = []
        while not requests:
            server.receive_data(bytes(await there.receive_some(65536)))
            requests = list(server.events_received())
        request = requests[0]
        response = server.accept(request).serialize()  # type: ignore[arg-type]
        for _ in range(chance.randint(1, 3)):
            response = damaged(response, chance)
        key = request.headers["Sec-WebSocket-Key"]  # type: ignore[attr-defined]
        judges.append(Judge(key, response))
        await there.send_all(response)
        await there.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        try:
            transport = await connect(nursery, here, NO_PINGS)
        except HandshakeFailed:
            assert not judges[0].accepts
        else:
            assert judges[0].may_accept
            assert transport.subprotocol in ("mcp", None)
        nursery.cancel_scope.cancel()


def sequence(chance: random.Random, *, mask: bool) -> bytes:
    """A few frames, of which some are damaged."""
    sent = b""
    for _ in range(chance.randint(1, 6)):
        opcode = chance.choice([Opcode.TEXT] * 3 + [Opcode.BINARY, Opcode.CONT, *list(Opcode)])
        payload = chance.choice([b"{}", "é€😀".encode(), b"", b"x" * 130, b"y" * 70_000, b"\xc3"])
        if opcode is Opcode.CLOSE:
            payload = chance.choice([b"", b"\x03\xe8bye", b"\x03\xed", b"x", b"\x0f\xa0\xc3\xa9"])
        elif opcode in (Opcode.PING, Opcode.PONG):
            payload = payload[:125]
        whole = opcode >= Opcode.CLOSE or chance.random() < 0.75
        frame = Frame(opcode, payload, fin=whole).serialize(mask=mask)
        sent += damaged(frame, chance) if chance.random() < 0.25 else frame
    return sent


def in_role(role: str) -> Protocol:
    """An open connection's end, of another make."""
    client, server = ClientProtocol(URI, max_size=LIMIT), ServerProtocol(max_size=LIMIT)
    client.send_request(client.connect())
    server.receive_data(b"".join(client.data_to_send()))
    server.send_response(server.accept(server.events_received()[0]))  # type: ignore[arg-type]
    client.receive_data(b"".join(server.data_to_send()))
    client.events_received()
    return client if role == "client" else server


def judged(role: str, sent: bytes) -> tuple[list[Message], int | None]:
    """The messages in ``sent``, and how they end: the peer's code, or None where it breaks off."""
    protocol = in_role(role)
    protocol.receive_data(sent)
    messages: list[Message] = []
    text, body = False, b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for frame in protocol.events_received():
        assert isinstance(frame, Frame)
        if frame.opcode >= Opcode.CLOSE:
            continue
        if frame.opcode is not Opcode.CONT:
            text, body = frame.opcode is Opcode.TEXT, b""
            decoder.reset()
        body += bytes(frame.data)
        try:
            if text:
                decoder.decode(bytes(frame.data), frame.fin)
        except UnicodeDecodeError:
            return messages, None
        if frame.fin:
            messages.append(Message(body, text))
    close = protocol.close_rcvd
    return messages, None if close is None else close.code


@both_roles
@pytest.mark.parametrize("seed", range(150))
async def test_damaged_frames_say_what_they_say_to_others(
    role: str, seed: int, autojump_clock: trio.testing.MockClock
) -> None:
    chance = random.Random(seed)
    sent = sequence(chance, mask=role == "server")
    got: list[Message] = []
    end: int | None = None
    broken: int | None = None
    async with opened(role) as (ours, peer):
        at = 0
        while at < len(sent):
            size = chance.choice([1, 7, 200, len(sent)])
            await peer.raw(sent[at : at + size])
            at += size
        await peer.stop_sending()
        try:
            while (message := await ours.receive()) is not None:
                got.append(message)
        except ConnectionLost as lost:
            broken = lost.goodbye.code
        else:
            end = ours.transport.goodbye.code or CloseCode.NO_STATUS_RCVD
        await ours.close(Goodbye())
    assert (got, end) == judged(role, sent)
    assert broken in ((1002, 1007, 1009, 1011) if end is None else (None,))
