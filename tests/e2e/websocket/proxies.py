"""The real command, listening or connecting, and what it says on stderr.

Peers are of another make: the ``websockets`` library, plain sockets, ``http.client``.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

from e2e.harness.journal import read_events
from e2e.harness.proxy_command import nevermind

PATIENCE = 20.0
"""Seconds that anything may take on a busy machine."""

ANSWERING = (sys.executable, str(Path(__file__).with_name("programs") / "answering_server.py"))


class Proxy:
    """One ``nevermind run``, with its log as JSON."""

    def __init__(
        self, *words: str, environment: dict[str, str] | None = None, stdin: int | None = None
    ) -> None:
        self.log = b""
        self._grew = threading.Condition()
        self.process = subprocess.Popen(
            [*nevermind().words, "--log-format", "json", *words],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | (environment or {}),
        )
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        while data := os.read(self.process.stderr.fileno(), 65536):
            with self._grew:
                self.log += data
                self._grew.notify_all()
        with self._grew:
            self.process.stderr.close()
            self._grew.notify_all()

    def events(self, event: str) -> list[dict[str, Any]]:
        return [found for found in read_events(self.log) if found["event"] == event]

    def said(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until ``event`` has been said so often."""
        with self._grew:
            in_time = self._grew.wait_for(lambda: len(self.events(event)) >= count, PATIENCE)
        assert in_time, f"{event} was not said {count} times:\n{self.log.decode()}"
        return self.events(event)

    def ends(self) -> int:
        """Wait for its end; the exit code."""
        code = self.process.wait(PATIENCE)
        self._reading.join(PATIENCE)
        return code

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.ends()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reading.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stdin):
            if stream is not None:
                stream.close()


class Listening(Proxy):
    """One that listens; use it as a context manager, which checks that it is not hurt."""

    def __init__(
        self,
        *options: str,
        at: str = "ws://127.0.0.1:0/mcp",
        server: tuple[str, ...] | None = ANSWERING,
        environment: dict[str, str] | None = None,
    ) -> None:
        command = ("--", *server) if server else ()
        super().__init__("--listen", at, *options, *command, environment=environment)
        self.scheme = at.partition(":")[0]
        self.address = self._address(ready=True)

    def _address(self, *, ready: bool) -> str:
        with self._grew:
            self._grew.wait_for(
                lambda: self._found(ready) or self.process.poll() is not None, PATIENCE
            )
        found = self._found(ready)
        assert found, f"it does not listen:\n{self.log.decode()}"
        return str(found[0]["address"])

    def _found(self, ready: bool) -> list[dict[str, Any]]:
        return [event for event in self.events("listening") if (event["why"] == "ready") is ready]

    @property
    def port(self) -> int:
        return int(self.events("listening")[-1]["port"])

    @property
    def admin_port(self) -> int:
        self._address(ready=False)
        return int(self._found(False)[0]["port"])

    def call(self, **how: Any) -> AbstractContextManager[ClientConnection]:
        """Connect as the ``websockets`` library does."""
        how = {"max_size": None, "compression": None, "open_timeout": PATIENCE, **how}
        connecting: AbstractContextManager[ClientConnection] = connect(
            how.pop("url", self.address), **how
        )
        return connecting

    def get(self, path: str, port: int | None = None, **fields: str) -> tuple[int, str]:
        """Status and body of a plain request."""
        status, body, _ = self.request("GET", path, port, **fields)
        return status, body

    def request(
        self, method: str, path: str, port: int | None = None, **fields: str
    ) -> tuple[int, str, dict[str, str]]:
        asking = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE)
        try:
            headers = {name.replace("_", "-"): value for name, value in fields.items()}
            asking.request(method, path, headers=headers)
            answer = asking.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())
        finally:
            asking.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()
        if error is None:
            assert b"Traceback" not in self.log, self.log.decode()
            assert not self.events("failed"), self.log.decode()


def ask(peer: ClientConnection, method: str, id: int = 1, **params: object) -> Any:
    """Ask and wait for the answer; its result."""
    peer.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    while (answer := json.loads(peer.recv(timeout=PATIENCE))).get("id") != id:
        pass
    return answer["result"]


def is_alive(pid: int) -> bool:
    """Whether that process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] not in b"ZX"


def gone(pid: int) -> bool:
    """Wait for the end of a process that is not ours."""
    until = time.monotonic() + PATIENCE
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_alive(pid)


@contextmanager
def connecting(*words: str, **how: Any) -> Iterator[Proxy]:
    """One that connects; its stdin is a pipe of ours."""
    proxy = Proxy(*words, stdin=subprocess.PIPE, **how)
    try:
        yield proxy
        assert b"Traceback" not in proxy.log
    finally:
        proxy.close()
