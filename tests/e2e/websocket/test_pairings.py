"""The field cases once more with a WebSocket on one side, on the other, and on both.

What they say of verdicts holds for every pairing.  What they say of lines does not: a message has
no line end, no blank line and no header, and a host over a WebSocket no exit code to see.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from e2e.harness import nevermind
from e2e.harness.field_cases import FieldCase, Happening, Said, load_cases
from e2e.harness.field_player import conversation_for, play
from e2e.harness.proxy_command import ProxyCommand

BRIDGE = Path(__file__).with_name("bridge.py")
SIDES = {
    "WebSocket to stdio": ("host",),
    "stdio to WebSocket": ("server",),
    "WebSocket to WebSocket": ("host", "server"),
}


def is_about_messages(case: FieldCase) -> bool:
    """Whether a case says nothing that only lines or processes have."""
    return (
        case.later is None
        and case.framing == "lines"
        and not (case.stays or case.ignores or case.behind_shell or case.alone)
        and all(map(_can_be_carried, case.wire))
    )


def _can_be_carried(step: Said | Happening) -> bool:
    if isinstance(step, Happening):
        return re.match(r"both at once|(logged|dropped) ", step.text) is not None
    lines = step.data.split(b"\n")
    return (
        lines.pop() == b""
        and not step.cut
        and not any(b"\r" in line or not line.strip() for line in lines)
        and not any(line.lower().startswith(b"content-") for line in lines)
    )


CASES = [case for case in load_cases() if is_about_messages(case)]


def through(sides: tuple[str, ...]) -> ProxyCommand:
    words = (sys.executable, str(BRIDGE), *sides, "--", *nevermind().words)
    return ProxyCommand(words, takes_options=True)


def test_most_of_them_are_about_messages() -> None:
    assert len(CASES) > 40


@pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES.keys())
@pytest.mark.parametrize(
    ("case", "options"),
    [
        pytest.param(case, options, id=f"{case.id} {options}".strip())
        for case in CASES
        for options in case.variants
    ],
)
def test_the_fault_is_not_there_in_any_pairing(
    case: FieldCase, options: str, sides: tuple[str, ...]
) -> None:
    wire = conversation_for(case, options)
    wire.proxy = through(sides)
    with wire:
        play(case, options, wire)
