"""The usual place of the file: the user's folder for configuration, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from nevermind_config.finding import find, usual_place


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({}, None),
        ({"HOME": ""}, None),
        ({"HOME": "/home/me"}, "/home/me/.config/nevermind/nevermind.toml"),
        ({"HOME": "/home/me", "XDG_CONFIG_HOME": ""}, "/home/me/.config/nevermind/nevermind.toml"),
        ({"HOME": "/home/me", "XDG_CONFIG_HOME": "/etc/me"}, "/etc/me/nevermind/nevermind.toml"),
        ({"XDG_CONFIG_HOME": "/etc/me"}, "/etc/me/nevermind/nevermind.toml"),
        # the specification has relative ones ignored
        ({"HOME": "/home/me", "XDG_CONFIG_HOME": "x"}, "/home/me/.config/nevermind/nevermind.toml"),
    ],
)
def test_the_usual_place(environment: dict[str, str], place: str | None) -> None:
    assert usual_place(environment) == place


def test_a_file_is_found_if_it_is_there(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    assert find(environment) is None
    folder = tmp_path / ".config" / "nevermind"
    folder.mkdir(parents=True)
    assert find(environment) is None
    (folder / "nevermind.toml").touch()
    assert find(environment) == str(folder / "nevermind.toml")


def test_the_current_folder_is_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nevermind.toml").touch()
    (tmp_path / "nevermind").mkdir()
    (tmp_path / "nevermind" / "nevermind.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert find({"HOME": "/nowhere"}) is None
    assert find({}) is None
