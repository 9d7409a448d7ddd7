"""``nevermind config``: what is in force, as a configuration file that says the same.

Everything printed is TOML, the origins are its comments: it can be kept, changed
and given to ``--config``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

import click

from nevermind_cli.arguments import Arguments
from nevermind_config.dialects import settings
from nevermind_config.errors import ConfigError
from nevermind_config.file import load
from nevermind_config.option import Option
from nevermind_config.options import DIALECTS, OPTIONS
from nevermind_config.settings import policy
from nevermind_config.tables import quote
from nevermind_config.values import File, Value

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_COLUMN = 34
"""Where the origins begin, if the value leaves room."""


def show(arguments: Arguments) -> int:
    """Print every value that is in force and where it comes from; 0."""
    click.echo("\n".join(_lines(arguments)))
    return 0


def check(path: str) -> int:
    """Say that the file at ``path`` is good; 0.  Raises click's UsageError where it is not."""
    try:
        file = load(path)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    parts = [
        f"{kind}: {', '.join(names)}"
        for kind, names in (("profiles", file.profiles), ("dialects", file.dialects))
        if names
    ]
    click.echo("; ".join([f"{path}: good", *parts]))
    return 0


def _lines(arguments: Arguments) -> Iterator[str]:
    profile = arguments.values["profile"]
    where = arguments.file or "no configuration file"
    yield f"# {_plain(where)}" + (f", profile {profile}" if profile else "")
    name = str(arguments.values["dialect"])
    dialect = settings(name, arguments.dialects)
    implied = _implied(arguments, name, bool(dialect.get("answer-owed")))
    for option in OPTIONS:
        if option.key is None:
            continue
        value, origin = arguments.values[option.name], arguments.origins.get(option.name)
        if value is None and origin is None and option.name in implied:
            value, origin = implied[option.name]
        yield _line(option, value, origin or "default")
    for method, chosen in arguments.methods.items():
        yield f"\n[methods.{quote(method)}]"
        for option in OPTIONS:
            if option.name in chosen:
                yield _line(
                    option, chosen[option.name], arguments.method_origins[method][option.name]
                )
    if name not in DIALECTS:
        yield f"\n[dialects.{quote(name)}]"
        for key, told in dialect.items():
            if key != "extends":
                yield f"{key} = {_literal(told)}"


def _implied(
    arguments: Arguments, dialect: str, answer_owed: bool
) -> Mapping[str, tuple[Value, str]]:
    """What the dialect, or another switch, makes of the switches that nobody has touched."""
    resolved = policy(arguments.values).resolved(answer_owed)
    found: dict[str, tuple[Value, str]] = {}
    for name in ("late_response", "late_progress", "stale_progress"):
        found[name] = getattr(resolved, name).value, f"dialect {dialect}"
    assert resolved.noise is not None
    found["noise"] = resolved.noise.value, "shield" if resolved.shield else "default"
    return found


def _line(option: Option, value: Value, origin: str) -> str:
    if isinstance(option.kind, File) and isinstance(value, str) and not value.startswith("~"):
        value = os.path.abspath(value)  # in a file, a relative one would be beside the file
    text = option.show(value)
    if isinstance(value, tuple):
        shown = ", ".join(quote(option.kind.show(each)) for each in value)
        text = f"[{shown}]"
        if not value:
            return f"# {option.key}: {option.unset}"
    elif isinstance(value, bool):
        text = _literal(value)
    elif value is None and text != "off":
        return f"# {option.key}: {option.unset}"
    elif not _NUMBER.fullmatch(text) or isinstance(value, str):
        text = quote(text)
    line = f"{option.key} = {text}".ljust(_COLUMN) + f"  # {_plain(origin)}"
    each = value if isinstance(value, tuple) else (value,)
    if value is not None and any(map(option.kind.hides, each)):
        return f"# {line}, not shown whole: it may hold a secret"
    return line


def _plain(text: str) -> str:
    """``text`` with nothing in it that would end a comment."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _literal(told: object) -> str:
    """A setting of a dialect as TOML."""
    match told:
        case bool():
            return "true" if told else "false"
        case str():
            return quote(told)
        case frozenset():
            return _literal(tuple(sorted(told)))
        case tuple():
            return "[" + ", ".join(map(_literal, told)) + "]"
        case _:
            return str(told)
