"""Reads the words after ``nevermind run``: options, the ``--``, the command.

By hand rather than with click: importing click costs 30 ms, and the server is
not started before the options are known to be good.  Click shows the help and
is built from the same table (``nevermind_cli.commands``).
"""

from __future__ import annotations

from nevermind_config.options import OPTIONS, Option
from nevermind_config.values import Flag, Value

TYPE_CHECKING = False  # typing itself would cost 9 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class UsageError(Exception):
    """The command line, or the environment, cannot be followed.  One line says why."""


class HelpWanted(Exception):  # noqa: N818 (nothing is wrong)
    """There was a ``--help`` among the options."""


class Arguments:
    """What was asked for.

    ``values`` holds every option by name, defaults filled in, ``origins`` the flag or
    variable that each chosen one came from; ``command`` is the server's argv.
    """

    __slots__ = ("command", "origins", "values")

    def __init__(
        self, values: dict[str, Value], origins: dict[str, str], command: list[str]
    ) -> None:
        self.values = values
        self.origins = origins
        self.command = command


_BY_FLAG = {option.flag: option for option in OPTIONS}
_BY_OFF_FLAG = {option.off_flag: option for option in OPTIONS if option.off_flag}


def read_arguments(words: Sequence[str], environment: Mapping[str, str]) -> Arguments:
    """What ``words`` ask for, and ``environment`` where they are silent.

    A flag beats its variable, the last of several flags wins, an empty
    variable counts as unset.  Only the first ``--`` is ours: whatever comes
    after it belongs to the command.  Raises UsageError and HelpWanted.
    """
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    command: list[str] | None = None
    n = 0
    while n < len(words):
        word = words[n]
        n += 1
        if word == "--":
            command = list(words[n:])
            break
        if word in ("--help", "-h"):
            raise HelpWanted
        if not word.startswith("-") or word == "-":
            raise UsageError(f"unexpected argument {word!r}: the command goes after --")
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
        values[option.name] = _read(option, flag, text)
    if command is None:
        raise UsageError("no command given: nevermind run [OPTIONS] -- COMMAND [ARG]...")
    if not command or not command[0]:
        raise UsageError("no command after --: nevermind run [OPTIONS] -- COMMAND [ARG]...")
    for option in OPTIONS:
        if option.name in values:
            continue
        values[option.name] = option.default
        if setting := environment.get(option.variable):
            origins[option.name] = option.variable
            values[option.name] = _read(option, option.variable, setting)
    return Arguments(values, origins, command)


def _read(option: Option, origin: str, text: str) -> Value:
    try:
        return option.kind.read(text)
    except ValueError as error:
        raise UsageError(f"{origin}: {error}") from None


def _find(flag: str) -> Option:
    option = _BY_FLAG.get(flag) or _BY_OFF_FLAG.get(flag)
    if option is None:
        raise UsageError(f"unknown option {flag!r}{did_you_mean(flag, [*_BY_FLAG, *_BY_OFF_FLAG])}")
    return option


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """``; did you mean …?`` with the known word that is most like ``word``, or nothing."""
    from difflib import get_close_matches  # slow to import, and something is wrong already

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
