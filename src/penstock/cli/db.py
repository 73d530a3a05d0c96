"""`penstock db`: the tables of the store."""

from typing import Annotated

import typer

from penstock.cli.output import ExitCode, complain, stdout, write_json
from penstock.cli.stores import with_store
from penstock.store import migrate
from penstock.store.migrate import Versions

app = typer.Typer(no_args_is_help=True, help="Set up the store and keep its tables up to date.")

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.command()
def upgrade(
    to: Annotated[str, typer.Argument(help="A version; the newest by default.")] = "head",
    as_json: AsJson = False,
) -> None:
    """Bring the tables up to date; what is in them is kept."""
    _show(with_store(lambda _, store: migrate.upgrade(store, to), ready=False), as_json)


@app.command(context_settings={"ignore_unknown_options": True})
def downgrade(
    to: Annotated[str, typer.Argument(help="A version, -1 for one step, or base for none.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: tables may be deleted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take steps back, for an older Penstock; tables that it does not know are deleted."""
    if not yes:
        typer.confirm(
            "Tables of the newer version will be deleted with what is in them. Go on?", abort=True
        )
    _show(with_store(lambda _, store: migrate.downgrade(store, to), ready=False), as_json)


@app.command()
def current(as_json: AsJson = False) -> None:
    """Show which version the tables have."""
    _show(with_store(lambda _, store: migrate.look_up(store), ready=False), as_json)


@app.command()
def check(as_json: AsJson = False) -> None:
    """Exit with 0 if the tables are up to date, with 1 if `penstock db upgrade` is needed."""
    versions = with_store(lambda _, store: migrate.look_up(store), ready=False)
    _show(versions, as_json)
    if not versions.is_current:
        complain("the tables are behind: run `penstock db upgrade`")
        raise typer.Exit(ExitCode.TROUBLE)


def _show(versions: Versions, as_json: bool) -> None:
    if as_json:
        write_json(
            {
                "current": versions.current,
                "newest": versions.newest,
                "missing": list(versions.missing),
                "up_to_date": versions.is_current,
            }
        )
        return
    behind = f"; to come: {', '.join(versions.missing)}" if versions.missing else ""
    stdout().print(
        f"tables at version {versions.current or 'none'}, newest is {versions.newest}{behind}",
        markup=False,
    )
