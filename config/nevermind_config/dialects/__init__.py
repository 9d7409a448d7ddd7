"""Dialects as TOML tables: the shipped ones beside this file, a user's in the configuration.

A table says what the engine's ``Dialect`` has to know, key by key, or what is
different from the dialect that it ``extends``.  A path is a text with dots
(``"params.requestId"``), or an array of names where a name has a dot in it.

A result that creates a task passes in every dialect that can cancel, because
losing it would orphan running work: hence ``creates-tasks`` in each of them.
"""

from __future__ import annotations

import os.path

from nevermind_config.errors import ConfigError
from nevermind_config.options import DIALECTS
from nevermind_config.suggestions import did_you_mean
from nevermind_config.tables import Table
from nevermind_config.values import Choice, Flag, Name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nevermind.dialects import Dialect, Path

FRAMINGS = ("lines", "content-length")
_OURS = ("id", "method", "result", "error", "jsonrpc")
"""Members of a message that mean the same in every dialect: no path leads through them."""

_A_PATH = 'a path such as "params.id", or an array of names'
_PAIRS = (("cancel-method", "cancel-id"), ("progress-method", "progress-token"))
_CODES = 2**31


def _text(table: Table, key: str) -> object:
    return table.value(key, Name())


def _flag(table: Table, key: str) -> object:
    return table.value(key, Flag())


def _framing(table: Table, key: str) -> object:
    return table.value(key, Choice(*FRAMINGS))


def _methods(table: Table, key: str) -> object:
    return frozenset(table.texts(key, "an array of method names"))


def _code(table: Table, key: str) -> object:
    found = table.raw[key]
    if not isinstance(found, int) or isinstance(found, bool) or abs(found) > _CODES:
        raise table.wrong(key, "a whole number within 32 bits")
    return found


def _path(table: Table, key: str) -> object:
    return _read_path(table, key, table.raw[key], _A_PATH)


def _paths(table: Table, key: str) -> object:
    found = table.raw[key]
    if not isinstance(found, list):
        raise table.wrong(key, "an array of paths")
    return tuple(_read_path(table, key, one, f"in the array: {_A_PATH}") for one in found)


def _read_path(table: Table, key: str, found: object, allowed: str) -> Path:
    names = found.split(".") if isinstance(found, str) else found
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names) or not names:
        raise table.wrong(key, allowed, found)
    if names[0] in _OURS:
        raise table.wrong(key, f"a path outside of {', '.join(_OURS)}", found)
    return tuple(names)


KEYS: dict[str, Callable[[Table, str], object]] = {
    "extends": _text,
    "framing": _framing,
    "cancel-method": _text,
    "cancel-id": _path,
    "progress-method": _text,
    "progress-token": _path,
    "request-tokens": _paths,
    "uncancellable": _methods,
    "subscriptions": _methods,
    "subscription-id": _path,
    "creates-tasks": _flag,
    "answer-owed": _flag,
    "cancelled-code": _code,
}
"""What a table may say, and how each is read."""


def check(table: Table) -> None:
    """Refuse unknown keys and wrong values in the table of one dialect."""
    table.check_keys(KEYS)
    for key in table.raw:
        KEYS[key](table, key)


def settings(name: str, own: Mapping[str, Table]) -> dict[str, object]:
    """What the dialect ``name`` says, with what it extends; checked as a whole.

    ``own`` are the user's tables by name.
    """
    told: dict[str, object] = {}
    chain: list[str] = []
    step = name
    while True:
        if step in chain:
            raise own[name].wrong("extends", "a dialect that does not extend this one")
        if step not in own and step not in DIALECTS:
            raise _unknown(own[chain[-1]], step, own)
        chain.append(step)
        table = own[step] if step in own else shipped(step)
        check(table)
        for key in table.raw:
            told.setdefault(key, KEYS[key](table, key))
        if "extends" not in table.raw:
            break
        step = str(table.raw["extends"])
    if name in own:
        _check_whole(own[name], told)
    return told


def dialect(name: str, own: Mapping[str, Table]) -> Dialect:
    """The dialect ``name`` as the engine knows it; for the shipped MCP no file is read."""
    from nevermind.dialects import MCP, Dialect

    if name == "mcp":
        return MCP
    told = settings(name, own)
    told.pop("extends", None)
    framing = told.pop("framing", FRAMINGS[0])
    fields = {key.replace("-", "_"): value for key, value in told.items()}
    return Dialect(name=name, header_framed=framing == "content-length", **fields)  # type: ignore[arg-type]


def shipped(name: str) -> Table:
    """The table of a dialect that comes with nevermind."""
    import tomllib

    path = os.path.join(os.path.dirname(__file__), f"{name}.toml")
    with open(path, "rb") as file:
        return Table(tomllib.load(file), f"{name}.toml")


def _unknown(table: Table, found: str, own: Mapping[str, Table]) -> ConfigError:
    known = [*DIALECTS, *own]
    return table.wrong("extends", f"{', '.join(known)}{did_you_mean(found, known)}")


def _check_whole(table: Table, told: dict[str, object]) -> None:
    """What no key can be blamed for alone."""
    where = f"{table.file}: {'.'.join(table.path)}"
    for one, other in _PAIRS:
        if (one in told) is not (other in told):
            missing, there = (one, other) if other in told else (other, one)
            raise ConfigError(f"{where}: {missing} is missing: {there} is of no use without it")
    if "cancel-method" in told and told["cancel-method"] == told.get("progress-method"):
        raise ConfigError(f"{where}: cancel-method and progress-method are the same")
    paths: list[Path] = []
    for key in ("cancel-id", "progress-token", "subscription-id"):
        paths += [told[key]] if key in told else []  # type: ignore[list-item]
    paths += told.get("request-tokens", ())  # type: ignore[arg-type]
    for path in paths:
        for other_path in paths:
            if path != other_path and other_path[: len(path)] == path:
                inner, outer = ".".join(other_path), ".".join(path)
                raise ConfigError(f"{where}: {inner} lies inside of {outer}, which is an id itself")
