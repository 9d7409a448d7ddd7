"""Dialects as TOML tables: the shipped ones as the engine has them, a user's checked to its end."""

from __future__ import annotations

import tomllib

import pytest
from msgspec.structs import fields

from nevermind.dialects import MCP, Dialect
from nevermind_config.dialects import KEYS, check, dialect, settings, shipped
from nevermind_config.errors import ConfigError
from nevermind_config.options import DIALECTS
from nevermind_config.tables import Table

LSP = Dialect(
    name="lsp",
    cancel_method="$/cancelRequest",
    cancel_id=("params", "id"),
    progress_method="$/progress",
    progress_token=("params", "token"),
    request_tokens=(("params", "workDoneToken"), ("params", "partialResultToken")),
    uncancellable=frozenset({"initialize"}),
    creates_tasks=True,
    answer_owed=True,
    header_framed=True,
    cancelled_code=-32800,
)


def tables(text: str) -> dict[str, Table]:
    """The dialects that a configuration file with this text would define."""
    return Table(tomllib.loads(text), "f.toml").tables("dialects")


def refusal(text: str, name: str = "mine") -> str:
    own = tables(text)
    with pytest.raises(ConfigError) as error:
        settings(name, own)
    line = str(error.value)
    assert "\n" not in line
    return line


def mine(text: str) -> Dialect:
    return dialect("mine", tables(f"[dialects.mine]\n{text}"))


class TestShipped:
    @pytest.mark.parametrize("name", DIALECTS)
    def test_each_is_a_good_table(self, name: str) -> None:
        check(shipped(name))
        assert dialect(name, {}).name == name

    def test_the_file_of_mcp_says_what_the_engine_has_built_in(self) -> None:
        by_file = dialect("copy", tables('[dialects.copy]\nextends = "mcp"'))
        assert {f.name: getattr(by_file, f.name) for f in fields(Dialect) if f.name != "name"} == {
            f.name: getattr(MCP, f.name) for f in fields(Dialect) if f.name != "name"
        }
        assert dialect("mcp", {}) is MCP

    def test_lsp(self) -> None:
        assert dialect("lsp", {}) == LSP

    @pytest.mark.parametrize(
        ("name", "framed", "owed", "cancel"),
        [
            ("mcp", False, False, "notifications/cancelled"),
            ("lsp", True, True, "$/cancelRequest"),
            ("bsp", True, True, "$/cancelRequest"),
            ("acp", False, True, "$/cancel_request"),
            ("jsonrpc", False, False, None),
        ],
    )
    def test_what_they_differ_in(
        self, name: str, framed: bool, owed: bool, cancel: str | None
    ) -> None:
        found = dialect(name, {})
        assert (found.header_framed, found.answer_owed, found.cancel_method) == (
            framed,
            owed,
            cancel,
        )

    def test_every_key_is_a_field_of_the_engines(self) -> None:
        named = {key.replace("-", "_") for key in KEYS} - {"extends", "framing"}
        assert named | {"name", "header_framed"} == {f.name for f in fields(Dialect)}


