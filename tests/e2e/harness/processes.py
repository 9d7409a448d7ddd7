"""What the kernel says about a process."""

from __future__ import annotations

import os
from pathlib import Path


def is_gone(pid: int) -> bool:
    """Whether the process has ended; one that nobody has waited for yet has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return Path("/proc/self").exists() or not is_there(pid)
    return stat.rpartition(")")[2].split()[0] in "ZX"


def resident_mib(pid: int) -> float:
    """Memory that the process has in use, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"process {pid} has no memory: it is a zombie")


def is_there(pid: int) -> bool:
    """Whether the kernel knows the process, if only as one that nobody has waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
