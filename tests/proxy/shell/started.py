"""Starts a server in a process of its own and tells what it found there."""

from __future__ import annotations

import textwrap
from typing import Any

from proxy.shell.in_process import told

START = """
    import json, os, signal, sys
    from nevermind.shell.spawn import CannotStart, start
"""
SAYS = """
    server = start([sys.executable, "-c", sys.argv[1]])
    os.set_blocking(server.stdout, True)
    said = b""
    while data := os.read(server.stdout, 65536):
        said += data
    os.waitpid(server.pid, 0)
    sys.stdout.write(said.decode())
"""


def server_says(script: str, before: str = "", **options: Any) -> Any:
    """Start a server that runs ``script``; what it printed, as JSON."""
    prepared = textwrap.dedent(START) + textwrap.dedent(before) + textwrap.dedent(SAYS)
    return told(prepared, textwrap.dedent(script), **options)
