"""What the tests of whole runs send, and the pieces of their servers."""

from __future__ import annotations

from proxy.shell.host import Host, line

PING = line(id=1, method="ping")
PONG = line(id=1, result={})
TRIO_AT_ONCE = "relay.BREAK = 0.001; relay.BOOT = 0.0"
TRIO_NEVER = "relay.BREAK = 1e6"
SAYS_PID = """
import os, sys, time
sys.stdout.write(f'{{"pid":{os.getpid()}}}\\n')
sys.stdout.flush()
"""


def pid_of(host: Host) -> int:
    """The pid that the server (or what it started) has told."""
    return int(host.reads_line().partition(b":")[2].rstrip(b"}\n"))
