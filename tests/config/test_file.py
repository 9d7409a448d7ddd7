"""A configuration file: options, single methods, profiles, dialects; refused to its last key."""

from __future__ import annotations

from pathlib import Path

import pytest

from nevermind_config.errors import ConfigError
from nevermind_config.file import BY_KEY, ConfigFile, load
from nevermind_config.options import OPTIONS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "nevermind.toml"


def read(path: Path, text: str | bytes) -> ConfigFile:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load(str(path))


def refusal(path: Path, text: str | bytes) -> str:
    """What is said of the text, without the file's name in front."""
    with pytest.raises(ConfigError) as error:
        read(path, text)
    line = str(error.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


class TestValues:
    def test_an_empty_file_says_nothing(self, path: Path) -> None:
        file = read(path, "")
        assert (file.top.values, file.top.methods, file.profiles, file.dialects) == ({}, {}, {}, {})

    def test_every_option_of_run_can_be_set(self, path: Path) -> None:
        lines = []
        for key, option in BY_KEY.items():
            shown = option.show(option.default) if option.default is not None else None
            match option.default:
                case bool() | int() | float():
                    lines.append(f"{key} = {str(option.default).lower()}")
                case str():
                    lines.append(f'{key} = "{shown}"')
        values = read(path, "\n".join(lines)).top.values
        given = [o for o in OPTIONS if o.key and o.default not in (None, ())]
        assert values == {option.name: option.default for option in given}

    def test_a_profile_comes_before_the_top(self, path: Path) -> None:
        file = read(path, 'grace = 1\nnoise = "drop"\n[profiles.quick]\ngrace = 0.5')
        assert [section.values for section in file.sections("quick")] == [
            {"grace": 0.5},
            {"grace": 1.0, "noise": "drop"},
        ]
        assert [section.values for section in file.sections(None)] == [
            {"grace": 1.0, "noise": "drop"}
        ]

    def test_it_is_known_where_a_value_stands(self, path: Path) -> None:
        file = read(path, 'grace = 1\n[profiles."a b"]\ngrace = 2')
        assert file.top.origin("grace") == f"{path}: grace"
        assert file.profiles["a b"].origin("grace") == f'{path}: profiles."a b".grace'

    def test_a_file_name_is_meant_from_the_files_own_folder(self, path: Path) -> None:
        text = (
            'log-file = "a.log"\n[profiles.x]\nlog-file = "/b.log"\n[profiles.y]\nlog-file = "~/c"'
        )
        file = read(path, text)
        assert file.top.values["log_file"] == str(path.parent / "a.log")
        assert file.profiles["x"].values["log_file"] == "/b.log"
        assert file.profiles["y"].values["log_file"] == "~/c"

    def test_the_home_folder_may_be_written_as_a_tilde(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(path.parent))
        path.write_text('log-file = "a.log"')
        assert load("~/nevermind.toml").top.values["log_file"] == str(path.parent / "a.log")

    def test_a_dialect_may_be_one_of_the_files_own(self, path: Path) -> None:
        file = read(path, 'dialect = "mine"\n[dialects.mine]\nextends = "lsp"')
        assert file.top.values == {"dialect": "mine"}
        assert list(file.dialects) == ["mine"]


class TestMethods:
    def test_a_method_has_settings_of_its_own(self, path: Path) -> None:
        file = read(
            path,
            """
            timeout = 10
            [methods."tools/call"]
            timeout = 300
            [methods.ping]
            timeout = "off"
            [profiles.x.methods."tools/call"]
            timeout = 1
            """,
        )
        assert file.top.values == {"timeout": 10.0}
        assert file.top.methods == {"tools/call": {"timeout": 300.0}, "ping": {"timeout": None}}
        assert file.profiles["x"].methods == {"tools/call": {"timeout": 1.0}}
        where = file.profiles["x"].origin("timeout", "tools/call")
        assert where == f'{path}: profiles.x.methods."tools/call".timeout'

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            (
                '[methods."tools/call"]\ntimeuot = 1',
                'unknown key methods."tools/call".timeuot; did you mean timeout?',
            ),
            (
                "[methods.ping]\ngrace = 1",
                "unknown key methods.ping.grace; allowed: ",
            ),
            (
                "[methods]\nping = 1",
                "methods.ping: found 1; allowed: a table",
            ),
            (
                '[profiles.x.methods.ping]\ntimeout = "long"',
                'profiles.x.methods.ping.timeout: found "long"; allowed: a number of seconds',
            ),
        ],
    )
    def test_refusals(self, path: Path, text: str, line: str) -> None:
        assert refusal(path, text).startswith(line)


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("late-respnse = 1", "unknown key late-respnse; did you mean late-response?"),
            ("late_response = 1", "unknown key late_response; did you mean late-response?"),
            (
                "max = 1",
                "unknown key max; did you mean max-connections, max-message or max-timeout?",
            ),
            ("zzz = 1", "unknown key zzz; allowed: admin-listen, "),
            ("config = 'x'", "unknown key config"),
            ("[profile.x]", "unknown key profile; did you mean profiles?"),
            ("cancel = 'never'", 'cancel: found "never"; allowed: forward, absorb'),
            ("shield = 'on'", 'shield: found "on"; allowed: true, false'),
            ("grace = -1", "grace: found -1; allowed: a number of seconds from 0"),
            ("log-file = ''", 'log-file: found ""; allowed: the name of a file'),
            ("grace = 1979-05-27", "grace: found 1979-05-27; allowed: a number of seconds from 0"),
            ("profiles = 1", "profiles: found 1; allowed: a table"),
            ("profiles.x = 1", "profiles.x: found 1; allowed: a table"),
            ("[profiles.x]\ngrase = 1", "unknown key profiles.x.grase; did you mean grace?"),
            ("[profiles.x.profiles.y]", "unknown key profiles.x.profiles"),
            ("[profiles.x]\ncancel = 1", "profiles.x.cancel: found 1; allowed: forward, absorb"),
            (
                "dialect = 'lps'",
                'dialect: found "lps"; allowed: mcp, lsp, bsp, acp, jsonrpc; did you mean lsp?',
            ),
            ("[profiles.x]\ndialect = 'zzz'", 'profiles.x.dialect: found "zzz"; allowed: mcp, '),
            ("[dialects.x]\nframing = 1", "dialects.x.framing: found 1; allowed: lines, "),
            (
                "[dialects.lsp]",
                "dialects.lsp: found a shipped one; allowed: another name, and in it",
            ),
            (
                "grace 1",
                "line 1, column 7: not TOML: Expected '=' after a key",
            ),
            ("a = 1\ngrace = [", "line 2: not TOML: "),
            ("grace = 1\ngrace = 2", "line 2: not TOML: Cannot overwrite a value"),
            (f"grace = {'9' * 5000}", "not TOML: "),
            (f"grace = {'[' * 5000}", "not TOML: "),
            (b"grace = 1\n# \xff\n", "line 2: found bytes that are not UTF-8"),
            ("origin = 1", "origin: found 1; allowed: an array, each an origin such as"),
            (
                "origin = ['https://a', 'B']",
                'origin: element 2: found "B"; allowed: an origin such as https://example.com',
            ),
            (
                "header = 'hush'",
                'header: found "…"; allowed: an array, each a header field such as',
            ),
            ("header = ['hush']", "header: element 1: found …; allowed: a header field such as"),
            ("header = ['A:b', 1]", "header: element 2: found 1; allowed: a header field such as"),
            ('"a\\nb" = 1', 'unknown key "a\\u000ab"'),
        ],
    )
    def test_a_line_names_the_place_what_was_found_and_what_is_allowed(
        self, path: Path, text: str | bytes, line: str
    ) -> None:
        assert refusal(path, text).startswith(line)

    def test_a_profile_that_is_not_in_force_is_checked_too(self, path: Path) -> None:
        assert refusal(path, "grace = 1\n[profiles.unused]\nnoise = 1").startswith(
            "profiles.unused."
        )

    def test_a_file_that_cannot_be_read(self, path: Path) -> None:
        with pytest.raises(ConfigError, match=r"nevermind\.toml: No such file or directory"):
            load(str(path))
        with pytest.raises(ConfigError, match="Is a directory"):
            load(str(path.parent))

    def test_an_unknown_profile(self, path: Path) -> None:
        file = read(path, "[profiles.quick]\n[profiles.slow]")
        with pytest.raises(ConfigError) as error:
            file.sections("quik")
        assert str(error.value) == (
            f"{path}: found no profile 'quik'; allowed: quick, slow; did you mean quick?"
        )
        with pytest.raises(ConfigError, match=r"allowed: none, the file has no \[profiles.NAME\]"):
            read(path, "").sections("quick")
