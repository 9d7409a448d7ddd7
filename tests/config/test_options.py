"""The table of options says of every setting what people need to know, and once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nevermind_config.option import Option
from nevermind_config.options import OPTIONS
from nevermind_config.values import Choice, Flag

BY_FLAG = {option.flag: option for option in OPTIONS}


def test_every_switch_of_a_session_is_there() -> None:
    assert list(BY_FLAG) == [
        "--dialect",
        "--cancel",
        "--late-response",
        "--late-progress",
        "--stale-progress",
        "--redundant-cancel",
        "--id-reuse",
        "--shield",
        "--noise",
        "--timeout",
        "--max-timeout",
        "--answer-cancelled",
        "--reap-tasks",
        "--remember",
        "--max-message",
        "--grace",
        "--log-level",
        "--log-format",
        "--log-file",
        "--config",
        "--profile",
        "--listen",
        "--connect",
        "--header",
        "--bearer-env",
        "--subprotocol",
        "--token-env",
        "--token-file",
        "--origin",
        "--tls-cert",
        "--tls-key",
        "--tls-ca",
        "--max-connections",
        "--insecure-listen",
        "--admin-listen",
        "--health-path",
        "--ping-interval",
        "--ping-timeout",
    ]


def test_a_file_has_the_same_names_without_the_dashes() -> None:
    keys = {option.flag: option.key for option in OPTIONS if option.key}
    assert keys == {flag: flag[2:] for flag in BY_FLAG if flag not in ("--config", "--profile")}


def test_an_option_gives_its_name_and_its_variable() -> None:
    option = BY_FLAG["--late-response"]
    assert (option.name, option.variable) == ("late_response", "NEVERMIND_LATE_RESPONSE")


def test_only_a_flag_can_be_turned_off_by_a_flag() -> None:
    off = {option.flag: option.off_flag for option in OPTIONS if option.off_flag}
    assert off == {
        "--shield": "--no-shield",
        "--reap-tasks": "--no-reap-tasks",
        "--insecure-listen": "--no-insecure-listen",
    }


def test_only_what_is_a_list_can_be_given_several_times() -> None:
    assert [option.flag for option in OPTIONS if option.repeats] == [
        "--header",
        "--subprotocol",
        "--origin",
    ]
    assert all((option.default == ()) is option.repeats for option in OPTIONS)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.flag)
def test_a_default_is_a_value_that_a_user_could_give(option: Option) -> None:
    if option.default in (None, ()):
        assert option.unset
    else:
        assert option.read(option.show(option.default)) == option.default


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.flag)
def test_an_option_is_described_in_sentences(option: Option) -> None:
    assert option.help.endswith(".")
    assert option.help[0].isupper()


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.flag)
def test_no_value_needs_a_space(option: Option) -> None:
    # some hosts start servers without quoting their arguments
    if isinstance(option.kind, Choice):
        assert not any(" " in word for word in option.kind.words)
    assert " " not in option.kind.metavar


def test_flags_have_no_metavar_and_others_do() -> None:
    assert all(bool(option.kind.metavar) != isinstance(option.kind, Flag) for option in OPTIONS)


def test_reading_the_options_imports_nothing_slow() -> None:
    # the server is started only after they are read: dataclasses or typing alone cost 10 ms
    code = (
        "import sys; before = set(sys.modules); import nevermind_config.options;"
        "print(*sorted(set(sys.modules) - before))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == [
        "__future__",
        "nevermind_config",
        "nevermind_config.network",
        "nevermind_config.network_values",
        "nevermind_config.option",
        "nevermind_config.options",
        "nevermind_config.own_messages",
        "nevermind_config.values",
    ]
