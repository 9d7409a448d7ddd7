"""A server that answers each request with what it was asked, and does a few things on demand.

Methods: ``echo`` (its params), ``who`` (pid, session, process group, arguments, working
directory), ``exit`` (code), ``flood`` (count notifications, then the answer), ``helper``
(starts one in its group; its pid), ``close`` (its stdout), ``stall`` (reads no more).
Anything else, like a notification, is not answered.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any


def say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def read(line: bytes) -> dict[str, Any]:
    """The message in ``line``; an empty one if there is none."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def main() -> None:
    if "--ignore-term" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin.buffer:
        message = read(line)
        params: Any = message.get("params")
        result: object = params
        match message.get("method"):
            case "echo":
                pass
            case "who":
                result = {
                    "pid": os.getpid(),
                    "session": os.getsid(0),
                    "group": os.getpgrp(),
                    "arguments": sys.argv[1:],
                    "folder": os.getcwd(),
                }
            case "exit":
                os._exit(params["code"])
            case "flood":
                for n in range(params["count"]):
                    say({"jsonrpc": "2.0", "method": "notifications/message", "params": n})
                result = "done"
            case "helper":
                helper = subprocess.Popen(
                    [sys.executable, "-c", "import time; time.sleep(600)"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
                result = helper.pid
            case "close":
                os.close(1)
                continue
            case "stall":
                time.sleep(600)
            case _:
                continue
        say({"jsonrpc": "2.0", "id": message.get("id"), "result": result})
    if "--stay" in sys.argv:
        time.sleep(600)


main()
