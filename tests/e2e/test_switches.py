"""What the switches change, given as options and as variables of the environment."""

from __future__ import annotations

import pytest

from e2e.harness import (
    Conversation,
    cancel,
    error,
    progress,
    request,
    result,
)


def both_ways(option: str, value: str) -> list[dict[str, object]]:
    """The switch on the command line, and as a variable."""
    variable = "NEVERMIND_" + option[2:].replace("-", "_").upper()
    return [{"options": (option, value)}, {"environment": {variable: value}}]


def switch(option: str, value: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("settings", both_ways(option, value), ids=["option", "variable"])


def conversation(settings: dict[str, object]) -> Conversation:
    return Conversation(**settings)  # type: ignore[arg-type]


@switch("--cancel", "absorb")
def test_an_absorbed_cancel_takes_effect_but_never_arrives(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1, token=1))
        wire.never_reaches_server(cancel(1), cancel(1))
        wire.never_reaches_client(progress(1), result(1))
        wire.passes_to_server(cancel("never seen"))


@switch("--late-response", "forward")
def test_late_answers_may_pass(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1, token=1), cancel(1))
        wire.passes_to_client(result(1), error(1))
        wire.never_reaches_client(progress(1))


@switch("--late-response", "first")
def test_the_first_late_answer_may_pass(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1), cancel(1))
        wire.passes_to_client(error(1))
        wire.never_reaches_client(result(1), error(1))


@switch("--late-response", "forward-errors")
def test_the_first_late_error_may_pass(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1), cancel(1))
        wire.never_reaches_client(result(1))
        wire.passes_to_client(error(1))
        wire.never_reaches_client(error(1))


@switch("--late-progress", "forward")
def test_late_progress_may_pass(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1, token=1), cancel(1))
        wire.passes_to_client(progress(1))
        wire.never_reaches_client(result(1))


@switch("--stale-progress", "forward")
def test_stale_progress_may_pass(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1, token=1))
        wire.passes_to_client(result(1), progress(1))


@switch("--redundant-cancel", "forward")
def test_redundant_cancels_may_pass(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1), cancel(1), cancel(1), request(2))
        wire.passes_to_client(result(2))
        wire.passes_to_server(cancel(2))
        wire.never_reaches_client(result(1))


@switch("--id-reuse", "forward")
def test_an_id_may_be_taken_over(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1), cancel(1), request(1))
        wire.passes_to_client(result(1))


@switch("--noise", "drop")
def test_noise_may_be_dropped(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.never_reaches_client("listening on stdio", "")
        wire.logs(event="drop", what="noise")


@switch("--noise", "stderr")
def test_noise_may_go_to_stderr(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.never_reaches_client("listening on stdio\r", "")
        wire.stderr_has("listening on stdio\r\n")


@switch("--remember", "2")
def test_what_is_not_remembered_passes(settings: dict[str, object]) -> None:
    """At least the newest two are known, at most twice as many."""
    with conversation(settings) as wire:
        for id_ in range(10):
            wire.passes_to_server(request(id_), cancel(id_))
        wire.passes_to_client(result(0))
        wire.never_reaches_client(result(9), result(8))


@switch("--max-message", "10000")
def test_a_longer_message_is_streamed_and_still_known(settings: dict[str, object]) -> None:
    with conversation(settings) as wire:
        wire.passes_to_server(request(1), request(2, blob="A" * 200_000))
        wire.passes_to_client(result(1, "B" * 200_000), result(2))
        wire.never_reaches_server(cancel(1))


class TestShield:
    """Nothing reaches the host that it did not ask for."""

    @pytest.mark.parametrize(
        "settings",
        [{"options": ("--shield",)}, {"environment": {"NEVERMIND_SHIELD": "1"}}],
        ids=["option", "variable"],
    )
    def test_answers_that_nobody_asked_for(self, settings: dict[str, object]) -> None:
        with conversation(settings) as wire:
            wire.passes_to_server(request(1))
            wire.passes_to_client(result(1))
            wire.never_reaches_client(result(1), result(99), error(None), result("1.5"))
            wire.never_reaches_server(cancel(77))
            wire.logs(event="drop", what="unasked-answer")
            wire.logs(event="drop", what="unknown-cancel")

    def test_an_option_beats_the_variable(self) -> None:
        with Conversation(("--no-shield",), environment={"NEVERMIND_SHIELD": "1"}) as wire:
            wire.passes_to_client(result(99))

    def test_noise_goes_to_stderr_unless_it_is_told_where(self) -> None:
        with Conversation(("--shield",)) as wire:
            wire.never_reaches_client("listening")
            wire.stderr_has("listening\n")
        with Conversation(("--shield", "--noise", "forward")) as wire:
            wire.passes_to_client("listening")
