"""WebSocket code is imported only when a WebSocket is asked for, and by one file only."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROXY = Path(__file__).parents[3] / "proxy" / "nevermind"
FOREIGN = ("trio_websocket", "wsproto")


def imported_by(code: str) -> set[str]:
    """The foreign packages that are loaded after ``code``."""
    program = f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split()) & {*FOREIGN, "h11", "prometheus_client"}


@pytest.mark.parametrize("package", FOREIGN)
def test_all_of_it_is_in_one_file(package: str) -> None:
    using = re.compile(rf"^\s*(?:import|from) {package}\b", re.MULTILINE)
    files = [path.name for path in PROXY.rglob("*.py") if using.search(path.read_text())]
    assert files == ["websocket.py"]


@pytest.mark.parametrize(
    "module",
    [
        "nevermind_cli.run",
        "nevermind.shell.relay",
        "nevermind.shell.connect",
        "nevermind.shell.exchange",
    ],
)
def test_nothing_of_it_is_needed_for_lines(module: str) -> None:
    assert imported_by(f"import {module}") == set()


def test_to_listen_takes_a_parser_of_requests_and_no_more() -> None:
    assert imported_by("import nevermind.shell.listen") <= {"h11"}


def test_a_websocket_takes_it_all() -> None:
    assert imported_by("import nevermind.shell.transports.websocket") >= set(FOREIGN)
