"""``nevermind run``: everything is checked, then the server starts, then we get ready.

What is imported at the top delays the server; what is imported in ``run`` after
``start`` does not.
"""

from __future__ import annotations

import os

from nevermind.shell.journal_file import open_log
from nevermind.shell.spawn import CannotStart, printable, start
from nevermind_cli.arguments import Arguments, HelpWanted, UsageError, read_arguments
from nevermind_cli.network_rules import check_network

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nevermind.dialects import Dialect
    from nevermind.shell.options import RunOptions

USAGE = 2
"""Exit code: the command line cannot be followed, and nothing was started."""


def run(words: Sequence[str]) -> int:
    """Run what ``words``, which followed ``nevermind run``, ask for; the exit code."""
    try:
        arguments = read_arguments(words, os.environ)
        check_network(arguments)
        log = _open_log(arguments)
    except HelpWanted:
        from nevermind_cli.commands import invoke

        return invoke(["run", "--help"])
    except UsageError as error:
        return _refuse(str(error), USAGE)
    if arguments.values["listen"] is not None or arguments.values["connect"] is not None:
        return _run_networked(arguments, log)
    try:
        server = start(arguments.command)
    except CannotStart as error:
        return _refuse(str(error), error.code)

    from nevermind.shell.prelude import Prelude
    from nevermind.shell.short_run import say_summary

    prelude = Prelude(server)
    early = _may_begin_early(arguments)
    code = prelude.play(_load_engine, carry=early, brief=early and _logs_plainly(arguments))
    if code is not None:
        if arguments.values["log_level"] == "info":
            say_summary(prelude.lines)
        os._exit(code)  # the engine is still being imported

    from nevermind.shell.relay import run as relay

    return relay(_options(arguments, log), server, prelude)


def _load_engine() -> None:
    """Import all that a run needs, while the first messages flow."""
    import nevermind.shell.options
    import nevermind.shell.relay  # noqa: F401
    import nevermind_config.settings  # noqa: F401


def _may_begin_early(arguments: Arguments) -> bool:
    """Whether nothing can be held back before a cancel or progress is seen."""
    values = arguments.values
    plain = not values["shield"] and values["noise"] in (None, "forward")
    return plain and values["dialect"] == "mcp"


def _logs_plainly(arguments: Arguments) -> bool:
    """Whether a log of nothing is one line at most, and goes to stderr."""
    values = arguments.values
    lines = values["log_format"] == "text" and values["log_file"] is None
    return lines and values["log_level"] in ("off", "error", "warning", "info")


def _run_networked(arguments: Arguments, log: int | None) -> int:
    from nevermind_cli.network import run

    try:
        return run(_options(arguments, log), arguments, os.environ)
    except UsageError as error:
        return _refuse(str(error), USAGE)
    except CannotStart as error:
        return _refuse(str(error), error.code)


def _options(arguments: Arguments, log: int | None) -> RunOptions:
    from nevermind.shell.options import RunOptions
    from nevermind_config.settings import policy

    values = arguments.values
    grace = values["grace"]
    assert isinstance(grace, float)
    return RunOptions(
        command=tuple(arguments.command),
        policy=policy(values, arguments.methods),
        dialect=_dialect(arguments),
        grace=grace,
        log_level=str(values["log_level"]),
        log_format=str(values["log_format"]),
        log_file=log,
    )


def _dialect(arguments: Arguments) -> Dialect:
    from nevermind.dialects import MCP

    name = str(arguments.values["dialect"])
    if name == MCP.name:
        return MCP
    from nevermind_config.dialects import dialect

    return dialect(name, arguments.dialects)


def _open_log(arguments: Arguments) -> int | None:
    path = arguments.values["log_file"]
    if path is None:
        return None
    try:
        return open_log(str(path))
    except OSError as error:
        origin = arguments.origins["log_file"]
        raise UsageError(f"{origin}: {path!r}: {error.strerror}") from None


def _refuse(why: str, code: int) -> int:
    # not print: with stderr closed it would write to stdout, which is the host's channel
    try:
        os.write(2, f"nevermind run: {printable(why)}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass
    return code
