"""How fast messages pass from a WebSocket to a server process and back.

    python tests/bench/websocket.py [--rounds 7] [--supergateway "npx supergateway@4.0.0"]
    python tests/bench/websocket.py --idle 500

Compared, in interleaved rounds: ``nevermind run --listen``; the least relay that
trio-websocket allows (``websocket_relay.py``); supergateway, where it is named.  The server is
``echo.c``, the client below.  On a busy machine the CPU that a relay uses tells more than rates.
Every figure is a median, every ratio the median of the ratios within one round.  Needs ``cc``.

With ``--idle``, how much memory so many idle connections take: each has ``cat`` for a server,
which is not counted, and is asked once, so that nothing in it is still to be made.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
NEVERMIND = Path(sys.executable).with_name("nevermind")
_ADDRESS = re.compile(rb"ws://127\.0\.0\.1:(\d+)(/\S*?)(?=[;\s]|$)")

MODES = {
    "lat": (200, 3000, 1),
    "thr": (200, 20_000, 64),
    "mb1": (1_000_000, 60, 4),
}
"""Bytes of an answer, messages, and how many are on their way at once."""


class Run(NamedTuple):
    """Messages a second, and seconds of the relay's CPU for each."""

    rate: float
    cpu: float


class Client:
    """A WebSocket that spends as little as it can: it masks with zeros and reads headers only."""

    def __init__(self, port: int, path: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request = (
            f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        self._socket.sendall(request.encode())
        self._data = bytearray()
        while b"\r\n\r\n" not in self._data:
            self._more()
        assert self._data.startswith(b"HTTP/1.1 101"), bytes(self._data)
        del self._data[: self._data.index(b"\r\n\r\n") + 4]

    def _more(self) -> None:
        data = self._socket.recv(1 << 20)
        if not data:
            raise EOFError
        self._data += data

    def send(self, *bodies: bytes) -> None:
        frames = []
        for body in bodies:
            length = (
                bytes([0x80 | len(body)])
                if len(body) < 126
                else struct.pack("!BH", 0xFE, len(body))
                if len(body) < 65536
                else struct.pack("!BQ", 0xFF, len(body))
            )
            frames.append(b"\x81" + length + bytes(4) + body)
        self._socket.sendall(b"".join(frames))

    def receive(self) -> int:
        """Wait for at least one message; how many came, whole ones."""
        count = at = 0
        while True:
            data = self._data
            while len(data) >= at + 2:
                short = data[at + 1] & 127
                start = at + 2 + {126: 2, 127: 8}.get(short, 0)
                if len(data) < start:
                    break
                size = int.from_bytes(data[at + 2 : start]) if start > at + 2 else short
                if len(data) < start + size:
                    break
                count += data[at] & 0x0F in (0, 1, 2)
                at = start + size
            if count:
                del data[:at]
                return count
            self._more()

    def close(self) -> None:
        self._socket.close()


def ask(n: int) -> bytes:
    body = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"fill":"' % n
    return body.ljust(197, b"x") + b'"}}'


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def messages_per_second(port: int, path: str, count: int, window: int) -> float:
    client = Client(port, path)
    try:
        client.send(ask(0))
        client.receive()
        sent = received = 0
        began = time.perf_counter()
        while received < count:
            room = min(window - (sent - received), count - sent)
            if room:
                client.send(*[ask(1 + sent + i) for i in range(room)])
                sent += room
            received += client.receive()
        return count / (time.perf_counter() - began)
    finally:
        client.close()


@contextmanager
def started(
    command: list[str], port: int | None = None, path: str = "/"
) -> Iterator[tuple[int, str, int]]:
    """A relay; it says its port unless it is told one."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        try:
            while port is None and (line := process.stdout.readline()):
                if match := _ADDRESS.search(line):
                    port, path = int(match[1]), match[2].decode()
            assert port is not None
            until = time.monotonic() + 30
            while time.monotonic() < until:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield port, path, process.pid
        finally:
            process.kill()
            process.stdout.close()


def resident(pid: int) -> int:
    """KiB that are this process's own, once they stay the same."""
    last = -1
    while True:
        fields = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
        own = sum(int(fields[fields.index(f"Private_{kind}:") + 1]) for kind in ("Clean", "Dirty"))
        if own == last:
            return own
        last = own
        time.sleep(1)


def measure_idle(count: int) -> None:
    def connected() -> Client:
        host = Client(port, path)
        host.send(ask(1))
        assert host.receive() == 1
        return host

    command = [str(NEVERMIND), "run", "--max-connections", str(count + 1)]
    with started([*command, "--listen", "ws://127.0.0.1:0/", "--", "cat"]) as (port, path, pid):
        hosts = [connected()]
        before = resident(pid)
        hosts += [connected() for _ in range(count)]
        after = resident(pid)
        for host in hosts:
            host.close()
    each = (after - before) / count
    print(f"idle {count} connections: {before} KiB before, {after} KiB after; {each:.0f} KiB each")


def relays(echo: list[str], supergateway: str | None) -> dict[str, tuple[list[str], int | None]]:
    found: dict[str, tuple[list[str], int | None]] = {
        "nevermind": (
            [str(NEVERMIND), "run", "--listen", "ws://127.0.0.1:0/", "--", *echo],
            None,
        ),
        "trio-websocket": ([sys.executable, str(HERE / "websocket_relay.py"), *echo], None),
    }
    if supergateway:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = ["--stdio", shlex.join(echo), "--outputTransport", "ws", "--port", str(port)]
        found["supergateway"] = (
            [*shlex.split(supergateway), *words, "--messagePath", "/", "--logLevel", "none"],
            port,
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--supergateway", help="the command that starts it")
    parser.add_argument("--idle", type=int, metavar="COUNT")
    asked = parser.parse_args()
    if asked.idle:
        measure_idle(asked.idle)
        return
    compiler = shutil.which("cc") or sys.exit("no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "echo")
        subprocess.run([compiler, "-O2", "-w", "-o", program, str(HERE / "echo.c")], check=True)
        for mode in asked.modes.split(","):
            size, count, window = MODES[mode]
            rounds: list[dict[str, Run]] = []
            for _ in range(asked.rounds):
                runs = {}
                for name, (command, port) in relays(
                    [program, "-r", str(size)], asked.supergateway
                ).items():
                    with started(command, port) as (at, path, pid):
                        before = cpu_seconds(pid)
                        rate = messages_per_second(at, path, count, window)
                        runs[name] = Run(rate, (cpu_seconds(pid) - before) / count)
                rounds.append(runs)
            show(mode, size, rounds)


def show(mode: str, size: int, rounds: list[dict[str, Run]]) -> None:
    for name in rounds[0]:
        rate = statistics.median(each[name].rate for each in rounds)
        cpu = statistics.median(each[name].cpu for each in rounds)
        faster = statistics.median(each["nevermind"].rate / each[name].rate for each in rounds)
        dearer = statistics.median(each["nevermind"].cpu / each[name].cpu for each in rounds)
        amount = f"{rate * size / 1e6:8.1f} MB/s" if size > 1000 else f"{rate:8.0f} /s  "
        print(
            f"{mode:4} {name:16} {amount} {cpu * 1e6:7.0f} us of CPU each;"
            f" nevermind: {faster:.2f} of its rate, {dearer:.2f} of its CPU"
        )


if __name__ == "__main__":
    main()
