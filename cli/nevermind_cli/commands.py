"""``nevermind`` as click sees it: help, ``--version``, the small commands.

``run`` stands here for its help, made from the table of options; what follows
it on the command line is read by ``nevermind_cli.arguments`` in every case.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from nevermind_cli.arguments import HelpWanted, UsageError, read_arguments, read_settings
from nevermind_cli.version import VERSION
from nevermind_config.option import Option
from nevermind_config.options import OPTIONS
from nevermind_config.suggestions import did_you_mean
from nevermind_config.values import Flag

WIDTH = 80
"""Help is set in this many columns, wherever it is printed: the README quotes it."""


def click_option(option: Option) -> click.Option:
    """``option`` as click's help and parser know it."""
    if isinstance(option.kind, Flag):
        return click.Option(
            [f"{option.flag}/{option.off_flag}", option.name],
            default=option.default,
            help=option.help,
            envvar=option.variable,
            show_envvar=True,
            show_default=True,
        )
    given = option.default not in (None, ())
    return click.Option(
        [option.flag, option.name],
        type=option.kind.read,
        metavar=option.kind.metavar,
        multiple=option.repeats,
        default=option.show(option.default) if given else None,
        help=option.help,
        envvar=option.variable,
        show_envvar=True,
        show_default=option.unset or True,
    )


class SettingsCommand(click.Command):
    """A command that takes the options of ``run``: click's help around our own reading."""

    read = staticmethod(read_settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read ``args`` by the one parser there is; show help where it is asked for."""
        try:
            ctx.obj = self.read(args, os.environ)
        except HelpWanted:
            click.echo(ctx.get_help())
            ctx.exit()
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from None
        return []


class RunCommand(SettingsCommand):
    """``nevermind run``: the command that is to be run follows the options."""

    read = staticmethod(read_arguments)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse what cannot be run; what can is left to ``run``."""
        super().parse_args(ctx, args)
        ctx.obj = args
        return []

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The usage line, with the ``--`` that divides our words from the command's."""
        formatter.write_usage(ctx.command_path, "[OPTIONS] -- COMMAND [ARG]...")


class _Command(click.Command):
    """A small command; what it cannot follow is said as ``run`` says it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_extra_args = True  # click would refuse them in words of its own
        try:
            rest = super().parse_args(ctx, args)
        except click.MissingParameter as error:
            name = error.param.human_readable_name if error.param else "argument"
            usage = f"{ctx.command_path} {name}"
            raise click.UsageError(f"no {name} given: {usage}", ctx) from None
        if ctx.args:
            raise click.UsageError(f"unexpected argument {ctx.args[0]!r}", ctx)
        return rest


class _Commands(click.Group):
    command_class = _Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and args[0] not in self.commands:
            known = list(self.commands)
            hint = did_you_mean(args[0], known) or f"; there are {', '.join(known)}"
            raise click.UsageError(f"no such command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)  # in the order of their weight, not of the alphabet


@click.group(
    cls=_Commands,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name="nevermind", message="%(prog)s %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """A transparent JSON-RPC cancellation proxy: cancelled stays cancelled.

    A host starts nevermind instead of its MCP server, nevermind starts the
    server, and what the server still sends for a cancelled request no longer
    reaches the host.
    """
    if ctx.invoked_subcommand is None:
        raise click.UsageError(f"which command? one of {', '.join(commands.commands)}", ctx)


@click.pass_context
def _run(ctx: click.Context) -> int:
    from nevermind_cli.run import run

    return run(ctx.obj)


commands.add_command(
    RunCommand(
        "run",
        callback=_run,
        params=[click_option(option) for option in OPTIONS],
        short_help="Start COMMAND and stand between it and the host.",
        help=(
            "Start COMMAND and stand between it and whoever started us, over stdin and stdout."
            " With --listen, hosts come to us instead; with --connect, the server runs already and"
            " there is no COMMAND. Only the first -- is ours. A flag beats its environment"
            " variable."
        ),
    )
)


@commands.command()
def demo() -> int:
    """Show a misbehaving server, bare and behind nevermind, side by side."""
    from nevermind_cli.demo import show

    return show()


@commands.group(cls=_Commands, invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show or check the configuration."""
    if ctx.invoked_subcommand is None:
        raise click.UsageError(f"which command? one of {', '.join(config.commands)}", ctx)


@click.pass_context
def _show(ctx: click.Context) -> int:
    from nevermind_cli.configuration import show

    return show(ctx.obj)


config.add_command(
    SettingsCommand(
        "show",
        callback=_show,
        params=[click_option(option) for option in OPTIONS],
        short_help="Print what is in force and where each value comes from.",
        help=(
            "Print what `nevermind run` would do with the same options, as a configuration file:"
            " every value that is in force, and where it comes from. A flag beats its environment"
            " variable, that beats the file, that beats what the dialect asks for."
        ),
    )
)


@config.command(short_help="Check a file to its last key; nothing is run.")
@click.argument("file")
def check(file: str) -> int:
    """Check the configuration FILE, to its last key, without running anything."""
    from nevermind_cli.configuration import check

    return check(file)


def invoke(words: Sequence[str]) -> int:
    """Run what ``words`` ask for; one line on stderr where that cannot be done."""
    try:
        code = commands.main(
            list(words),
            prog_name="nevermind",
            standalone_mode=False,
            terminal_width=WIDTH,
        )
    except click.NoSuchOption as error:
        command = error.ctx.command_path if error.ctx else "nevermind"
        click.echo(f"{command}: unknown option {error.option_name!r}", err=True)
        return error.exit_code
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        command = where.command_path if where else "nevermind"
        click.echo(f"{command}: {error.format_message()}", err=True)
        return error.exit_code
    except click.Abort:
        return 130  # what a shell would say of a program that Ctrl-C ended
    return code if isinstance(code, int) else 0
