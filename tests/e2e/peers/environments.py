"""Real peers, installed on demand: each set of packages once, in a folder of the cache.

Exact versions, so that what a peer does wrong today it does wrong tomorrow.  Several test
processes may ask for the same folder at the same time.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CACHE = Path(__file__).parents[3] / ".cache" / "peers"
PROGRAMS = Path(__file__).with_name("programs")
INSTALLING = 180
"""Seconds for one set of packages; ten times what it takes."""


class UnavailableError(Exception):
    """These peers cannot be had here; the text says why."""


_unavailable: dict[str, UnavailableError] = {}
"""What could not be installed in this run: a registry that is missing is asked once."""


@functools.cache
def python_with(*requirements: str) -> Path:
    """The folder of the programs of an environment of its own with these packages."""

    def install(folder: Path) -> None:
        run([sys.executable, "-m", "venv", str(folder)])
        pip = [str(folder / "bin" / "pip"), "--disable-pip-version-check", "--no-input"]
        run([*pip, "install", "--quiet", "--retries", "1", "--timeout", "15", *requirements])

    return folder_with(requirements, install) / "bin"


@functools.cache
def node_with(*packages: str) -> Path:
    """The folder in whose ``node_modules`` these packages are."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise UnavailableError("there is no node and npm here")

    def install(folder: Path) -> None:
        folder.mkdir(parents=True)
        quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        patience = ["--fetch-retries=1", "--fetch-timeout=15000"]
        run([npm, "install", *quiet, *patience, "--prefix", str(folder), *packages])

    return folder_with(packages, install)


@functools.cache
def node_program(program: str, *packages: str) -> list[str]:
    """The command that runs one of our programs with these packages at hand."""
    folder = node_with(*packages)
    # Node looks for packages beside the program, so it needs to stand there, in its present state.
    copy = folder / program
    fresh = folder / f".{program}.{os.getpid()}"
    fresh.write_bytes((PROGRAMS / program).read_bytes())
    fresh.replace(copy)
    return ["node", str(copy)]


def folder_with(packages: tuple[str, ...], install: Callable[[Path], None]) -> Path:
    """The folder in which ``install`` has put these packages, now or at an earlier time."""
    version = f"py{sys.version_info.major}.{sys.version_info.minor}"
    name = "+".join([version, *packages]).replace("/", "-").replace("=", "")
    folder, ready = CACHE / name, CACHE / f"{name}.ready"
    if name in _unavailable:
        raise _unavailable[name]
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            try:
                install(folder)
            except UnavailableError as error:
                _unavailable[name] = error
                raise
            ready.touch()
    return folder


def run(command: list[str]) -> None:
    """Run an installer; raises ``UnavailableError`` with its last words."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALLING
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{Path(command[0]).name} took over {error.timeout:.0f} s") from None
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise UnavailableError(f"{Path(command[0]).name} failed: {words[-1] if words else ''}")
