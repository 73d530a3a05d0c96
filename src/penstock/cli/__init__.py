"""The `penstock` command. What a command needs is imported when it is called, not before."""

import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from penstock import __version__
from penstock.cli.output import ExitCode, complain
from penstock.core.errors import PenstockError


class Place(NamedTuple):
    """Where a command is: a module, and the function or group in it."""

    module: str
    name: str = "app"


COMMANDS = {
    "fetch": Place("fetch", "fetch"),
    "extract": Place("extract", "extract"),
    "up": Place("up", "up"),
    "worker": Place("up", "worker"),
    "scheduler": Place("up", "scheduler"),
    "api": Place("up", "api"),
    "status": Place("status", "status"),
    "pause": Place("switches", "pause"),
    "resume": Place("switches", "resume"),
    "queue": Place("queue"),
    "schedule": Place("schedule"),
    "monitor": Place("monitor"),
    "catalog": Place("catalog"),
    "stream": Place("stream"),
    "live": Place("live"),
    "events": Place("events"),
    "webhooks": Place("webhooks"),
    "keys": Place("keys"),
    "adapter": Place("adapter"),
    "capture": Place("capture", "capture"),
    "parse": Place("parse"),
    "robots": Place("robots"),
    "policy": Place("policy"),
    "explain": Place("explain", "explain"),
    "url": Place("url", "show"),
    "db": Place("db"),
    "backup": Place("backup", "backup"),
    "restore": Place("backup", "restore"),
    "forget": Place("forget", "forget"),
    "config": Place("config"),
    "doctor": Place("doctor", "doctor"),
}


class Commands(TyperGroup):
    """The commands, in the order in which they are listed."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        found = getattr(import_module(f"{__name__}.{place.module}"), place.name)
        if isinstance(found, typer.Typer):
            command = get_group(found)
            command.name = cmd_name
            return command
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(cmd_name)(found)
        return get_command(alone)


app = typer.Typer(
    name="penstock",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Penstock turns URLs into trusted data: polite, safe and bounded by default.",
    epilog="Exit codes: 0 all is well, 1 some of it is not, 2 wrong usage or settings, "
    "130 interrupted.  Settings: PENSTOCK_SECTION__KEY or penstock.yaml; see `penstock doctor`.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    del version


def main() -> None:
    """Run the command; what is wrong on our side is one line on standard error."""
    try:
        app()
    except PenstockError as error:
        complain(str(error))
        sys.exit(ExitCode.USAGE)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        sys.stderr.close()
        sys.exit(ExitCode.OK)
