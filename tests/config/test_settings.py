"""What was chosen becomes the engine's policy; table and engine agree on words and defaults."""

from __future__ import annotations

import pytest

from nevermind.policy import Fate, FirstCancel, IdReuse, LateResponse, Noise, Policy
from nevermind.shell.options import GRACE
from nevermind_config.network import NETWORK
from nevermind_config.options import OPTIONS
from nevermind_config.settings import PLAIN, WORDS, policy
from nevermind_config.values import Choice, Value

DEFAULTS: dict[str, Value] = {option.name: option.default for option in OPTIONS}
KINDS = {option.name: option.kind for option in OPTIONS}


def test_the_defaults_of_the_table_are_the_defaults_of_the_engine() -> None:
    assert policy(DEFAULTS).resolved(answer_owed=False) == Policy().resolved(answer_owed=False)


def test_the_grace_of_the_table_is_the_grace_of_the_engine() -> None:
    assert DEFAULTS["grace"] == GRACE


@pytest.mark.parametrize("name", WORDS)
def test_the_words_of_an_option_are_the_values_of_its_enum(name: str) -> None:
    kind = KINDS[name]
    assert isinstance(kind, Choice)
    assert list(kind.words) == [member.value for member in WORDS[name]]


def test_every_word_reaches_its_switch() -> None:
    chosen: dict[str, Value] = {
        **DEFAULTS,
        "cancel": "absorb",
        "late_response": "forward-errors",
        "late_progress": "forward",
        "stale_progress": "forward",
        "redundant_cancel": "forward",
        "id_reuse": "forward",
        "shield": True,
        "noise": "drop",
        "remember": 10,
        "max_message": 1024,
        "timeout": 30.0,
        "max_timeout": 60.0,
        "answer_cancelled": 0.0,
        "reap_tasks": True,
    }
    assert policy(chosen) == Policy(
        cancel=FirstCancel.ABSORB,
        late_response=LateResponse.FORWARD_ERRORS,
        late_progress=Fate.FORWARD,
        stale_progress=Fate.FORWARD,
        redundant_cancel=Fate.FORWARD,
        id_reuse=IdReuse.FORWARD,
        shield=True,
        noise=Noise.DROP,
        remember=10,
        max_message=1024,
        timeout=30.0,
        max_timeout=60.0,
        answer_cancelled=0.0,
        reap_tasks=True,
    )


def test_single_methods_have_timeouts_of_their_own() -> None:
    methods: dict[str, dict[str, Value]] = {
        "initialize": {"timeout": 60.0},
        "ping": {"timeout": None},
    }
    chosen = policy({**DEFAULTS, "timeout": 30.0}, {**methods, "tools/list": {}})
    assert (chosen.timeout, chosen.timeouts) == (30, {"initialize": 60, "ping": None})


def test_every_option_is_the_policys_or_the_runs() -> None:
    of_the_run = {"dialect", "grace", "log_level", "log_format", "log_file", "config", "profile"}
    of_connections = {option.name for option in NETWORK}
    assert {*WORDS, *PLAIN} | of_the_run | of_connections == set(DEFAULTS)


@pytest.mark.parametrize(
    ("shield", "noise", "fate"),
    [
        (False, None, Noise.FORWARD),
        (True, None, Noise.STDERR),
        (True, "forward", Noise.FORWARD),
        (False, "drop", Noise.DROP),
    ],
)
def test_the_shield_diverts_noise_unless_told_otherwise(
    shield: bool, noise: str | None, fate: Noise
) -> None:
    chosen = policy({**DEFAULTS, "shield": shield, "noise": noise})
    assert chosen.resolved(answer_owed=False).noise is fate
