"""A server that does nothing of its own accord: a test steers it over a control socket.

Run as a child of the proxy:

    python scripted_server.py [--stays] [--ignores SIGNAL]... SOCKET [ARG...]

It reports every byte of its stdin, its end, and every signal, and writes, ends or starts a helper
when it is told.  Stands alone (standard library, no import of the harness), because the proxy
starts it with whatever environment the host had.

A message on the control socket is one line of JSON, and ``size`` bytes after it where the line
has that member.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import selectors
import signal
import socket
import subprocess
import sys
import threading
from typing import Any

CHUNK = 65_536
REPORTED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

HELPER = """
import os, signal, sys, time
for name in sys.argv[2:]:
    signal.signal(signal.Signals[name], signal.SIG_IGN)
os.write(int(sys.argv[1]), b".")
os.close(int(sys.argv[1]))
time.sleep(120)
"""


class ControlLink:
    """The socket to the test: commands in, reports out."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self._lock = threading.Lock()
        self._unread = bytearray()

    def report(self, event: str, data: bytes = b"", **members: object) -> None:
        line = json.dumps({"event": event, "size": len(data), **members}).encode() + b"\n"
        try:
            with self._lock:
                self.socket.sendall(line + data)
        except OSError:
            os._exit(99)  # The test is gone: nobody is left to steer us.

    def commands(self) -> list[tuple[dict[str, Any], bytes]]:
        """Read once; the commands that are whole by now."""
        data = self.socket.recv(CHUNK)
        if not data:
            os._exit(99)
        self._unread += data
        whole = []
        while (end := self._unread.find(b"\n")) >= 0:
            command = json.loads(self._unread[:end])
            stop = end + 1 + command.get("size", 0)
            if len(self._unread) < stop:
                break
            whole.append((command, bytes(self._unread[end + 1 : stop])))
            del self._unread[:stop]
        return whole


class Writer(threading.Thread):
    """Does what may block, in the order in which it was told."""

    def __init__(self, link: ControlLink) -> None:
        super().__init__(daemon=True)
        self._link = link
        self.work: queue.Queue[tuple[dict[str, Any], bytes]] = queue.Queue()

    def run(self) -> None:
        while True:
            command, data = self.work.get()
            self._do(command, data)
            self.work.task_done()

    def _do(self, command: dict[str, Any], data: bytes) -> None:
        match command["do"]:
            case "write":
                rest = memoryview(data)
                try:
                    while rest:
                        rest = rest[os.write(command["fd"], rest) :]
                except OSError as error:
                    self._link.report("write-failed", fd=command["fd"], error=str(error))
            case "close-stdout":
                os.close(1)
                self._link.report("closed-stdout")
            case "say-done":
                self._link.report("done", blocking=[os.get_blocking(fd) for fd in (0, 1, 2)])
            case "exit":
                os._exit(command["code"])
            case "die":
                # A reported signal goes through the main loop, any other one takes us at once.
                os.kill(os.getpid(), signal.Signals[command["signal"]])
            case "helper":
                helper = start_helper(command["ignores"], holds_pipe=command["holds_pipe"])
                self._link.report("helper", pid=helper)
            case "orphan":
                line = "sleep 0.2 >/dev/null & echo $!"
                shell = subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE, text=True)
                self._link.report("orphan", pid=int(shell.stdout))


def start_helper(ignores: list[str], *, holds_pipe: bool) -> int:
    """Start a process that nobody tells to end; return its id once it ignores the signals."""
    ready, tell = os.pipe()
    helper = subprocess.Popen(
        [sys.executable, "-c", HELPER, str(tell), *ignores],
        pass_fds=[tell],
        stdin=subprocess.DEVNULL,
        stdout=None if holds_pipe else subprocess.DEVNULL,
    )
    os.close(tell)
    os.read(ready, 1)
    os.close(ready)
    return helper.pid


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("--stays", action="store_true", help="live on after the end of stdin")
    parser.add_argument("--ignores", action="append", default=[], metavar="SIGNAL")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    ignored = {signal.Signals[name] for name in options.ignores}

    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    for number in REPORTED:
        signal.signal(number, lambda *_: None)

    link = ControlLink(options.socket)
    writer = Writer(link)
    writer.start()
    link.report(
        "hello",
        pid=os.getpid(),
        parent=os.getppid(),
        group=os.getpgrp(),
        session=os.getsid(0),
        arguments=options.arguments,
        folder=os.getcwd(),
        environment=dict(os.environ),
    )

    ready = selectors.DefaultSelector()
    ready.register(0, selectors.EVENT_READ)
    ready.register(link.socket, selectors.EVENT_READ)
    ready.register(wake, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is wake:
                for value in wake.recv(64):
                    number = signal.Signals(value)
                    link.report("signal", name=number.name)
                    if number not in ignored:
                        signal.signal(number, signal.SIG_DFL)
                        os.kill(os.getpid(), number)
            elif key.fileobj is link.socket:
                for command, data in link.commands():
                    match command["do"]:
                        case "pause":
                            if 0 in ready.get_map():
                                ready.unregister(0)
                            link.report("paused")
                        case "resume":
                            ready.register(0, selectors.EVENT_READ)
                        case _:
                            writer.work.put((command, data))
            elif data := os.read(0, CHUNK):
                link.report("stdin", data)
            else:
                link.report("stdin-end")
                ready.unregister(0)
                if not options.stays:
                    writer.work.put(({"do": "exit", "code": 0}, b""))


if __name__ == "__main__":
    main()
