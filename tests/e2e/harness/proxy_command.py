"""Which command stands between the two ends.

``NEVERMIND_E2E_PROXY`` names another one (``env`` is a plain pipe); it is given no options.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProxyCommand:
    """A command that is followed by the server's command line."""

    words: tuple[str, ...]
    takes_options: bool = False

    def line(self, options: tuple[str, ...], server: list[str]) -> list[str]:
        """The whole command line that a host would have in its configuration."""
        if self.takes_options:
            return [*self.words, *options, "--", *server]
        return [*self.words, *server]


PLAIN_PIPE = ProxyCommand(("env",))
"""No proxy at all: ``env`` becomes the server."""


_stand_ins: list[ProxyCommand] = []


@contextmanager
def in_place_of_nevermind(command: ProxyCommand) -> Iterator[None]:
    """Have ``command`` stand between the two ends of every conversation meanwhile."""
    _stand_ins.append(command)
    try:
        yield
    finally:
        _stand_ins.pop()


def nevermind() -> ProxyCommand:
    """The installed command, beside the interpreter that runs the tests or on the PATH."""
    if _stand_ins:
        return _stand_ins[-1]
    if other := os.environ.get("NEVERMIND_E2E_PROXY"):
        return ProxyCommand(tuple(shlex.split(other)))
    beside = Path(sys.executable).with_name("nevermind")
    command = str(beside) if beside.exists() else shutil.which("nevermind")
    if command is None:
        raise FileNotFoundError("no `nevermind` command: pip install -e . first")
    return ProxyCommand((command, "run"), takes_options=True)
