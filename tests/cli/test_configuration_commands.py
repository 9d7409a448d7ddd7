"""``nevermind config``: what is in force and where it comes from, and whether a file is good."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from cli.invocations import nevermind
from nevermind_config.network import NETWORK
from nevermind_config.options import OPTIONS


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

    @pytest.mark.parametrize(
        ("words", "line"),
        [
            (
                ["--grace", "soon"],
                "--grace: 'soon' is not a number of seconds from 0, e.g. 60 or 0.5",
            ),
            (["server"], "unexpected argument 'server': nothing is run"),
            (["--", "server"], "unexpected --: nothing is run"),
        ],
    )
    def test_it_refuses_as_run_does(self, words: list[str], line: str) -> None:
        done = nevermind("config", "show", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"nevermind config show: {line}\n"


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
