"""The command as its users have it: a process, its words, what it printed and its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MODULE = (sys.executable, "-m", "nevermind_cli")
SCRIPT = (str(Path(sys.executable).with_name("nevermind")),)


def nevermind(
    *words: str,
    sent: str = "",
    command: tuple[str, ...] = MODULE,
    cwd: Path | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run ``command`` with these words to its end; it reads ``sent``."""
    return subprocess.run(
        [*command, *words],
        input=sent,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
