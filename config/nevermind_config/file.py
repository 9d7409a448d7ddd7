"""One configuration file: read, checked to its last key, ready to be chosen from.

Imported only when a file is in play: reading TOML takes longer to import than
all that ``run`` needs without one.
"""

from __future__ import annotations

import os.path
import re
import tomllib

from nevermind_config import dialects
from nevermind_config.errors import ConfigError, UnreadableError
from nevermind_config.option import Option
from nevermind_config.options import DIALECTS, OPTIONS
from nevermind_config.suggestions import did_you_mean
from nevermind_config.tables import Table
from nevermind_config.values import File, Value

BY_KEY = {option.key: option for option in OPTIONS if option.key}
PER_METHOD = {key: option for key, option in BY_KEY.items() if option.per_method}

_PLACE = re.compile(r" \(at (line [0-9]+, column [0-9]+|end of document)\)$")
"""Where ``tomllib`` found what is wrong, at the end of its words."""

Methods = dict[str, dict[str, Value]]
"""Settings of single methods: by method, then by option name."""


class Section:
    """The top of a file, or one profile: ``values`` by option name, ``methods`` by method."""

    __slots__ = ("_table", "methods", "values")

    def __init__(self, table: Table, values: dict[str, Value], methods: Methods) -> None:
        self._table = table
        self.values = values
        self.methods = methods

    def origin(self, key: str, method: str | None = None) -> str:
        """Where ``key`` stands, of ``method`` if it is a setting of one: file and way to it."""
        table = self._table
        if method is not None:
            table = table.table("methods").table(method)
        return f"{table.file}: {table.name(key)}"


class ConfigFile:
    """What a file says: its top, its profiles and its dialects, by name."""

    __slots__ = ("dialects", "path", "profiles", "top")

    def __init__(
        self,
        path: str,
        top: Section,
        profiles: dict[str, Section],
        dialects: dict[str, Table],
    ) -> None:
        self.path = path
        self.top = top
        self.profiles = profiles
        self.dialects = dialects

    def sections(self, profile: str | None) -> list[Section]:
        """The sections in force, the strongest first; ConfigError for an unknown profile."""
        if profile is None:
            return [self.top]
        if profile not in self.profiles:
            known = ", ".join(self.profiles) or "none, the file has no [profiles.NAME]"
            hint = did_you_mean(profile, self.profiles)
            raise ConfigError(f"{self.path}: found no profile {profile!r}; allowed: {known}{hint}")
        return [self.profiles[profile], self.top]


def load(path: str) -> ConfigFile:
    """Read and check the file at ``path``; ConfigError says what is wrong with it."""
    whole = Table(_parse(path), path)
    whole.check_keys({*BY_KEY, "methods", "profiles", "dialects"})
    own = whole.tables("dialects")
    for name in own:
        if name in DIALECTS:
            allowed = f'another name, and in it extends = "{name}"'
            raise ConfigError(f"{path}: dialects.{name}: found a shipped one; allowed: {allowed}")
        dialects.settings(name, own)
    known = [*DIALECTS, *own]
    top = _section(whole, known)
    profiles = {}
    for name, table in whole.tables("profiles").items():
        table.check_keys({*BY_KEY, "methods"})
        profiles[name] = _section(table, known)
    return ConfigFile(path, top, profiles, own)


def _parse(path: str) -> dict[str, object]:
    data = b""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            data = file.read()
        return tomllib.loads(data.decode())
    except OSError as error:
        raise UnreadableError(path, error.strerror or "cannot be read") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}: line {line}: found bytes that are not UTF-8") from None
    except (ValueError, RecursionError) as error:
        # a number of thousands of digits and too deep a nesting have errors of their own
        what = str(error).splitlines()[0] if str(error) else "not TOML"
        place = _PLACE.search(what)
        where = f"{place[1]}: " if place else ""
        if place and not place[1].startswith("line"):
            where = f"line {len(data.splitlines())}: "
        raise ConfigError(f"{path}: {where}not TOML: {_PLACE.sub('', what)}") from None


def _section(table: Table, known: list[str]) -> Section:
    values = _values(table, BY_KEY)
    found = values.get("dialect")
    if found is not None and found not in known:
        raise table.wrong("dialect", f"{', '.join(known)}{did_you_mean(str(found), known)}")
    methods: Methods = {}
    for method, settings in table.tables("methods").items():
        settings.check_keys(PER_METHOD)
        methods[method] = _values(settings, PER_METHOD)
    return Section(table, values, methods)


def _values(table: Table, options: dict[str, Option]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, option in options.items():
        if key in table.raw and option.repeats:
            values[option.name] = table.values(key, option.kind)
        elif key in table.raw:
            value = table.value(key, option.kind)
            if isinstance(option.kind, File) and isinstance(value, str):
                value = _beside(table.file, value)
            values[option.name] = value
    return values


def _beside(file: str, path: str) -> str:
    """A relative ``path`` is meant from the folder of the file that names it."""
    folder = os.path.dirname(os.path.expanduser(file))
    return path if path.startswith("~") else os.path.join(folder, path)
