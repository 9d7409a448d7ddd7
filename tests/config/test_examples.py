"""The examples can be used as they are: each loads, each profile of each makes a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from nevermind.session import Session
from nevermind_config.dialects import dialect
from nevermind_config.file import load
from nevermind_config.options import OPTIONS
from nevermind_config.settings import policy
from nevermind_config.values import Value

FOLDER = Path(__file__).parents[2] / "config" / "examples"
EXAMPLES = sorted(FOLDER.glob("*.toml"))
CASES = [
    pytest.param(path, profile, id=f"{path.stem} {profile or ''}".strip())
    for path in EXAMPLES
    for profile in [None, *load(str(path)).profiles]
]


def test_there_are_some() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize(("path", "profile"), CASES)
def test_each_profile_makes_a_session(path: Path, profile: str | None) -> None:
    file = load(str(path))
    values: dict[str, Value] = {option.name: option.default for option in OPTIONS}
    for section in reversed(file.sections(profile)):
        values |= section.values
    spoken = dialect(str(values["dialect"]), file.dialects)
    methods = [section.methods for section in file.sections(profile)]
    Session(policy(values, methods[0]), spoken)
    assert spoken.name == values["dialect"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_says_how_it_is_used(path: Path) -> None:
    text = path.read_text()
    assert f"nevermind run --config {path.name}" in text
    for name in load(str(path)).profiles:
        assert f"--profile {name} " in text or f"[profiles.{name}]" in text


def test_every_key_of_a_dialect_is_shown_in_one() -> None:
    from nevermind_config.dialects import KEYS

    text = (FOLDER / "custom-dialects.toml").read_text()
    assert [key for key in KEYS if f"\n{key} = " not in text] == []
