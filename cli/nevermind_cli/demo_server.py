"""A small MCP server that does to a cancelled call what real ones do.

It answers the call all the same, with an error of code 0 and again with a
result (servers built on python-sdk 1.x), sends its progress to the end, and
dies on a second cancel (the same servers, when the call was shielded).
Standard library only; runs as ``python -m nevermind_cli.demo_server``.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

PAUSE = 0.15
"""Seconds between messages about a cancelled call, so that they can be watched."""

STEPS = 4
"""Progress notifications of one call; the first comes at once."""


class Server:
    """The state of the server: which calls it works on, which were cancelled."""

    def __init__(self) -> None:
        self._tokens: dict[int, int] = {}
        self._cancelled: set[int] = set()

    def receive(self, message: dict[str, Any]) -> None:
        """Do what ``message`` asks for, and what nobody asked for."""
        params = message.get("params", {})
        match message:
            case {"method": "initialize", "id": asked}:
                result = {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "misbehaving", "version": "1"},
                }
                self._answer(asked, result=result)
            case {"method": "tools/call", "id": asked}:
                self._tokens[asked] = params["_meta"]["progressToken"]
                self._progress(asked, 1)
            case {"method": "tools/list", "id": asked}:
                self._answer(asked, result={"tools": []})
            case {"method": "ping", "id": asked}:
                self._answer(asked, result={})
            case {"method": "notifications/cancelled"}:
                self._cancel(params["requestId"])

    def _cancel(self, id: int) -> None:
        if id in self._cancelled:
            raise SystemExit(f"request {id} has been responded to already")
        self._cancelled.add(id)
        self._answer(id, error={"code": 0, "message": "Request cancelled"})
        for step in range(2, STEPS + 1):
            time.sleep(PAUSE)
            self._progress(id, step)
        time.sleep(PAUSE)
        self._answer(id, result={"content": [{"type": "text", "text": "done"}]})

    def _progress(self, id: int, step: int) -> None:
        params = {"progressToken": self._tokens[id], "progress": step, "total": STEPS}
        self._send({"method": "notifications/progress", "params": params})

    def _answer(self, id: int, **outcome: dict[str, Any]) -> None:
        self._send({"id": id, **outcome})

    def _send(self, members: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **members}) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Serve whoever is at stdin until they go."""
    server = Server()
    for line in sys.stdin:
        server.receive(json.loads(line))


if __name__ == "__main__":
    main()
