"""The test's end of the scripted server's control socket."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from e2e.harness.pump import Channel, Inbox, Pump


class ServerLink:
    """Steers the scripted server and keeps what it reports."""

    def __init__(self, path: str, pump: Pump) -> None:
        self._pump = pump
        self._unread = bytearray()
        self._channel: Channel | None = None
        self._untold: list[bytes] = []
        self.inbox = Inbox()
        """What has reached the server's stdin."""
        self.hello: dict[str, Any] | None = None
        self.signals: list[str] = []
        self.helpers: list[int] = []
        self.reports: list[dict[str, Any]] = []
        self.is_cut = False
        """The server's process is gone, as far as its socket tells."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        self._listener = listener
        # A connection that waits makes the listener readable; reading it fails, accepting does not.
        self._accepting = pump.channel(os.dup(listener.fileno()), lambda _: None, self._accept)

    def tell(self, do: str, data: bytes = b"", **members: object) -> None:
        """Have the server do something; before it has started, as soon as it has."""
        line = json.dumps({"do": do, "size": len(data), **members}).encode() + b"\n"
        if self._channel is None:
            self._untold += [line, data]
        else:
            self._channel.send(line)
            self._channel.send(data)

    def write(self, fd: int, data: bytes) -> None:
        """Have the server write ``data`` to its stdout (1) or stderr (2)."""
        self.tell("write", data, fd=fd)

    def saw(self, event: str) -> bool:
        """Whether the server has reported ``event``."""
        return self.count(event) > 0

    def count(self, event: str) -> int:
        """How often the server has reported ``event``."""
        return sum(report["event"] == event for report in self.reports)

    def last(self, event: str) -> dict[str, Any]:
        """The newest report of ``event``."""
        return next(report for report in reversed(self.reports) if report["event"] == event)

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        self._listener.close()
        self._accepting.abandon()
        self._channel = self._pump.channel(connection.detach(), self._feed, self._cut)
        for data in self._untold:
            self._channel.send(data)

    def _cut(self) -> None:
        self.is_cut = True

    def _feed(self, data: bytes) -> None:
        self._unread += data
        while (end := self._unread.find(b"\n")) >= 0:
            report = json.loads(self._unread[:end])
            stop = end + 1 + report["size"]
            if len(self._unread) < stop:
                return
            body = bytes(self._unread[end + 1 : stop])
            del self._unread[:stop]
            self._take(report, body)

    def _take(self, report: dict[str, Any], body: bytes) -> None:
        self.reports.append(report)
        match report["event"]:
            case "hello":
                self.hello = report
            case "stdin":
                self.inbox.feed(body)
            case "stdin-end":
                self.inbox.end()
            case "signal":
                self.signals.append(report["name"])
            case "helper":
                self.helpers.append(report["pid"])
