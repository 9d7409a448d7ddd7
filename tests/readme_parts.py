"""The parts of the README that are made from the code; run it to write them anew.

.venv/bin/python tests/readme_parts.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from nevermind.lifecycle import UNANSWERED, Event, Ruling, State
from nevermind_cli.commands import commands

README = Path(__file__).parent.parent / "README.md"

_PART = re.compile(r"(<!-- made from (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def reference() -> str:
    """The help of ``nevermind run``."""
    shown = CliRunner().invoke(commands, ["run", "--help"], prog_name="nevermind").output
    return f"```text\n{shown.rstrip()}\n```\n"


def states() -> str:
    """The life of one request id in MCP: a row per state, a column per event."""
    rows = [
        ["state", *(event.value for event in Event)],
        ["---"] * (len(Event) + 1),
        *(
            [state.value, *(_cell(state, event) for event in Event)]
            for state in State
            if any(known is state for known, _ in UNANSWERED)
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(state: State, event: Event) -> str:
    step = UNANSWERED.get((state, event))
    if step is None:
        return "–"
    arrow = "" if step.next is state else f"→ {step.next.value}, "
    if step.ruling is Ruling.FORGET:
        return arrow + "the oldest first"
    return f"{arrow}{step.ruling.value}"


PARTS: dict[str, Callable[[], str]] = {"help": reference, "lifecycle": states}


def with_parts(text: str) -> str:
    """``text`` with every part as it is now."""

    def made(found: re.Match[str]) -> str:
        return f"{found[1]}{PARTS[found[2]]()}{found[3]}"

    return _PART.sub(made, text)


if __name__ == "__main__":
    README.write_text(with_parts(README.read_text("utf-8")), "utf-8")
