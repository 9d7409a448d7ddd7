"""What ``config show`` prints can be kept as a file: nothing secret in it, nothing relative."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from nevermind_cli.commands import invoke

Shown = Callable[..., str]
"""Takes options, gives what ``config show`` prints with them."""


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    def show(*options: str) -> str:
        capsys.readouterr()
        assert invoke(["config", "show", "--config", os.devnull, *options]) == 0
        return capsys.readouterr().out

    return show


class TestSecrets:
    @pytest.mark.parametrize(
        ("options", "comment"),
        [
            (["--header", "X-Key:hush"], '# header = ["X-Key:…"] '),
            (["--header", "A:${B}", "--header", "X:hush"], '# header = ["A:…", "X:…"] '),
            (["--connect", "ws://host/x?key=hush"], '# connect = "ws://host/x" '),
        ],
    )
    def test_they_are_left_out_in_a_comment(
        self, shown: Shown, options: list[str], comment: str
    ) -> None:
        text = shown(*options)
        assert "hush" not in text
        (line,) = [line for line in text.splitlines() if "may hold a secret" in line]
        assert line.startswith(comment)
        assert f"# {options[0]}, not shown whole" in line

    def test_the_rest_is_a_file_that_is_good(self, shown: Shown, tmp_path: Path) -> None:
        words = ["--connect", "ws://host/x?key=hush", "--header", "X:hush"]
        text = shown(*words, "--subprotocol", "mcp")
        path = tmp_path / "nevermind.toml"
        path.write_text(text, "utf-8")
        assert invoke(["config", "check", str(path)]) == 0
        told = tomllib.loads(text)
        assert told["subprotocol"] == ["mcp"]
        assert "header" not in told
        assert "connect" not in told

    def test_an_address_without_a_query_has_none(self, shown: Shown) -> None:
        assert tomllib.loads(shown("--connect", "tcp://host:1"))["connect"] == "tcp://host:1"


class TestFileNames:
    def test_a_relative_one_is_shown_whole(self, shown: Shown) -> None:
        """It was meant from here, and in a file it would be meant from the file's folder."""
        text = shown("--log-file", "a.log")
        assert tomllib.loads(text)["log-file"] == os.path.abspath("a.log")

    @pytest.mark.parametrize("name", ["/var/a.log", "~/a.log"])
    def test_others_mean_the_same_everywhere(self, shown: Shown, name: str) -> None:
        assert tomllib.loads(shown("--log-file", name))["log-file"] == name
