"""The parts of the README that are made from the code; run it to write them anew.

.venv/bin/python tests/readme_parts.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from nevermind.dialects import Path as WayTo
from nevermind.lifecycle import OWED, UNANSWERED, Event, Ruling, State, Table
from nevermind_cli.commands import commands
from nevermind_config.dialects import dialect
from nevermind_config.options import DIALECTS

README = Path(__file__).parent.parent / "README.md"

_PART = re.compile(r"(<!-- made from (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def reference() -> str:
    """The help of ``nevermind run``."""
    shown = CliRunner().invoke(commands, ["run", "--help"], prog_name="nevermind").output
    return f"```text\n{shown.rstrip()}\n```\n"


def states(table: Table = UNANSWERED) -> str:
    """The life of one request id: a row per state, a column per event."""
    rows = [
        ["state", *(event.value for event in Event)],
        ["---"] * (len(Event) + 1),
        *(
            [state.value, *(_cell(table, state, event) for event in Event)]
            for state in State
            if any(known is state for known, _ in table)
        ),
    ]
    return _table(rows)


def owed_states() -> str:
    """The same where an answer is owed: the rows that are different."""
    rows = states(OWED).splitlines(keepends=True)
    same = states().splitlines()[2:]
    return "".join(row for row in rows if row.rstrip("\n") not in same)


def dialects() -> str:
    """The dialects that come with nevermind, one a row."""
    rows = [
        ["dialect", "messages", "cancel, and where it names the request", "cancelled requests"],
        ["---"] * 4,
    ]
    rows[0] += ["progress, and where tokens stand", "never cancelled"]
    rows[1] += ["---"] * 2
    for name in DIALECTS:
        spoken = dialect(name, {})
        cancel = progress = "–"
        if spoken.cancel_method:
            cancel = f"`{spoken.cancel_method}`, {_way(spoken.cancel_id)}"
        if spoken.progress_method:
            tokens = " and ".join(map(_way, spoken.request_tokens))
            progress = f"`{spoken.progress_method}`, {_way(spoken.progress_token)}; {tokens}"
        answer = "are owed an answer" if spoken.answer_owed else "stay unanswered"
        rows.append(
            [
                f"`{name}`",
                "with `Content-Length`" if spoken.header_framed else "one a line",
                cancel,
                answer if spoken.cancel_method else "–",
                progress,
                ", ".join(f"`{method}`" for method in sorted(spoken.uncancellable)) or "–",
            ]
        )
    return _table(rows)


def _way(path: WayTo) -> str:
    return f"`{'.'.join(path)}`"


def _table(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(table: Table, state: State, event: Event) -> str:
    step = table.get((state, event))
    if step is None:
        return "–"
    arrow = "" if step.next is state else f"→ {step.next.value}, "
    if step.ruling is Ruling.FORGET:
        return arrow + "the oldest first"
    return f"{arrow}{step.ruling.value}"


PARTS: dict[str, Callable[[], str]] = {
    "help": reference,
    "lifecycle": states,
    "dialects": dialects,
    "owed": owed_states,
}


def with_parts(text: str) -> str:
    """``text`` with every part as it is now."""

    def made(found: re.Match[str]) -> str:
        return f"{found[1]}{PARTS[found[2]]()}{found[3]}"

    return _PART.sub(made, text)


if __name__ == "__main__":
    README.write_text(with_parts(README.read_text("utf-8")), "utf-8")
