"""Runs a few lines of Python in a process of their own: what forks or owns signals."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any, cast


def python(script: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run ``script`` to its end and return what it did; it sees ``arguments`` in argv."""
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    options = {"stdin": subprocess.DEVNULL, "timeout": 60} | options
    done = subprocess.run(command, capture_output=True, check=False, **options)
    return cast("subprocess.CompletedProcess[bytes]", done)


def told(script: str, *arguments: str, **options: Any) -> Any:
    """Run ``script`` and return what it printed, which must be one JSON value."""
    done = python(script, *arguments, **options)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)
