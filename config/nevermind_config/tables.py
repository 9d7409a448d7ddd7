"""One TOML table while it is being read: every complaint says where it stands.

Knows keys and kinds of value, nothing of what the settings mean.
"""

from __future__ import annotations

import re

from nevermind_config.errors import ConfigError
from nevermind_config.suggestions import did_you_mean
from nevermind_config.values import Kind, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST = 80
"""Characters of a wrong value that a complaint quotes."""


class Table:
    """A table of the file ``file``; ``path`` leads to it, () is the whole file."""

    __slots__ = ("file", "path", "raw")

    def __init__(self, raw: dict[str, object], file: str, path: tuple[str, ...] = ()) -> None:
        self.raw = raw
        self.file = file
        self.path = path

    def check_keys(self, known: Collection[str]) -> None:
        """Refuse what is none of the ``known`` keys."""
        for key in self.raw:
            if key not in known:
                hint = did_you_mean(key, known) or f"; allowed: {', '.join(sorted(known))}"
                raise ConfigError(f"{self.file}: unknown key {self.name(key)}{hint}")

    def value(self, key: str, kind: Kind) -> Value:
        """What stands at ``key``, which must be there, as a value of ``kind``."""
        try:
            return kind.take(self.raw[key])
        except ValueError:
            instead = ("…",) if kind.discreet else ()
            raise self.wrong(key, kind.allowed, *instead) from None

    def values(self, key: str, kind: Kind) -> tuple[str, ...]:
        """The array at ``key``, each of its texts a value of ``kind``."""
        allowed = f"an array, each {kind.allowed}"
        found = self.raw[key]
        if not isinstance(found, list):
            instead = ("…",) if kind.discreet else ()
            raise self.wrong(key, allowed, *instead)
        taken = []
        for number, each in enumerate(found, 1):
            try:
                taken.append(str(kind.take(each)))
            except ValueError:
                shown = "…" if kind.discreet and isinstance(each, str) else show(each)
                where = f"{self.file}: {self.name(key)}: element {number}"
                raise ConfigError(f"{where}: found {shown}; allowed: {kind.allowed}") from None
        return tuple(taken)

    def texts(self, key: str, allowed: str) -> tuple[str, ...]:
        """The array of texts, none of them empty, at ``key``."""
        found = self.raw[key]
        if not isinstance(found, list):
            raise self.wrong(key, allowed)
        for text in found:
            if not isinstance(text, str) or not text:
                raise self.wrong(key, allowed, text)
        return tuple(found)

    def table(self, key: str) -> Table:
        """The table at ``key``; an empty one if there is none."""
        found = self.raw.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(key, "a table")
        return Table(found, self.file, (*self.path, key))

    def tables(self, key: str) -> dict[str, Table]:
        """The tables in the table at ``key``, by name."""
        outer = self.table(key)
        return {name: outer.table(name) for name in outer.raw}

    def wrong(self, key: str, allowed: str, *found: object) -> ConfigError:
        """The complaint about the value at ``key``, or about ``found`` inside of it."""
        shown = show(found[0] if found else self.raw[key])
        return ConfigError(f"{self.file}: {self.name(key)}: found {shown}; allowed: {allowed}")

    def name(self, key: str) -> str:
        """``key`` with the way to it, as TOML spells it."""
        parts = (*self.path, key)
        return ".".join(part if _BARE.fullmatch(part) else quote(part) for part in parts)


def show(found: object) -> str:
    """A value of a TOML file on one line, cut when it is long."""
    match found:
        case bool():
            text = "true" if found else "false"
        case str():
            text = quote(found)
        case list():
            text = "an array" if found else "an empty array"
        case dict():
            text = "a table"
        case int() if abs(found) >= 10**_LONGEST:
            text = "a huge number"
        case _:
            text = str(found)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def quote(text: str) -> str:
    """``text`` as a basic string of TOML."""
    out = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in out) + '"'
