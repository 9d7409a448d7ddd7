"""Flags beat the environment, that beats the file, that beats the dialect; then it is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nevermind_cli.arguments import Arguments, UsageError, read_arguments, read_settings


def read(*words: str, **environment: str) -> Arguments:
    return read_arguments([*words, "--", "server"], environment)


def refusal(*words: str, **environment: str) -> str:
    with pytest.raises(UsageError) as error:
        read(*words, **environment)
    assert "\n" not in str(error.value)
    return str(error.value)


class TestPrecedence:
    def test_each_beats_what_comes_after_it(self, path: Path) -> None:
        """The flag, the variable, the profile, the top of the file, the default."""
        words = ["--config", str(path), "--profile", "quick"]
        environment = {"NEVERMIND_GRACE": "2"}
        file = f"{path}: "

        def grace(found: Arguments) -> tuple[object, str | None]:
            return found.values["grace"], found.origins.get("grace")

        assert grace(read(*words, "--grace", "1", **environment)) == (1.0, "--grace")
        assert grace(read(*words, **environment)) == (2.0, "NEVERMIND_GRACE")
        assert grace(read(*words)) == (3.0, file + "profiles.quick.grace")
        assert grace(read(*words[:2])) == (4.0, file + "grace")
        assert grace(read()) == (5.0, None)

    def test_what_a_profile_does_not_say_the_top_says(self, path: Path) -> None:
        found = read("--config", str(path), "--profile", "quick")
        assert (found.values["noise"], found.values["cancel"]) == ("drop", "absorb")
        assert found.values["shield"] is False

    def test_a_flag_that_is_the_default_still_beats_the_file(self, path: Path) -> None:
        assert read("--config", str(path), "--noise", "forward").values["noise"] == "forward"

    def test_file_and_profile_may_come_from_the_environment(self, path: Path) -> None:
        found = read(NEVERMIND_CONFIG=str(path), NEVERMIND_PROFILE="quick")
        assert found.values["grace"] == 3.0
        assert found.file == str(path)

    def test_the_flag_names_another_file_than_the_variable(self, path: Path) -> None:
        assert read("--config", os.devnull, NEVERMIND_CONFIG=str(path)).values["grace"] == 5.0

    def test_a_file_in_the_usual_place_is_found(self, path: Path) -> None:
        usual = path.parent / "nevermind" / path.name
        usual.parent.mkdir()
        usual.write_text("grace = 7")
        environment = {"XDG_CONFIG_HOME": str(path.parent)}
        assert read(**environment).values["grace"] == 7.0
        assert read("--config", str(path), **environment).values["grace"] == 4.0
        assert read("--config", os.devnull, **environment).values["grace"] == 5.0

    def test_the_files_dialects_are_known(self, path: Path) -> None:
        found = read("--config", str(path), "--dialect", "mine")
        assert list(found.dialects) == ["mine"]
        assert found.values["dialect"] == "mine"


class TestRefusals:
    def test_what_is_wrong_with_the_file(self, path: Path) -> None:
        path.write_text("grase = 1")
        assert refusal("--config", str(path)) == f"{path}: unknown key grase; did you mean grace?"

    def test_a_file_that_is_not_there_is_told_by_who_named_it(self) -> None:
        why = "'/no/such': No such file or directory"
        assert refusal("--config", "/no/such") == f"--config: {why}"
        assert refusal(NEVERMIND_CONFIG="/no/such") == f"NEVERMIND_CONFIG: {why}"

    def test_one_in_the_usual_place_that_cannot_be_read_is_told_by_its_name(
        self, tmp_path: Path
    ) -> None:
        usual = tmp_path / "nevermind" / "nevermind.toml"
        usual.mkdir(parents=True)
        assert refusal(XDG_CONFIG_HOME=str(tmp_path)) == f"{usual}: Is a directory"

    def test_a_profile_that_is_not_in_it(self, path: Path) -> None:
        line = refusal("--config", str(path), "--profile", "quik")
        assert line == f"{path}: found no profile 'quik'; allowed: quick, lsp; did you mean quick?"

    def test_a_dialect_that_is_not_in_it(self, path: Path) -> None:
        assert refusal("--config", str(path), "--dialect", "mime") == (
            "--dialect: 'mime' is not one of mcp, lsp, bsp, acp, jsonrpc, mine; did you mean mine?"
        )
        line = refusal(NEVERMIND_DIALECT="mine")
        assert line.startswith("NEVERMIND_DIALECT: 'mine' is not one of mcp, lsp")

    def test_a_profile_without_a_file(self) -> None:
        assert refusal(NEVERMIND_PROFILE="x") == (
            "NEVERMIND_PROFILE: 'x': there is no configuration file"
        )

    def test_settings_are_for_no_command(self) -> None:
        assert read_settings(["--grace", "1"], {}).values["grace"] == 1.0
        with pytest.raises(UsageError, match="unexpected --: nothing is run"):
            read_settings(["--grace", "1", "--", "server"], {})


class TestRun:
    REQUEST = b'Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"stop"}'

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "nevermind_cli", "run", *words, "--", "cat"],
            input=self.REQUEST,
            capture_output=True,
            check=False,
        )

    def test_a_bad_file_starts_nothing(self, path: Path) -> None:
        path.write_text("grace = 'soon'")
        done = self.run("--config", str(path))
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode() == (
            f'nevermind run: {path}: grace: found "soon"; allowed: a number of seconds from 0\n'
        )

    def test_a_bad_log_file_is_named_by_its_key(self, path: Path) -> None:
        path.write_text("[profiles.x]\nlog-file = 'no/such/folder'")
        done = self.run("--config", str(path), "--profile", "x")
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"nevermind run: {path}: profiles.x.log-file: ")

    def test_a_dialect_of_the_users_is_spoken(self, path: Path) -> None:
        """The echo of a request is a request of the server's own: both are known at the end."""
        path.write_text('[dialects.mine]\nframing = "content-length"')
        done = self.run("--config", str(path), "--dialect", "mine")
        assert done.stdout == self.REQUEST
        assert b"forwarded 2" in done.stderr


def test_without_a_file_and_in_mcp_nothing_of_toml_is_imported() -> None:
    # the server is not started before; tomllib alone costs several milliseconds
    code = (
        "import sys, os; from nevermind_cli.arguments import read_arguments;"
        "read_arguments(['--grace', '1', '--', 'x'], {'HOME': os.devnull});"
        "ours = ('toml', 'nevermind', 'dataclasses');"
        "print(*sorted(name for name in sys.modules if name.startswith(ours)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == [
        "nevermind_cli",
        "nevermind_cli.arguments",
        "nevermind_config",
        "nevermind_config.errors",
        "nevermind_config.finding",
        "nevermind_config.network",
        "nevermind_config.network_values",
        "nevermind_config.option",
        "nevermind_config.options",
        "nevermind_config.own_messages",
        "nevermind_config.suggestions",
        "nevermind_config.values",
    ]
