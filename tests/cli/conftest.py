"""A configuration file with a bit of everything."""

from __future__ import annotations

from pathlib import Path

import pytest

FILE = """
cancel = "absorb"
noise = "drop"
grace = 4

[profiles.quick]
grace = 3
dialect = "mine"

[profiles.lsp]
dialect = "lsp"

[dialects.mine]
extends = "lsp"
cancel-id = ["params", "the.id"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "nevermind.toml"
    path.write_text(FILE)
    return path
