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


_BY_FLAG = {option.flag: option for option in OPTIONS}
_BY_OFF_FLAG = {option.off_flag: option for option in OPTIONS if option.off_flag}


def read_arguments(
    words: Sequence[str], environment: Mapping[str, str]
) -> tuple[dict[str, Value], list[str]]:
    """What was chosen, by option name with defaults filled in, and the command.

    A flag beats its variable, the last of several flags wins, an empty
    variable counts as unset.  Only the first ``--`` is ours: whatever comes
    after it belongs to the command.
    """
    chosen: dict[str, Value] = {}
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
        if isinstance(option.kind, Flag):
            if equals:
                raise UsageError(f"{flag} takes no value")
            chosen[option.name] = flag == option.flag
            continue
        if not equals:
            # "--log-file --shield" is a value forgotten; --log-file=--shield says it is meant
            if n == len(words) or words[n].startswith("--"):
                raise UsageError(f"{flag} needs a value: {flag} {option.kind.metavar}")
            text = words[n]
            n += 1
        chosen[option.name] = _read(option, flag, text)
    if command is None:
        raise UsageError("no command given: nevermind run [OPTIONS] -- COMMAND [ARG]...")
    if not command or not command[0]:
        raise UsageError("no command after --: nevermind run [OPTIONS] -- COMMAND [ARG]...")
    return {option.name: _value(option, chosen, environment) for option in OPTIONS}, command


def _value(option: Option, chosen: dict[str, Value], environment: Mapping[str, str]) -> Value:
    if option.name in chosen:
        return chosen[option.name]
    text = environment.get(option.variable)
    return _read(option, option.variable, text) if text else option.default


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
