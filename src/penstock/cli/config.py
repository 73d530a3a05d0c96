"""`penstock config`: every setting, its value, and who said so."""

import os
from typing import Annotated

import typer

from penstock.cli.output import ExitCode, complain, print_table, write_json
from penstock.settings import explain, load_settings, unknown_variables

app = typer.Typer(no_args_is_help=True, help="What Penstock is set to, and by whom.")


@app.command()
def check(
    changed: Annotated[bool, typer.Option("--changed", help="Only what is not a default.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One object per line.")] = False,
) -> None:
    """Check the settings, and show each with its value and where it came from.

    Secrets are masked. Exit code 1 if a variable looks like a setting and is none.
    """
    found = explain(load_settings())
    shown = [setting for setting in found if not changed or setting.source != "default"]
    if as_json:
        for setting in shown:
            write_json({"name": setting.name, "value": setting.value, "source": setting.source})
    else:
        rows = [(setting.name, setting.value, setting.source) for setting in shown]
        print_table(f"{len(shown)} settings", ("setting", "value", "from"), rows)
    if unknown := unknown_variables(os.environ):
        complain(f"no such settings: {', '.join(unknown)}")
        raise typer.Exit(ExitCode.TROUBLE)
