"""What several tests of the shell begin with; takes down what they have put up."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from proxy.shell.ending_story import Story
from proxy.shell.far_ends import Far
from proxy.shell.overture import Overture
from proxy.shell.stage import Stage


@pytest.fixture(autouse=True)
def _no_stage_stays_up() -> Iterator[None]:
    yield
    while Stage.up:
        Stage.up.pop().take_down()


@pytest.fixture(params=[True, False], ids=["epoll", "poll"])
def stage(request: pytest.FixtureRequest) -> Stage:
    """A pump between the far ends of its pipes, which waits in either way."""
    return Stage(nested=request.param)


@pytest.fixture
def story() -> Story:
    """How a run ends, from its beginning."""
    return Story()


@pytest.fixture
def overture() -> Iterator[Overture]:
    """A prelude that has not begun."""
    overture = Overture()
    yield overture
    overture.signals.release()


@pytest.fixture
def closing() -> Iterator[list[Far]]:
    """Far ends that are closed when the test is over."""
    fars: list[Far] = []
    yield fars
    for far in fars:
        far.close()


@pytest.fixture
def only_blocking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be opened anew: the host is another user, as with containers."""
    real = os.open

    def refusing(path: str, flags: int, mode: int = 0o777) -> int:
        if str(path).startswith("/proc/self/fd/"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, mode)

    monkeypatch.setattr("os.open", refusing)
