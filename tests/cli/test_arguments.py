"""The words after ``nevermind run``: what is understood, and what is refused with which words."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind_cli.arguments import HelpWanted, UsageError, read_arguments
from nevermind_cli.commands import click_option
from nevermind_config.option import Option
from nevermind_config.options import OPTIONS
from nevermind_config.values import Choice, Flag, Value

DEFAULTS = {option.name: option.default for option in OPTIONS}


def read(
    *words: str, environment: Mapping[str, str] | None = None
) -> tuple[dict[str, Value], list[str]]:
    arguments = read_arguments(words, environment or {})
    return arguments.values, arguments.command


def chosen(*words: str, environment: Mapping[str, str] | None = None) -> dict[str, Value]:
    """What differs from the defaults."""
    values, _ = read(*words, "--", "server", environment=environment)
    return {name: value for name, value in values.items() if value != DEFAULTS[name]}


def refusal(*words: str, environment: Mapping[str, str] | None = None) -> str:
    with pytest.raises(UsageError) as error:
        read(*words, environment=environment)
    line = str(error.value)
    assert line
    assert "\n" not in line
    return line


class TestTheCommand:
    def test_with_no_options_everything_is_as_the_table_says(self) -> None:
        assert read("--", "server") == (DEFAULTS, ["server"])

    def test_only_the_first_dashes_are_ours(self) -> None:
        _, command = read("--", "wrapper", "--", "server", "--help", "--cancel", "absorb")
        assert command == ["wrapper", "--", "server", "--help", "--cancel", "absorb"]

    def test_the_command_may_begin_with_dashes(self) -> None:
        assert read("--", "--", "x")[1] == ["--", "x"]

    def test_its_arguments_are_left_alone(self) -> None:
        odd = ["", " ", "a b", "\udcff", "é\n", "-"]
        assert read("--", "server", *odd)[1] == ["server", *odd]

    @pytest.mark.parametrize("words", [(), ("--shield",), ("--grace", "1")])
    def test_without_dashes_there_is_no_command(self, words: tuple[str, ...]) -> None:
        assert refusal(*words).startswith("no command given")

    @pytest.mark.parametrize("words", [("--",), ("--shield", "--")])
    def test_after_the_dashes_there_must_be_one(self, words: tuple[str, ...]) -> None:
        assert refusal(*words).startswith("no command after --")

    @pytest.mark.parametrize("words", [("--", ""), ("--", "", "x")])
    def test_an_empty_one_is_none(self, words: tuple[str, ...]) -> None:
        assert refusal(*words).startswith("the command is empty")

    @pytest.mark.parametrize("words", [(), ("--",)])
    def test_whoever_listens_may_have_meant_a_server_that_runs(
        self, words: tuple[str, ...]
    ) -> None:
        assert "--connect" in refusal("--listen", "tcp://localhost:0", *words)
        assert "--connect" not in refusal(*words)

    @pytest.mark.parametrize("word", ["server", "-", ""])
    def test_a_command_before_the_dashes_is_told_where_it_belongs(self, word: str) -> None:
        assert refusal(word, "--", "x") == (
            f"unexpected argument {word!r}: the command goes after --"
        )


class TestOptions:
    def test_a_value_follows_or_is_joined_by_an_equals_sign(self) -> None:
        assert chosen("--cancel", "absorb") == {"cancel": "absorb"}
        assert chosen("--cancel=absorb") == {"cancel": "absorb"}

    def test_the_last_one_wins(self) -> None:
        assert chosen("--grace", "1", "--grace=2") == {"grace": 2.0}
        assert chosen("--shield", "--no-shield") == {}
        assert chosen("--no-shield", "--shield") == {"shield": True}

    def test_a_value_may_hold_an_equals_sign(self) -> None:
        assert chosen("--log-file=a=b") == {"log_file": "a=b"}

    def test_all_at_once(self) -> None:
        words = (
            "--cancel absorb --late-response first --late-progress forward --stale-progress forward"
            " --redundant-cancel forward --id-reuse forward --shield --noise drop --remember 10"
            " --max-message 1MiB --grace 0.5 --log-level off --log-format json --log-file x.log"
            " --dialect lsp"
        )
        assert chosen(*words.split()) == {
            "dialect": "lsp",
            "cancel": "absorb",
            "late_response": "first",
            "late_progress": "forward",
            "stale_progress": "forward",
            "redundant_cancel": "forward",
            "id_reuse": "forward",
            "shield": True,
            "noise": "drop",
            "remember": 10,
            "max_message": 1024 * 1024,
            "grace": 0.5,
            "log_level": "off",
            "log_format": "json",
            "log_file": "x.log",
        }

    @pytest.mark.parametrize("word", ["--help", "-h"])
    def test_help_is_help_only_before_the_dashes(self, word: str) -> None:
        with pytest.raises(HelpWanted):
            read(word)
        assert read("--", "server", word)[1] == ["server", word]


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "line"),
        [
            (
                ("--late-respnse", "drop", "--", "x"),
                "unknown option '--late-respnse'; did you mean --late-response?",
            ),
            (("--no-sheild", "--", "x"), "unknown option '--no-sheild'; did you mean --no-shield?"),
            (
                ("--log", "json", "--", "x"),
                "unknown option '--log'; did you mean --log-file, --log-format or --log-level?",
            ),
            (
                ("--answer=0", "--", "x"),
                "unknown option '--answer'; did you mean --answer-cancelled?",
            ),
            (("--xyzzy", "--", "x"), "unknown option '--xyzzy'"),
            (("-x", "--", "x"), "unknown option '-x'"),
            (("--a\nb", "--", "x"), "unknown option '--a\\nb'"),
            (("--cancel", "later", "--", "x"), "--cancel: 'later' is not one of forward, absorb"),
            (("--cancel=", "--", "x"), "--cancel: '' is not one of forward, absorb"),
            (
                ("--grace=soon", "--", "x"),
                "--grace: 'soon' is not a number of seconds from 0, e.g. 60 or 0.5",
            ),
            (("--grace",), "--grace needs a value: --grace SECONDS"),
            (("--grace", "--", "x"), "--grace needs a value: --grace SECONDS"),
            (("--log-file", "--shield", "--", "x"), "--log-file needs a value: --log-file FILE"),
            (("--shield=yes", "--", "x"), "--shield takes no value"),
            (("--no-shield=1", "--", "x"), "--no-shield takes no value"),
            (("--remember", "none", "--", "x"), "--remember: 'none' is not a whole number from 1"),
            (
                ("--max-message", "64M", "--", "x"),
                "--max-message: '64M' is not a size such as 65536, 64KiB or 10MB",
            ),
            (
                ("--dialect", "lps", "--", "x"),
                "--dialect: 'lps' is not one of mcp, lsp, bsp, acp, jsonrpc; did you mean lsp?",
            ),
            (
                ("--profile", "quick", "--", "x"),
                "--profile: 'quick': there is no configuration file",
            ),
            (
                ("--config", "no/such", "--", "x"),
                "--config: 'no/such': No such file or directory",
            ),
            (("--verbose", "--", "x"), "unknown option '--verbose'"),
            (
                ("--remember", "9" * 20, "--", "x"),
                f"--remember: '{'9' * 20}' is not a whole number from 1 to 4611686018427387904",
            ),
            (("--remember", "0", "--", "x"), "--remember: '0' is not a whole number from 1"),
            (
                ("--grace", "9999999999", "--", "x"),
                (
                    "--grace: '9999999999' is not a number of seconds from 0, e.g. 60 or 0.5"
                    " (at most 1000000000)"
                ),
            ),
        ],
    )
    def test_a_line_names_what_is_wrong(self, words: tuple[str, ...], line: str) -> None:
        assert refusal(*words) == line


class TestTheEnvironment:
    def test_a_variable_stands_in_for_its_flag(self) -> None:
        environment = {
            "NEVERMIND_CANCEL": "absorb",
            "NEVERMIND_SHIELD": "yes",
            "NEVERMIND_MAX_MESSAGE": "1KiB",
        }
        assert chosen(environment=environment) == {
            "cancel": "absorb",
            "shield": True,
            "max_message": 1024,
        }

    def test_a_flag_beats_its_variable(self) -> None:
        environment = {"NEVERMIND_SHIELD": "1", "NEVERMIND_GRACE": "9"}
        assert chosen("--no-shield", "--grace=1", environment=environment) == {"grace": 1.0}

    def test_a_beaten_variable_may_say_what_it_likes(self) -> None:
        assert chosen("--grace=1", environment={"NEVERMIND_GRACE": "soon"}) == {"grace": 1.0}

    def test_an_empty_variable_is_none(self) -> None:
        # what hosts make of a ${NAME} that is not set
        assert chosen(environment={"NEVERMIND_GRACE": "", "NEVERMIND_LOG_FILE": ""}) == {}

    def test_it_is_known_where_a_choice_came_from(self) -> None:
        words = ["--no-shield", "--grace=1", "--", "x"]
        arguments = read_arguments(words, {"NEVERMIND_CANCEL": "absorb", "NEVERMIND_GRACE": "2"})
        assert arguments.origins == {
            "shield": "--no-shield",
            "grace": "--grace",
            "cancel": "NEVERMIND_CANCEL",
        }

    @pytest.mark.parametrize(
        ("name", "text"),
        [("GRACE", "soon"), ("SHIELD", "maybe"), ("CANCEL", "Absorb"), ("REMEMBER", "0")],
    )
    def test_a_bad_value_is_refused_under_the_variables_name(self, name: str, text: str) -> None:
        line = refusal("--", "x", environment={f"NEVERMIND_{name}": text})
        assert line.startswith(f"NEVERMIND_{name}: {text!r} is ")


def _forms(option: Option) -> list[list[str]]:
    """Ways of writing ``option``, not all of them right."""
    if isinstance(option.kind, Flag):
        return [[option.flag], [f"--no-{option.flag[2:]}"]]
    texts = ["1", "0", "7", "2.5", "64KiB", "a=b", "x"]
    if isinstance(option.kind, Choice):
        texts = [*option.kind.words, "x"]
    return [form for text in texts for form in ([option.flag, text], [f"{option.flag}={text}"])]


BY_TABLE = [o for o in OPTIONS if o.name not in ("dialect", "config", "profile")]
"""The options that the table alone judges: of the others, what the file says has to be known."""

FORMS = [form for option in BY_TABLE for form in _forms(option)]


@given(
    # once each: of several, click judges only the last
    st.lists(st.sampled_from(FORMS), max_size=5, unique_by=lambda form: form[0].partition("=")[0]),
    st.lists(st.sampled_from(["server", "--", "--shield", "-x", "a b"]), min_size=1, max_size=4),
    st.dictionaries(
        st.sampled_from([option.variable for option in BY_TABLE]),
        st.sampled_from(["", "drop", "forward", "1", "64KiB", "json"]),
        max_size=3,
    ),
)
def test_click_built_from_the_same_table_understands_the_same(
    options: list[list[str]], command: list[str], environment: dict[str, str]
) -> None:
    words = [*(word for option in options for word in option), "--", *command]
    theirs = click.Command(
        "run",
        params=[
            *(click_option(option) for option in OPTIONS),
            click.Argument(["command"], nargs=-1, required=True),
        ],
    )
    with pytest.MonkeyPatch.context() as patch:
        for option in OPTIONS:
            patch.delenv(option.variable, raising=False)
        for name, text in environment.items():
            patch.setenv(name, text)
        try:
            ours = read_arguments(words, os.environ)
        except UsageError:
            with pytest.raises(click.UsageError):
                theirs.make_context("run", list(words))
            return
        params = theirs.make_context("run", list(words)).params
    read_command = params.pop("command")
    assert (params, list(read_command)) == (ours.values, ours.command)
