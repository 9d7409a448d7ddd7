"""Takes down what the tests of the shell have put up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.shell.stage import Stage


@pytest.fixture(autouse=True)
def _no_stage_stays_up() -> Iterator[None]:
    yield
    while Stage.up:
        Stage.up.pop().take_down()
