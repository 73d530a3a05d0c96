"""`penstock monitor retailers`: who sells at the sources."""

from typing import Annotated

import typer

from penstock.cli.monitoring import AsJson, show_one, show_rows, who, with_monitor
from penstock.cli.stores import any_place
from penstock.web.views import view
from penstock.workloads.monitor.views import RetailerView

app = typer.Typer(no_args_is_help=True, help="Who sells at the sources.")


@app.command("list")
def list_retailers(as_json: AsJson = False) -> None:
    """List the retailers, by name."""
    found = with_monitor(lambda monitor: monitor.shops.retailers())
    rows = [view(RetailerView, row) for row in found]
    show_rows(f"{len(rows)} retailers", rows, ("name", "website_url", "id"), as_json)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="What it is called.")],
    website: Annotated[str | None, typer.Option(help="The URL of its own site.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add a retailer, for `penstock monitor sources add … --retailer NAME`.

    Only needed for its website: a source adds a retailer that is not known yet by itself.
    """
    row = with_monitor(
        lambda monitor: monitor.shops.add_retailer(name, website, who()), check=any_place
    )
    show_one(view(RetailerView, row), as_json)
