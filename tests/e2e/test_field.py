"""What people have reported of hosts, servers and proxies, played through the real command.

The cases are data (``tests/field``).  Each is played as it stands and once more under each set of
options that its messages name; and each that a plain pipe must not pass is played through one, to
show that the case can fail.
"""

from __future__ import annotations

import re

import pytest

from e2e.harness import PLAIN_PIPE, ConversationError
from e2e.harness.field_cases import FOLDER, FieldCase, Said, load_cases
from e2e.harness.field_player import conversation_for, play

CASES = load_cases()
OVER_STDIO = [case for case in CASES if case.later is None and case.framing != "websocket"]
PLAYED = [
    pytest.param(case, options, id=f"{case.id} {options}".strip())
    for case in OVER_STDIO
    for options in case.variants
]
FILTERED = [
    pytest.param(case, id=case.id)
    for case in OVER_STDIO
    if any(isinstance(s, Said) and s.arrow.is_drop for s in case.wire)
]


@pytest.mark.parametrize(("case", "options"), PLAYED)
def test_the_fault_is_not_there_with_the_proxy_in_between(case: FieldCase, options: str) -> None:
    for _ in range(case.repeat):
        with conversation_for(case, options) as wire:
            play(case, options, wire)


@pytest.mark.parametrize("case", FILTERED)
def test_the_fault_is_there_without_a_proxy(case: FieldCase) -> None:
    wire = conversation_for(case, "")
    wire.proxy = PLAIN_PIPE
    with pytest.raises(ConversationError, match="should"), wire:
        play(case, "", wire)


def test_no_report_is_put_off() -> None:
    """Every one of them is played, here or over sockets."""
    assert [case.id for case in CASES if case.later is not None] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_each_report_is_complete(case: FieldCase) -> None:
    assert re.fullmatch(r"F\d{3}", case.id)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", case.source)
    assert case.role in ("cured", "avoided", "transparent", "switch")
    assert case.fault
    assert case.holds
    assert case.wire


def test_the_readme_names_every_key() -> None:
    readme = (FOLDER / "README.md").read_text()
    for key in FieldCase.__dataclass_fields__:
        assert f"`{key}`" in readme
