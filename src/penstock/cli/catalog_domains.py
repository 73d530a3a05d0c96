"""`penstock catalog domains`: the sites that are crawled, and on what terms."""

from typing import Annotated, Any

import typer

from penstock.cli.catalog_desk import Frequency, Parser, given, read_frequency, with_catalog
from penstock.cli.monitoring import AsJson, Limit, show_one, show_rows, trouble, who
from penstock.cli.stores import any_place
from penstock.web.views import view
from penstock.workloads.catalog.domains import LARGEST_DELAY, MOST_AT_ONCE
from penstock.workloads.catalog.views import DomainDetailView, DomainView

app = typer.Typer(no_args_is_help=True, help="Sites, and on what terms they are crawled.")

Name = Annotated[str, typer.Argument(help="A domain, by name or id.")]
Delay = Annotated[
    int | None,
    typer.Option(min=0, max=LARGEST_DELAY, help="Seconds between two requests."),
]
AtOnce = Annotated[int | None, typer.Option(min=1, max=MOST_AT_ONCE, help="Requests at once.")]
SEE = "domains list"
COLUMNS = (
    *("domain_name", "base_url", "is_active", "crawl_delay_seconds", "max_concurrent_requests"),
    *("crawl_frequency", "parser"),
)


@app.command("list")
def list_domains(
    active: Annotated[
        bool | None, typer.Option("--active/--inactive", help="Only these; both by default.")
    ] = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List domains by name."""
    found = with_catalog(lambda catalog: catalog.domains.list(active=active, limit=limit))
    rows = [view(DomainView, row) for row in found]
    show_rows(f"{len(rows)} domains", rows, COLUMNS, as_json)


@app.command()
def show(domain: Name, as_json: AsJson = False) -> None:
    """Show all of a domain, its tasks in numbers included."""
    row = with_catalog(lambda catalog: catalog.domains.get(domain), see=SEE)
    show_one(view(DomainDetailView, row), as_json)


@app.command()
def add(
    domain: Annotated[str, typer.Argument(help="Its name, such as example.com, or a URL of it.")],
    source: Annotated[
        str | None,
        typer.Option(help="The source its products belong to, by name or id; else a new one."),
    ] = None,
    delay: Delay = None,
    at_once: AtOnce = None,
    frequency: Frequency = None,
    parser: Parser = None,
    as_json: AsJson = False,
) -> None:
    """Add a domain before anything of it is submitted; `submit` adds those it does not know."""
    said = _said(delay, at_once, frequency, parser)
    row = with_catalog(
        lambda catalog: catalog.domains.add(domain, who(), source, **said), check=any_place
    )
    show_one(view(DomainView, row), as_json)


@app.command()
def edit(
    domain: Name,
    delay: Delay = None,
    at_once: AtOnce = None,
    frequency: Frequency = None,
    parser: Parser = None,
    base_url: Annotated[str | None, typer.Option(help="Where its site begins.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change delay, concurrency, frequency or parser of a domain; workers notice in seconds."""
    changes = _said(delay, at_once, frequency, parser) | given(base_url=base_url)
    if not changes:
        raise trouble("say what to change; see `penstock catalog domains edit --help`")
    row = with_catalog(lambda catalog: catalog.domains.edit(domain, who(), **changes), see=SEE)
    show_one(view(DomainView, row), as_json)


@app.command()
def activate(domain: Name, as_json: AsJson = False) -> None:
    """Crawl a domain, and show its products to readers."""
    row = with_catalog(lambda catalog: catalog.domains.activate(domain, who()), see=SEE)
    show_one(view(DomainView, row), as_json)


@app.command()
def deactivate(domain: Name, as_json: AsJson = False) -> None:
    """Crawl a domain no more; what is known of its products stays."""
    row = with_catalog(lambda catalog: catalog.domains.deactivate(domain, who()), see=SEE)
    show_one(view(DomainView, row), as_json)


def _said(
    delay: int | None, at_once: int | None, frequency: str | None, parser: str | None
) -> dict[str, Any]:
    return given(
        crawl_delay_seconds=delay,
        max_concurrent_requests=at_once,
        crawl_frequency=read_frequency(frequency),
        parser=parser,
    )
