"""An MCP server that reports progress once in a call, and answers only when that is cancelled.

    python late_server.py

The tool ``result`` answers with a result, ``error`` with an error, and ``silent`` never; ``settle``
answers at once.  By hand rather than with an SDK: python-sdk 1.x trips over an answer after a
cancel, and 2.x gives none.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    calls: dict[object, str] = {}
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                info = {"name": "late", "version": "1"}
                version = params["protocolVersion"]
                told = {"protocolVersion": version, "capabilities": {"tools": {}}}
                answer(message["id"], result={**told, "serverInfo": info})
            case "tools/call" if params["name"] == "settle":
                answer(message["id"], result=text("settled"))
            case "tools/call":
                calls[message["id"]] = params["name"]
                token = params.get("_meta", {}).get("progressToken")
                if token is not None:
                    first_sign = {"progressToken": token, "progress": 0.0}
                    say({"method": "notifications/progress", "params": first_sign})
            case "notifications/cancelled":
                how = calls.pop(params["requestId"], None)
                if how == "result":
                    answer(params["requestId"], result=text("done all the same"))
                elif how == "error":
                    failure = {"code": -32603, "message": "stopped half-way"}
                    answer(params["requestId"], error=failure)
            case "ping" | "tools/list":
                answer(message["id"], result={"tools": []} if "list" in line else {})


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


def answer(number: object, **outcome: object) -> None:
    say({"id": number, **outcome})


def say(message: dict[str, object]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    main()
