"""The README says what the code does, and what it tells people to copy works."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from nevermind.lifecycle import UNANSWERED, Event, State
from nevermind.notes import Event as NoteEvent
from nevermind.notes import Note, Statistics, What
from nevermind.shell.journal_lines import summary_members
from nevermind_cli.arguments import read_arguments
from nevermind_config.dialects import KEYS
from nevermind_config.file import load
from nevermind_config.options import DIALECTS, OPTIONS
from readme_parts import PARTS, README, dialects, owed_states, states, with_parts

ROOT = README.parent
TEXT = README.read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    return [block for name, block in BLOCKS if name == language]


class TestMadeParts:
    def test_they_are_as_the_code_is(self) -> None:
        assert with_parts(TEXT) == TEXT, "run: .venv/bin/python tests/readme_parts.py"

    def test_all_are_there(self) -> None:
        assert sorted(re.findall(r"<!-- made from (\w+) -->", TEXT)) == sorted(PARTS)

    def test_the_dialects_that_come_along_are_named(self) -> None:
        assert [line.split("`")[1] for line in dialects().splitlines()[2:]] == list(DIALECTS)

    def test_where_an_answer_is_owed_only_other_rows_are_shown(self) -> None:
        shown = [line.split(" | ")[0].strip("| ") for line in owed_states().splitlines()[2:]]
        assert shown == ["in flight", "cancelled", "settled"]

    def test_the_table_has_every_cell_of_the_lifecycle(self) -> None:
        rows = [line.strip("| ").split(" | ") for line in states().splitlines()]
        assert rows[0][1:] == [event.value for event in Event]
        shown = {
            (row[0], event)
            for row in rows[2:]
            for event, cell in zip(rows[0][1:], row[1:], strict=True)
            if cell != "–"
        }
        assert shown == {(state.value, event.value) for state, event in UNANSWERED}

    def test_a_cell_says_where_it_leads(self) -> None:
        row = next(line for line in states().splitlines() if line.startswith("| in flight |"))
        assert f"→ {State.TOMBSTONE.value}" in row


class TestCommands:
    def test_there_are_two_to_begin_with(self) -> None:
        first, second = blocks("sh")[:2]
        assert first.rstrip().endswith("nevermind demo")
        assert second.rstrip().endswith("python -m pytest")

    def test_the_gates_run_the_second_as_it_stands(self) -> None:
        gates = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
        assert blocks("sh")[1].rstrip() in gates


def entries() -> list[tuple[str, list[str]]]:
    """Every command line that people are told to put into their host."""
    found: list[dict[str, Any]] = []
    for block in blocks("json"):
        document = json.loads(block)
        found += document.get("mcpServers", document.get("servers", {})).values()
    for block in blocks("toml"):
        found += tomllib.loads(block).get("mcp_servers", {}).values()
    lines = [[entry["command"], *entry["args"]] for entry in found]
    adding = [block for block in blocks("sh") if " mcp add " in block]
    lines += [shlex.split(block.partition(" -- ")[2]) for block in adding]
    return [(line[0], line[1:]) for line in lines]


class TestHosts:
    def test_five_are_named(self) -> None:
        for host in ("Claude Desktop", "Claude Code", "VS Code", "Cursor", "Codex"):
            assert f"**{host}**" in TEXT
        assert len(entries()) == 7

    @pytest.mark.parametrize(("command", "words"), entries())
    def test_what_is_to_be_copied_is_understood(self, command: str, words: list[str]) -> None:
        assert command == "/path/to/nevermind"
        assert words[0] == "run"
        assert read_arguments(words[1:], {}).command[:2] == ["uvx", "mcp-server-git"]
        assert not any(" " in word for word in words), "some hosts do not quote"


CONFIGURATIONS = [block for block in blocks("toml") if "mcp_servers" not in block]


class TestConfiguration:
    @pytest.mark.parametrize("text", CONFIGURATIONS)
    def test_what_is_to_be_copied_is_a_good_file(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "nevermind.toml"
        path.write_text(text, "utf-8")
        load(str(path))

    def test_every_example_is_named(self) -> None:
        for path in (ROOT / "config" / "examples").iterdir():
            assert f"config/examples/{path.name}" in TEXT

    @pytest.mark.parametrize("key", [key for key in KEYS if key not in ("extends", "framing")])
    def test_every_key_of_a_dialect_is_explained(self, key: str) -> None:
        assert f"`{key}`" in TEXT


def reported() -> list[str]:
    """The events that are no notes of a session's, and the members of their lines."""
    found: set[str] = set()
    for path in (ROOT / "proxy" / "nevermind" / "shell").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="report"),
                    args=[ast.Constant(value=str()), ast.Constant(value=str(event)), *_],
                ):
                    found.add(event)
                    found |= {each.arg for each in node.keywords if each.arg}
    return sorted(found)


class TestWords:
    def test_every_option_that_is_named_exists(self) -> None:
        known = {option.flag for option in OPTIONS} | {option.off_flag for option in OPTIONS}
        known |= {"--help", "--repository"}
        known |= {"--quiet", "--stdio"}  # pip's and a language server's
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT)) <= known

    @pytest.mark.parametrize("word", [*NoteEvent, *What], ids=lambda word: word.value)
    def test_every_word_of_the_log_is_explained(self, word: NoteEvent | What) -> None:
        assert f"`{word.value}`" in TEXT

    @pytest.mark.parametrize("member", [*summary_members(Statistics())])
    def test_every_member_of_the_summary_is_explained(self, member: str) -> None:
        assert f"`{member}`" in TEXT

    @pytest.mark.parametrize("member", [field.name for field in fields(Note)])
    def test_every_member_of_a_note_is_explained(self, member: str) -> None:
        assert f"`{member}`" in TEXT

    @pytest.mark.parametrize("word", reported())
    def test_every_word_about_connections_is_explained(self, word: str) -> None:
        log = TEXT.partition("\n## The log\n")[2].partition("\n## ")[0]
        assert f"`{word}`" in log

    def test_lines_are_not_wider_than_a_reader(self) -> None:
        unbreakable = ("|", "python3", "claude", "codex", " ")
        prose = [line for line in TEXT.splitlines() if not line.startswith(unbreakable)]
        assert max(map(len, prose)) <= 120


def test_the_top_of_the_repository_is_tidy() -> None:
    allowed = {"proxy", "cli", "config", "tests", "pyproject.toml"}
    allowed |= {"README.md", "CHANGELOG.md", "LICENSE"}
    found = {path.name for path in Path(ROOT).iterdir() if not path.name.startswith(".")}
    assert found <= allowed
