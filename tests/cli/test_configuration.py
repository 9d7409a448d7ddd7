"""Flags beat the environment, that beats the file, that beats the dialect; and it can be seen."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from nevermind_cli.arguments import Arguments, UsageError, read_arguments, read_settings
from nevermind_config.network import NETWORK
from nevermind_config.options import OPTIONS

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


def nevermind(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nevermind_cli", *words],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


class TestShow:
    def test_each_value_says_where_it_comes_from(self, path: Path) -> None:
        words = ["config", "show", "--config", str(path), "--profile", "lsp", "--shield"]
        done = nevermind(*words, NEVERMIND_REMEMBER="10")
        assert (done.returncode, done.stderr) == (0, "")
        first, *lines = done.stdout.splitlines()
        assert first == f"# {path}, profile lsp"
        said = dict(line.split(" = ", 1) for line in lines if " = " in line)
        shown = {key: [part.strip() for part in rest.split("# ", 1)] for key, rest in said.items()}
        assert shown["dialect"] == ['"lsp"', f"{path}: profiles.lsp.dialect"]
        assert shown["cancel"] == ['"absorb"', f"{path}: cancel"]
        assert shown["late-response"] == ['"first"', "dialect lsp"]
        assert shown["late-progress"] == ['"forward"', "dialect lsp"]
        assert shown["shield"] == ["true", "--shield"]
        assert shown["noise"] == ['"drop"', f"{path}: noise"]
        assert shown["remember"] == ["10", "NEVERMIND_REMEMBER"]
        assert shown["max-message"] == ['"64MiB"', "default"]
        assert shown["grace"] == ["4", f"{path}: grace"]
        assert "# log-file: stderr" in lines
        unset = [o.key for o in OPTIONS if o.key and f"\n{o.key} = " not in done.stdout]
        assert unset == ["log-file", *(o.key for o in NETWORK if o.default in (None, ()))]

    def test_without_a_file(self) -> None:
        done = nevermind("config", "show", "--shield")
        assert done.stdout.startswith("# no configuration file\n")
        assert 'noise = "stderr"' in done.stdout
        assert "# shield\n" in done.stdout

    @pytest.mark.parametrize("profile", ["quick", "lsp"])
    def test_it_is_a_file_that_says_the_same(self, path: Path, profile: str) -> None:
        first = nevermind("config", "show", "--config", str(path), "--profile", profile)
        again = path.with_name("again.toml")
        again.write_text(first.stdout)
        assert nevermind("config", "check", str(again)).returncode == 0
        second = nevermind("config", "show", "--config", str(again))
        assert tomllib.loads(second.stdout) == tomllib.loads(first.stdout)

    def test_a_dialect_of_the_users_is_shown_whole(self, path: Path) -> None:
        done = nevermind("config", "show", "--config", str(path), "--dialect", "mine")
        shown = tomllib.loads(done.stdout)["dialects"]["mine"]
        assert shown["cancel-id"] == ["params", "the.id"]
        assert shown["progress-method"] == "$/progress"
        assert shown["request-tokens"] == [
            ["params", "workDoneToken"],
            ["params", "partialResultToken"],
        ]
        assert shown["answer-owed"] is True
        assert "extends" not in shown

    def test_help_shows_the_options(self) -> None:
        done = nevermind("config", "show", "--help")
        assert done.stdout.startswith("Usage: nevermind config show [OPTIONS]\n")
        assert "--late-response" in done.stdout

    def test_it_refuses_as_run_does(self) -> None:
        done = nevermind("config", "show", "--grace", "soon")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "nevermind config show: --grace: 'soon' is not a number of seconds from 0,"
            " e.g. 60 or 0.5\n"
        )


class TestCheck:
    def test_a_good_file(self, path: Path) -> None:
        done = nevermind("config", "check", str(path))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{path}: good; profiles: quick, lsp; dialects: mine\n"
        assert nevermind("config", "check", os.devnull).stdout == f"{os.devnull}: good\n"

    def test_a_bad_one(self, path: Path) -> None:
        path.write_text("[profiles.x]\nnoise = 'quiet'")
        done = nevermind("config", "check", str(path))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"nevermind config check: {path}: profiles.x.noise:"
            ' found "quiet"; allowed: forward, stderr, drop\n'
        )

    @pytest.mark.parametrize(
        ("words", "line"),
        [
            ([], "nevermind config: which command? one of show, check"),
            (["verify"], "nevermind config: no such command 'verify'; there are show, check"),
            (["check", "a", "b"], "nevermind config check: unexpected argument 'b'"),
            (["chekc"], "nevermind config: no such command 'chekc'; did you mean check?"),
            (["check"], "nevermind config check: no FILE given: nevermind config check FILE"),
        ],
    )
    def test_what_cannot_be_followed(self, words: list[str], line: str) -> None:
        done = nevermind("config", *words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", line + "\n")


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
