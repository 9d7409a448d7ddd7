"""One setting, as every table of settings has it.  Knows nothing of what it is for."""

from __future__ import annotations

from nevermind_config.values import Flag, Kind, Value


class Option:
    """One setting: its flag, variable, kind, default and a sentence of help.

    ``unset`` says in words what happens where the default is None or ().  ``key`` is its
    name in a configuration file, None for what only says which file is meant;
    ``per_method`` says that the file may set it for single methods too; ``repeats``
    that it may be given several times: then its value is a tuple, () by default, a
    file has an array, and a variable has one value on each line.
    """

    __slots__ = (
        "default",
        "flag",
        "help",
        "key",
        "kind",
        "name",
        "off_flag",
        "per_method",
        "repeats",
        "unset",
        "variable",
    )

    def __init__(
        self,
        flag: str,
        kind: Kind,
        default: Value,
        help: str,
        *,
        unset: str | None = None,
        in_file: bool = True,
        per_method: bool = False,
        repeats: bool = False,
    ) -> None:
        self.flag = flag
        self.key = flag[2:] if in_file else None
        self.per_method = per_method
        self.repeats = repeats
        self.kind = kind
        self.default = default
        self.help = help
        self.unset = unset
        self.name = flag[2:].replace("-", "_")
        self.variable = "NEVERMIND_" + self.name.upper()
        self.off_flag = f"--no-{flag[2:]}" if isinstance(kind, Flag) else None

    def read(self, text: str) -> Value:
        """The value that ``text`` spells; ValueError says what is wrong with it."""
        value = self.kind.read(text)
        return (str(value),) if self.repeats else value

    def show(self, value: Value) -> str:
        """``value`` for people; nothing secret is in it."""
        if isinstance(value, tuple):
            return ", ".join(map(self.kind.show, value))
        return self.kind.show(value)