class TestCustom:
    def test_an_empty_one_has_no_cancel(self) -> None:
        assert mine("") == Dialect(name="mine")

    def test_every_key(self) -> None:
        found = mine(
            """
            framing = "content-length"
            cancel-method = "stop"
            cancel-id = "params.id"
            progress-method = "step"
            progress-token = ["params", "a.b"]
            request-tokens = ["params.one", ["params", "two.three"]]
            uncancellable = ["hello", "bye"]
            subscriptions = ["watch"]
            subscription-id = "meta.watch"
            creates-tasks = true
            answer-owed = true
            cancelled-code = 0
            """
        )
        assert found == Dialect(
            name="mine",
            cancel_method="stop",
            cancel_id=("params", "id"),
            progress_method="step",
            progress_token=("params", "a.b"),
            request_tokens=(("params", "one"), ("params", "two.three")),
            uncancellable=frozenset({"hello", "bye"}),
            subscriptions=frozenset({"watch"}),
            subscription_id=("meta", "watch"),
            creates_tasks=True,
            answer_owed=True,
            header_framed=True,
            cancelled_code=0,
        )

    def test_it_may_be_another_with_a_difference(self) -> None:
        found = mine('extends = "lsp"\nrequest-tokens = []\nframing = "lines"')
        assert found.request_tokens == ()
        assert not found.header_framed
        assert found.cancel_method == LSP.cancel_method
        assert found.answer_owed

    def test_also_another_of_the_users(self) -> None:
        own = tables(
            """
            [dialects.one]
            extends = "two"
            cancelled-code = 1
            [dialects.two]
            extends = "acp"
            cancelled-code = 2
            uncancellable = ["hello"]
            """
        )
        found = dialect("one", own)
        assert (found.cancelled_code, found.uncancellable) == (1, frozenset({"hello"}))
        assert found.cancel_method == "$/cancel_request"
        assert dialect("two", own).cancelled_code == 2


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            (
                "cancel-metod = 1",
                "unknown key dialects.mine.cancel-metod; did you mean cancel-method?",
            ),
            ("header-framed = true", "unknown key dialects.mine.header-framed; "),
            (
                'framing = "websocket"',
                'dialects.mine.framing: found "websocket"; allowed: lines, content-length',
            ),
            ("cancel-method = 7", "dialects.mine.cancel-method: found 7; allowed: a name"),
            (
                'cancel-id = ""',
                'dialects.mine.cancel-id: found ""; allowed: a path such as "params.id", or',
            ),
            ('cancel-id = "params."', 'dialects.mine.cancel-id: found "params."; allowed: a path'),
            ("cancel-id = []", "dialects.mine.cancel-id: found an empty array; allowed: a path"),
            ("cancel-id = [1]", "dialects.mine.cancel-id: found an array; allowed: a path"),
            ("cancel-id = true", "dialects.mine.cancel-id: found true; allowed: a path"),
            (
                'cancel-id = "id"',
                'dialects.mine.cancel-id: found "id"; allowed: a path outside of id, method,',
            ),
            (
                'request-tokens = "params.token"',
                'dialects.mine.request-tokens: found "params.token"; allowed: an array of paths',
            ),
            (
                'request-tokens = ["params.token", 7]',
                "dialects.mine.request-tokens: found 7; allowed: in the array: a path",
            ),
            (
                'uncancellable = "initialize"',
                'dialects.mine.uncancellable: found "initialize"; allowed: an array of',
            ),
            ("uncancellable = [1]", "dialects.mine.uncancellable: found 1; allowed: an array"),
            ('answer-owed = "yes"', 'dialects.mine.answer-owed: found "yes"; allowed: true, false'),
            (
                "cancelled-code = true",
                "dialects.mine.cancelled-code: found true; allowed: a whole number within 32 bits",
            ),
            ("cancelled-code = 3000000000", "dialects.mine.cancelled-code: found 3000000000; "),
            ("cancelled-code = 1.0", "dialects.mine.cancelled-code: found 1.0; "),
            (
                'extends = "lps"',
                'dialects.mine.extends: found "lps"; allowed: mcp, lsp, bsp, acp, jsonrpc, mine; ',
            ),
            (
                'extends = "mine"',
                'dialects.mine.extends: found "mine"; allowed: a dialect that does not extend',
            ),
            (
                'cancel-method = "x"',
                "dialects.mine: cancel-id is missing: cancel-method is of no use without it",
            ),
            (
                'progress-token = "x"',
                "dialects.mine: progress-method is missing: progress-token is of no use without it",
            ),
            (
                'extends = "lsp"\nprogress-method = "$/cancelRequest"',
                "dialects.mine: cancel-method and progress-method are the same",
            ),
            (
                'extends = "lsp"\nrequest-tokens = ["params.id.token"]',
                "dialects.mine: params.id.token lies inside of params.id, which is an id itself",
            ),
        ],
    )
    def test_a_line_names_file_key_and_what_is_allowed(self, text: str, line: str) -> None:
        assert refusal(f"[dialects.mine]\n{text}").startswith(f"f.toml: {line}")

    def test_a_circle_is_refused(self) -> None:
        text = '[dialects.mine]\nextends = "other"\n[dialects.other]\nextends = "mine"'
        assert refusal(text).startswith('f.toml: dialects.mine.extends: found "other"; allowed: ')
        text = '[dialects.mine]\nextends = "other"\n[dialects.other]\nextends = "other"'
        assert "extends: found " in refusal(text)

    def test_a_fault_in_what_is_extended_is_named_there(self) -> None:
        text = '[dialects.mine]\nextends = "other"\n[dialects.other]\nframing = "x"'
        assert refusal(text).startswith("f.toml: dialects.other.framing: ")
