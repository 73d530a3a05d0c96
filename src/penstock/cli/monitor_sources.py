"""`penstock monitor sources`: the shops, the terms on which they are read, and who sees them."""

from typing import Annotated, Any

import orjson
import typer

from penstock.cli.monitoring import (
    AsJson,
    say,
    show_one,
    show_rows,
    trouble,
    who,
    with_monitor,
)
from penstock.cli.output import safe
from penstock.cli.stores import any_place
from penstock.products.sources import Visibility
from penstock.web.views import view
from penstock.workloads.monitor.views import SourceView

app = typer.Typer(no_args_is_help=True, help="Shops, and on what terms they are read.")

Name = Annotated[str, typer.Argument(help="A source, by name or id.")]
Config = Annotated[
    str | None,
    typer.Option(
        help='JSON such as \'{"rateLimit": {"requestsPerSecond": 0.5}, "fetcherType": "http"}\'.'
    ),
]
Adapter = Annotated[
    str | None, typer.Option("--adapter", help="For its targets; by URL rule if none is named.")
]
SEE = "sources list"
COLUMNS = (
    "name",
    "domain",
    "retailer",
    "adapter_id",
    "visibility_status",
    "upc_trusted",
    "tos_approved_by",
)


@app.command("list")
def list_sources(
    domain: Annotated[str | None, typer.Option(help="Only of this domain.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the sources, by name."""
    found = with_monitor(lambda monitor: monitor.shops.all(domain))
    rows = [view(SourceView, row) for row in found]
    show_rows(f"{len(rows)} sources", rows, COLUMNS, as_json)


@app.command()
def show(source: Name, as_json: AsJson = False) -> None:
    """Show all of a source."""
    _show(with_monitor(lambda monitor: monitor.shops.get(source), see=SEE), as_json)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="What to call it.")],
    domain: Annotated[str, typer.Argument(help="Its registrable domain, such as sgammo.com.")],
    retailer: Annotated[
        str | None, typer.Option(help="Who sells there; the name of the source if not said.")
    ] = None,
    adapter: Adapter = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Add a source: invisible to consumers, its UPCs not trusted, nothing fetched yet."""
    row = with_monitor(
        lambda monitor: monitor.shops.add(
            name,
            domain,
            retailer or name,
            who=who(),
            adapter_id=adapter,
            scrape_config=_read_config(config),
        ),
        check=any_place,
    )
    _show(row, as_json)
    _ask_for_approval(row, as_json)


@app.command()
def edit(
    source: Name,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    domain: Annotated[
        str | None, typer.Option(help="Another domain; its terms need a new approval.")
    ] = None,
    adapter: Adapter = None,
    config: Config = None,
    visibility: Annotated[
        Visibility | None, typer.Option(help="Whether consumers see its prices.")
    ] = None,
    trust_upc: Annotated[
        bool | None,
        typer.Option("--trust-upc/--distrust-upc", help="Whether its UPCs are believed."),
    ] = None,
    robots_compliant: Annotated[
        bool | None,
        typer.Option("--robots-compliant/--not-robots-compliant", help="No: nothing is fetched."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a source, its visibility or its trust."""
    changes: dict[str, Any] = {
        "name": name,
        "domain": domain,
        "adapter_id": adapter,
        "scrape_config": _read_config(config),
        "visibility_status": visibility,
        "upc_trusted": trust_upc,
        "robots_compliant": robots_compliant,
    }
    given = {key: value for key, value in changes.items() if value is not None}
    if not given:
        raise trouble("say what to change; see `penstock monitor sources edit --help`")
    row = with_monitor(lambda monitor: monitor.shops.edit(source, who(), **given), see=SEE)
    _show(row, as_json)
    _ask_for_approval(row, as_json)


@app.command()
def approve(source: Name, as_json: AsJson = False) -> None:
    """Say that you read its terms of service and that they allow this. Fetching may begin."""
    row = with_monitor(lambda monitor: monitor.shops.approve(source, who()), see=SEE)
    _show(row, as_json)
    if not as_json:
        say("Its targets are read when they are due, as long as `penstock up` runs.")


@app.command()
def revoke(source: Name, as_json: AsJson = False) -> None:
    """Take the approval back: nothing more is fetched from it."""
    _show(with_monitor(lambda monitor: monitor.shops.revoke(source, who()), see=SEE), as_json)


def _ask_for_approval(row: dict[str, Any], as_json: bool) -> None:
    if row["tos_approved_by"] is None and not as_json:
        name = safe(row["name"])
        say(f"Read its terms of service, then: penstock monitor sources approve '{name}'")


def _show(row: dict[str, Any], as_json: bool) -> None:
    show_one(view(SourceView, row), as_json)


def _read_config(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        config = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise trouble(f"--config is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise trouble("--config must be a JSON object")
    return config
