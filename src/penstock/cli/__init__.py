"""The `penstock` command."""

import sys
from typing import Annotated

import typer

from penstock import __version__
from penstock.cli import (
    adapter,
    backup,
    capture,
    config,
    db,
    doctor,
    events,
    extract,
    fetch,
    parse,
    policy,
    queue,
    robots,
    schedule,
    status,
    switches,
    up,
    url,
)
from penstock.cli.output import ExitCode, complain
from penstock.core.errors import PenstockError

app = typer.Typer(
    name="penstock",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Penstock turns URLs into trusted data: polite, safe and bounded by default.",
    epilog="Exit codes: 0 all is well, 1 some of it is not, 2 wrong usage or settings, "
    "130 interrupted.  Settings: PENSTOCK_SECTION__KEY or penstock.yaml; see `penstock doctor`.",
)
app.command("fetch")(fetch.fetch)
app.command("extract")(extract.extract)
app.command("capture")(capture.capture)
app.command("url")(url.show)
app.command("doctor")(doctor.doctor)
app.command("up")(up.up)
app.command("worker")(up.worker)
app.command("scheduler")(up.scheduler)
app.command("status")(status.status)
app.command("pause")(switches.pause)
app.command("resume")(switches.resume)
app.add_typer(queue.app, name="queue")
app.add_typer(events.app, name="events")
app.add_typer(schedule.app, name="schedule")
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.add_typer(db.app, name="db")
app.add_typer(config.app, name="config")
app.add_typer(adapter.app, name="adapter")
app.add_typer(parse.app, name="parse")
app.add_typer(robots.app, name="robots")
app.add_typer(policy.app, name="policy")


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
