"""Bad handshakes and bad frames by the hundred: each is refused, and nobody else is disturbed.

The same bytes in every run: what fails can be seen again.
"""

from __future__ import annotations

import base64
import random
import socket
import struct

import pytest
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Response
from websockets.streams import StreamReader

from e2e.websocket.proxies import PATIENCE, Listening, ask

ROUNDS = 150
KEY = base64.b64encode(bytes(range(16))).decode()
HEAD = (
    "GET /mcp HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"
).encode()
ECHO = b'{"jsonrpc":"2.0","id":1,"method":"echo"}'


def exchange(port: int, data: bytes) -> bytes:
    """Send ``data``, say no more, and read to the end."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as peer:
        answer = b""
        try:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            while more := peer.recv(65536):
                answer += more
        except (ConnectionResetError, BrokenPipeError):
            pass  # it did not want to hear the rest
        return answer


def status_of(answer: bytes) -> int | None:
    """The status of a response; None without one."""
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else None


def frames_of(answer: bytes) -> list[Frame]:
    """The frames behind a response, all of them valid."""
    reader = StreamReader()
    reader.feed_data(answer)
    reader.feed_eof()
    response = Response.parse(reader.read_line, reader.read_exact, reader.read_to_eof, proxy=True)
    list_of: list[Frame] = []
    try:
        while True:
            next(response)
    except StopIteration:
        pass
    try:
        while True:
            parsing = Frame.parse(reader.read_exact, mask=False)
            try:
                next(parsing)
            except StopIteration as parsed:
                list_of.append(parsed.value)
    except EOFError:
        return list_of


def mutated(data: bytes, chance: random.Random) -> bytes:
    """``data`` with some bytes changed, lost or added."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(4):
            case 0 if at < len(changed):
                changed[at] = chance.randrange(256)
            case 1:
                changed[at:at] = chance.randbytes(chance.randint(1, 8))
            case 2:
                del changed[at : at + chance.randint(1, 20)]
            case _:
                changed[at:at] = chance.choice([b"\r\n", b"\0", b": ", b",", HEAD[:40], b"\xff"])
    return bytes(changed)


def is_handshake(data: bytes) -> bool:
    """Whether ``data``, which may be odd in other places, still asks for what we answer."""
    lines = data.split(b"\r\n\r\n")[0].lower()
    return all(word in lines for word in (b"websocket", b"upgrade", b"/mcp", b"13"))


@pytest.mark.parametrize("seed", range(2))
def test_handshakes(seed: int) -> None:
    chance = random.Random(seed)
    with Listening() as proxy, proxy.call() as steady:
        for n in range(ROUNDS):
            data = mutated(HEAD, chance)
            status = status_of(exchange(proxy.port, data))
            if status == 101:
                assert is_handshake(data), data
            else:
                assert status is None or 400 <= status < 500, data
            if n % 10 == 0:
                assert ask(steady, "echo", n=n) == {"n": n}
        assert ask(steady, "echo", still="here") == {"still": "here"}


def message(chance: random.Random) -> bytes:
    """A frame as a client sends it, then something wrong with it, or not."""
    opcode = chance.choice([Opcode.TEXT, Opcode.BINARY, Opcode.CONT, Opcode.PING, Opcode.CLOSE])
    payload = ECHO if opcode < Opcode.CLOSE else chance.randbytes(chance.randint(0, 125))
    fin = opcode >= Opcode.CLOSE or chance.random() < 0.8
    data = Frame(opcode, payload, fin=fin).serialize(mask=True)
    return mutated(data, chance) if chance.random() < 0.6 else data


@pytest.mark.parametrize("seed", range(2))
def test_frames(seed: int) -> None:
    chance = random.Random(seed)
    options = ("--max-message", "100000", "--admin-listen", "tcp://127.0.0.1:0")
    with Listening(*options) as proxy, proxy.call() as steady:
        for n in range(ROUNDS):
            sent = b"".join(message(chance) for _ in range(chance.randint(1, 4)))
            got = frames_of(exchange(proxy.port, HEAD + sent))
            for frame in got[:-1]:
                assert frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.PONG)
            if got and got[-1].opcode is Opcode.CLOSE:
                close = Close.parse(got[-1].data)
                assert close.code not in (1006, 1015)
            if n % 10 == 0:
                assert ask(steady, "echo", n=n) == {"n": n}
        proxy.said("summary", ROUNDS)
        _, page = proxy.get("/metrics", proxy.admin_port)
        assert "nevermind_sessions 1.0" in page
        assert "nevermind_connections_failed_total 0.0" in page, proxy.events("failed")


def test_a_message_of_nine_exabytes_costs_nothing() -> None:
    with Listening() as proxy:
        frame = b"\x82\xff" + struct.pack("!Q", 2**63 - 1) + b"mask" + b"x" * 1000
        got = frames_of(exchange(proxy.port, HEAD + frame))
        assert Close.parse(got[-1].data).code == 1009


def test_requests_that_never_end_keep_nobody_out() -> None:
    with Listening() as proxy:
        slow = [socket.create_connection(("127.0.0.1", proxy.port)) for _ in range(30)]
        for each in slow:
            each.sendall(HEAD[:-2])
        with proxy.call() as host:
            assert ask(host, "echo") == {}
        for each in slow:
            each.sendall(b"X: " + b"y" * 20_000)
            each.settimeout(PATIENCE)
            assert each.recv(12) in (b"HTTP/1.1 431", b"HTTP/1.1 400")
            each.close()
