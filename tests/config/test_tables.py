"""A table complains of a key by its way, of a value by what was found and what is allowed."""

from __future__ import annotations

import pytest

from nevermind_config.errors import ConfigError
from nevermind_config.tables import Table, quote, show
from nevermind_config.values import Choice, Count, Flag, Limit, Name, Seconds, Size, Value

KINDS = {
    "choice": Choice("drop", "forward"),
    "flag": Flag(),
    "count": Count(),
    "size": Size(),
    "seconds": Seconds(),
    "limit": Limit(),
    "name": Name(),
}


@pytest.mark.parametrize(
    ("kind", "found", "value"),
    [
        ("choice", "drop", "drop"),
        ("flag", True, True),
        ("flag", False, False),
        ("count", 7, 7),
        ("size", 65536, 65536),
        ("size", "64KiB", 65536),
        ("seconds", 5, 5.0),
        ("seconds", 0.25, 0.25),
        ("seconds", 0, 0.0),
        ("limit", 3, 3.0),
        ("limit", "off", None),
        ("name", "lsp", "lsp"),
    ],
)
def test_a_value_of_the_kind_is_taken(kind: str, found: object, value: Value) -> None:
    taken = Table({"key": found}, "f.toml").value("key", KINDS[kind])
    assert (taken, type(taken)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "found", "line"),
    [
        ("choice", "Drop", 'found "Drop"; allowed: drop, forward'),
        ("choice", True, "found true; allowed: drop, forward"),
        ("flag", "yes", 'found "yes"; allowed: true, false'),
        ("flag", 1, "found 1; allowed: true, false"),
        ("count", 0, "found 0; allowed: a whole number from 1"),
        ("count", 2.0, "found 2.0; allowed: a whole number from 1"),
        ("count", True, "found true; allowed: a whole number from 1"),
        ("count", "7", 'found "7"; allowed: a whole number from 1'),
        ("count", 10**30, f"found 1{'0' * 30}; allowed: a whole number from 1"),
        ("count", 10**90, "found a huge number; allowed: a whole number from 1"),
        (
            "size",
            -1,
            'found -1; allowed: a number of bytes from 1, or a text such as "64KiB" or "10MB"',
        ),
        (
            "size",
            "64M",
            'found "64M"; allowed: a number of bytes from 1, or a text such as "64KiB" or "10MB"',
        ),
        ("seconds", -0.5, "found -0.5; allowed: a number of seconds from 0"),
        ("seconds", float("nan"), "found nan; allowed: a number of seconds from 0"),
        ("seconds", float("inf"), "found inf; allowed: a number of seconds from 0"),
        ("seconds", "5", 'found "5"; allowed: a number of seconds from 0'),
        ("seconds", False, "found false; allowed: a number of seconds from 0"),
        ("limit", "none", 'found "none"; allowed: a number of seconds from 0, or "off"'),
        ("name", "", 'found ""; allowed: a name'),
        ("name", "a\nb", 'found "a\\u000ab"; allowed: a name'),
        ("name", [], "found an empty array; allowed: a name"),
        ("name", ["x"], "found an array; allowed: a name"),
        ("name", {}, "found a table; allowed: a name"),
        ("name", 1.5, "found 1.5; allowed: a name"),
    ],
)
def test_another_is_refused_in_one_line(kind: str, found: object, line: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        Table({"key": found}, "f.toml").value("key", KINDS[kind])
    assert str(refusal.value) == f"f.toml: key: {line}"


def test_a_long_value_is_cut() -> None:
    with pytest.raises(ConfigError) as refusal:
        Table({"key": "x" * 500}, "f.toml").value("key", Choice("a", "b"))
    assert len(str(refusal.value)) < 130


class TestKeys:
    def test_an_unknown_one_is_refused_with_what_may_have_been_meant(self) -> None:
        table = Table({"grase": 1}, "f.toml", ("profiles", "quick"))
        with pytest.raises(ConfigError) as refusal:
            table.check_keys(["grace", "noise"])
        assert str(refusal.value) == "f.toml: unknown key profiles.quick.grase; did you mean grace?"

    def test_or_with_all_that_are_allowed(self) -> None:
        with pytest.raises(ConfigError) as refusal:
            Table({"zzz": 1}, "f.toml").check_keys(["noise", "grace"])
        assert str(refusal.value) == "f.toml: unknown key zzz; allowed: grace, noise"

    def test_known_ones_pass(self) -> None:
        Table({"grace": 1}, "f.toml").check_keys(["grace", "noise"])

    def test_a_way_is_spelled_as_in_toml(self) -> None:
        table = Table({}, "f.toml", ("methods", "tools/call"))
        assert table.name("timeout") == 'methods."tools/call".timeout'
        assert table.name("a\nb") == 'methods."tools/call"."a\\u000ab"'


class TestInnerTables:
    def test_a_table_that_is_not_there_is_empty(self) -> None:
        assert Table({}, "f.toml").table("methods").raw == {}
        assert Table({}, "f.toml").tables("methods") == {}

    def test_a_table_in_a_table_knows_its_way(self) -> None:
        tables = Table({"methods": {"ping": {"timeout": 1}}}, "f.toml").tables("methods")
        assert tables["ping"].path == ("methods", "ping")

    @pytest.mark.parametrize("found", [1, "x", [], [{}]])
    def test_what_is_none_is_refused(self, found: object) -> None:
        with pytest.raises(ConfigError, match=r"f\.toml: methods: found .*; allowed: a table"):
            Table({"methods": found}, "f.toml").tables("methods")
        with pytest.raises(
            ConfigError, match=r"f\.toml: methods\.ping: found .*; allowed: a table"
        ):
            Table({"methods": {"ping": found}}, "f.toml").tables("methods")


class TestTexts:
    def test_an_array_of_texts(self) -> None:
        assert Table({"key": ["a", "b"]}, "f.toml").texts("key", "texts") == ("a", "b")

    @pytest.mark.parametrize(
        ("found", "shown"),
        [("a", '"a"'), (["a", 1], "1"), (["a", ""], '""'), ([["a"]], "an array")],
    )
    def test_anything_else_is_refused(self, found: object, shown: str) -> None:
        with pytest.raises(ConfigError) as refusal:
            Table({"key": found}, "f.toml").texts("key", "an array of texts")
        assert str(refusal.value) == f"f.toml: key: found {shown}; allowed: an array of texts"


def test_texts_are_shown_as_toml_has_them() -> None:
    assert quote('a "b" \\ \x00é') == '"a \\"b\\" \\\\ \\u0000é"'
    assert show("x") == '"x"'
