"""Reads the words after ``nevermind run``: options, the ``--``, the command.

By hand rather than with click: importing click costs 30 ms, and the server is
not started before the options are known to be good.  Click shows the help and
is built from the same table (``nevermind_cli.commands``).
"""

from __future__ import annotations

from nevermind_config.errors import ConfigError, UnreadableError
from nevermind_config.finding import find
from nevermind_config.option import Option
from nevermind_config.options import DIALECTS, OPTIONS
from nevermind_config.suggestions import did_you_mean
from nevermind_config.values import Flag, Value

TYPE_CHECKING = False  # typing itself would cost 9 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nevermind_config.file import ConfigFile, Section
    from nevermind_config.tables import Table


class UsageError(Exception):
    """The command line, the environment or the file cannot be followed.  One line says why."""


class HelpWanted(Exception):
    """There was a ``--help`` among the options."""


class Arguments:
    """What was asked for.

    ``values`` holds every option by name, defaults filled in, ``origins`` the flag,
    variable or key that each chosen one came from; ``command`` is the server's argv.
    ``methods`` are settings of single methods, by method and option name, with
    ``method_origins`` likewise.  ``dialects`` are the file's own, by name, and
    ``file`` is its path, if there is one.
    """

    __slots__ = ("command", "dialects", "file", "method_origins", "methods", "origins", "values")

    def __init__(self, values: dict[str, Value], origins: dict[str, str]) -> None:
        self.values = values
        self.origins = origins
        self.command: list[str] = []
        self.methods: dict[str, dict[str, Value]] = {}
        self.method_origins: dict[str, dict[str, str]] = {}
        self.dialects: dict[str, Table] = {}
        self.file: str | None = None


_BY_FLAG = {option.flag: option for option in OPTIONS}
_BY_OFF_FLAG = {option.off_flag: option for option in OPTIONS if option.off_flag}


def read_arguments(words: Sequence[str], environment: Mapping[str, str]) -> Arguments:
    """What ``words`` ask for, and where they are silent ``environment`` and the file.

    Only the first ``--`` is ours: whatever comes after it belongs to the
    command.  Raises UsageError and HelpWanted.
    """
    values, origins, rest = _read_flags(words)
    if rest and not rest[0]:
        raise UsageError("the command is empty: nevermind run [OPTIONS] -- COMMAND [ARG]...")
    if rest == []:
        raise UsageError(f"no command after --: {_usage(values)}")
    arguments = _fill_in(values, origins, environment)
    if rest is None and arguments.values["connect"] is None:
        raise UsageError(f"no command given: {_usage(arguments.values)}")
    arguments.command = rest or []
    return arguments


def _usage(values: Mapping[str, Value]) -> str:
    usage = "nevermind run [OPTIONS] -- COMMAND [ARG]..."
    if values.get("listen") is None:
        return usage
    return f"{usage}, or --connect ADDRESS where the server runs already"


def read_settings(words: Sequence[str], environment: Mapping[str, str]) -> Arguments:
    """Like ``read_arguments`` where no command is wanted, only what it would be run with."""
    values, origins, rest = _read_flags(words, "nothing is run")
    if rest is not None:
        raise UsageError("unexpected --: nothing is run")
    return _fill_in(values, origins, environment)


def _read_flags(
    words: Sequence[str], objection: str = "the command goes after --"
) -> tuple[dict[str, Value], dict[str, str], list[str] | None]:
    """Values and origins of the options, the last of several wins; what follows the ``--``.

    ``objection`` is what is said of a word that is neither an option nor an option's value.
    """
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    n = 0
    while n < len(words):
        word = words[n]
        n += 1
        if word == "--":
            return values, origins, list(words[n:])
        if word in ("--help", "-h"):
            raise HelpWanted
        if not word.startswith("-") or word == "-":
            raise UsageError(f"unexpected argument {word!r}: {objection}")
        flag, equals, text = word.partition("=")
        option = _find(flag)
        origins[option.name] = flag
        if isinstance(option.kind, Flag):
            if equals:
                raise UsageError(f"{flag} takes no value")
            values[option.name] = flag == option.flag
            continue
        if not equals:
            # "--log-file --shield" is a value forgotten; --log-file=--shield says it is meant
            if n == len(words) or words[n].startswith("--"):
                raise UsageError(f"{flag} needs a value: {flag} {option.kind.metavar}")
            text = words[n]
            n += 1
        value = _read(option, flag, text)
        values[option.name] = _joined(values.get(option.name), value)
    return values, origins, None


def _fill_in(
    values: dict[str, Value], origins: dict[str, str], environment: Mapping[str, str]
) -> Arguments:
    """What no flag has said: a variable beats the file, that beats the default.

    An empty variable counts as unset.
    """
    for option in OPTIONS:
        setting = environment.get(option.variable)
        if setting and option.name not in values:
            origins[option.name] = option.variable
            for text in setting.splitlines() if option.repeats else [setting]:
                value = _read(option, option.variable, text)
                values[option.name] = _joined(values.get(option.name), value)
    arguments = Arguments(values, origins)
    path = values.get("config") or find(environment)
    profile = values.get("profile")
    if path is not None:
        _fill_in_from_file(arguments, str(path), profile)
    elif profile is not None:
        raise UsageError(f"{origins['profile']}: {profile!r}: there is no configuration file")
    for option in OPTIONS:
        values.setdefault(option.name, option.default)
    _check_dialect(arguments)
    return arguments


def _fill_in_from_file(arguments: Arguments, path: str, profile: Value) -> None:
    from nevermind_config.file import load

    values, origins = arguments.values, arguments.origins
    try:
        file: ConfigFile = load(path)
        sections: list[Section] = file.sections(None if profile is None else str(profile))
    except UnreadableError as error:
        named = origins.get("config")
        raise UsageError(f"{named}: {path!r}: {error.why}" if named else str(error)) from None
    except ConfigError as error:
        raise UsageError(str(error)) from None
    arguments.file = path
    arguments.dialects = file.dialects
    for section in sections:
        for option in OPTIONS:
            if option.key and option.name in section.values and option.name not in values:
                values[option.name] = section.values[option.name]
                origins[option.name] = section.origin(option.key)
        for method, settings in section.methods.items():
            into = arguments.methods.setdefault(method, {})
            for name, value in settings.items():
                if name not in into:
                    into[name] = value
                    where = section.origin(name.replace("_", "-"), method)
                    arguments.method_origins.setdefault(method, {})[name] = where


def _check_dialect(arguments: Arguments) -> None:
    name = str(arguments.values["dialect"])
    known = [*DIALECTS, *arguments.dialects]
    if name not in known:
        raise UsageError(
            f"{arguments.origins['dialect']}: {name!r} is not one of {', '.join(known)}"
            f"{did_you_mean(name, known)}"
        )


def _joined(before: Value, value: Value) -> Value:
    """``value``; where an option may be given several times, with those before it."""
    return (*before, *value) if isinstance(before, tuple) and isinstance(value, tuple) else value


def _read(option: Option, origin: str, text: str) -> Value:
    try:
        return option.read(text)
    except ValueError as error:
        raise UsageError(f"{origin}: {error}") from None


def _find(flag: str) -> Option:
    option = _BY_FLAG.get(flag) or _BY_OFF_FLAG.get(flag)
    if option is None:
        raise UsageError(f"unknown option {flag!r}{did_you_mean(flag, [*_BY_FLAG, *_BY_OFF_FLAG])}")
    return option
