"""An editor's end of a language server: requests, edits, cancels, and what came of them.

Speaks the Language Server Protocol on its own (nothing of the proxy's is used), and keeps every
byte that it wrote and read.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

Message = dict[str, Any]

PATIENCE = 60.0
"""Seconds that an answer may take on a busy machine; only a failing test waits that long."""


def frame(message: Message) -> bytes:
    """A message with its header."""
    body = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def cancel(id: int) -> Message:
    """The notification that gives up the request ``id``."""
    return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}


@dataclass
class LanguageClient:
    """Use as a context manager: leaving it ends the server if the test has not.

    ``wrote`` are the messages in the order in which they went out, ``read`` the bytes that came.
    ``settings`` answers the server's ``workspace/configuration``.
    """

    command: list[str]
    folder: str
    settings: Any = None
    wrote: list[Message] = field(default_factory=list)
    read: bytearray = field(default_factory=bytearray)
    answers: dict[int, list[Message]] = field(default_factory=dict)
    notifications: list[Message] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.server = subprocess.Popen(
            self.command,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.stderr = bytearray()
        self._count = 0
        self._came: queue.Queue[Message | None] = queue.Queue()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=step) for step in (self._read, self._read_stderr)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.server.kill()
        self.server.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.server.stdin, self.server.stdout, self.server.stderr):
            assert pipe is not None
            pipe.close()
        if error is not None:
            error.add_note(f"stderr: {self.stderr[-2000:].decode(errors='replace')}")

    # ------------------------------------------------------------------ what is said

    def ask(self, method: str, params: object = None) -> int:
        """Send a request; its id."""
        number, message = self.request(method, params)
        self.send(message)
        return number

    def request(self, method: str, params: object = None) -> tuple[int, Message]:
        """A request that is not sent yet, and its id."""
        self._count += 1
        message: Message = {"jsonrpc": "2.0", "id": self._count, "method": method}
        if params is not None:
            message["params"] = params
        return self._count, message

    def tell(self, method: str, params: object = None) -> None:
        """Send a notification."""
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def send(self, *messages: Message) -> None:
        """Send these, all in one write."""
        assert self.server.stdin is not None
        with self._lock:
            self.wrote += messages
            data = b"".join(map(frame, messages))
            while data:
                data = data[self.server.stdin.write(data) :]

    # ------------------------------------------------------------------ what comes

    def answer_to(self, id: int) -> Message:
        """Wait for the first answer to the request ``id``."""
        while id not in self.answers:
            self._take()
        return self.answers[id][0]

    def result_of(self, method: str, params: object = None) -> Any:
        """Ask, and wait for the result."""
        answer = self.answer_to(self.ask(method, params))
        assert "result" in answer, answer
        return answer["result"]

    def hears(self, method: str) -> Message:
        """Wait for a notification."""
        while True:
            for message in self.notifications:
                if message["method"] == method:
                    return message
            self._take()

    def end(self) -> int:
        """Say goodbye as the protocol has it; the exit code."""
        assert self.result_of("shutdown") is None
        self.tell("exit")
        code = self.server.wait(PATIENCE)
        while (message := self._came.get(timeout=PATIENCE)) is not None:
            self._sort(message)
        return code

    def _take(self) -> None:
        message = self._came.get(timeout=PATIENCE)
        assert message is not None, "the server has closed its output"
        self._sort(message)

    def _sort(self, message: Message) -> None:
        if "method" not in message:
            self.answers.setdefault(message["id"], []).append(message)
        elif "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message)})
        else:
            self.notifications.append(message)

    def _answer(self, message: Message) -> Any:
        if message["method"] == "workspace/configuration":
            return [self.settings for _ in message["params"]["items"]]
        return None

    def _read(self) -> None:
        assert self.server.stdout is not None
        rest = b""
        while data := self.server.stdout.read(65_536):
            self.read += data
            rest += data
            while True:
                header, blank, body = rest.partition(b"\r\n\r\n")
                fields = dict(line.lower().split(b":", 1) for line in header.split(b"\r\n") if line)
                if not blank or len(body) < (size := int(fields[b"content-length"])):
                    break
                self._came.put(json.loads(body[:size]))
                rest = body[size:]
        self._came.put(None)

    def _read_stderr(self) -> None:
        assert self.server.stderr is not None
        while data := self.server.stderr.read(65_536):
            self.stderr += data
