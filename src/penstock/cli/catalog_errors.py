"""`penstock catalog errors`, `dlq` and `parsers`: what went wrong, and what to do about it."""

from typing import Annotated, Any

import typer

from penstock.cli.catalog_desk import Domain, Since, is_sure, time_of, with_catalog
from penstock.cli.monitoring import AsJson, Limit, lines, say, show_rows, trouble
from penstock.cli.output import write_json
from penstock.quality.shadow import ShadowReport, report_lines
from penstock.web.views import view
from penstock.workloads.catalog.model import Category
from penstock.workloads.catalog.parsing_rates import ParseRate
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.shadow import SETTING
from penstock.workloads.catalog.tasks import Filter
from penstock.workloads.catalog.views import (
    ErrorView,
    view_dead_letter,
    view_pattern,
    view_rate,
    view_shadow,
)

errors_app = typer.Typer(no_args_is_help=True, help="What went wrong.")
dlq_app = typer.Typer(no_args_is_help=True, help="Pages that failed for good.")
parsers_app = typer.Typer(no_args_is_help=True, help="How well pages are read.")

OfCategory = Annotated[Category | None, typer.Option(help="Only of this kind.")]
ErrorType = Annotated[str | None, typer.Option(help="Only of this type, such as http_404.")]
ERRORS = ("occurred_at", "domain_name", "category", "error_type", "error_message", "url")
PATTERNS = (
    *("domain_name", "category", "error_type", "errors", "tasks", "first_at", "last_at"),
    "example",
)
DEAD = ("id", "url", "why", "failed_at", "attempts")
RATES = ("domain_name", "parser_version", "parsed", "failed", "rate", "first_at", "last_at")


@errors_app.command("list")
def list_errors(
    domain: Domain = None,
    task: Annotated[str | None, typer.Option(help="Of this task, by id or URL.")] = None,
    category: OfCategory = None,
    error_type: ErrorType = None,
    since: Since = "7d",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List errors, newest first; with --json their stack traces, too."""

    async def look(catalog: CatalogService) -> list[dict[str, Any]]:
        return await catalog.errors.list(
            domain=domain,
            task=(await catalog.tasks.get(task))["id"] if task else None,
            category=category,
            error_type=error_type,
            since=await time_of(catalog, since),
            limit=limit,
        )

    rows = [view(ErrorView, row) for row in with_catalog(look)]
    show_rows(f"{len(rows)} errors", rows, ERRORS, as_json)


@errors_app.command()
def patterns(
    domain: Domain = None, since: Since = "7d", limit: Limit = 50, as_json: AsJson = False
) -> None:
    """What goes wrong most: by domain, category and type; with --json by the hour, too."""

    async def look(catalog: CatalogService) -> list[dict[str, Any]]:
        return await catalog.errors.patterns(await time_of(catalog, since), domain, limit)

    rows = [view_pattern(row) for row in with_catalog(look, see="domains list")]
    show_rows(f"{len(rows)} patterns", rows, PATTERNS, as_json)


@dlq_app.command("list")
def list_dead_letters(
    domain: Domain = None,
    category: OfCategory = None,
    error_type: ErrorType = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List pages that failed for good, and what put them there."""
    wanted = Filter(domain=domain, category=category, error_type=error_type, dead=True, limit=limit)

    async def look(catalog: CatalogService) -> tuple[list[dict[str, Any]], int]:
        return await catalog.tasks.list(wanted), await catalog.tasks.count(wanted)

    found, number = with_catalog(look, see="domains list")
    rows = [view_dead_letter(row) for row in found]
    if not as_json:
        rows = [row | {"why": _why(row["failure"] or {})} for row in rows]
    show_rows(f"{number} dead letters; shown {len(rows)}", rows, DEAD, as_json)


def _why(failure: dict[str, str]) -> str:
    return f"{failure.get('error_type', '')}: {failure.get('message', '')}".strip(": ")


@dlq_app.command()
def revive(
    tasks: Annotated[list[str] | None, typer.Argument(help="Tasks, by id or URL.")] = None,
    domain: Domain = None,
    category: OfCategory = None,
    error_type: ErrorType = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, however many.")] = False,
    as_json: AsJson = False,
) -> None:
    """Try dead letters again, as if for the first time."""
    if not (tasks or domain or category or error_type or everything):
        raise trouble("say which: ids, --domain, --category or --error-type; or --all")

    async def work(catalog: CatalogService) -> int | None:
        ids = tuple([(await catalog.tasks.get(name))["id"] for name in tasks or ()])
        wanted = Filter(ids, domain, category=category, error_type=error_type, dead=True)
        number = 0 if tasks else await catalog.tasks.count(wanted)
        return await catalog.tasks.retry(wanted) if is_sure(number, "revive", yes) else None

    number = with_catalog(work, see="dlq list")
    if number is None:
        raise typer.Abort
    if as_json:
        write_json({"revived": number})
    else:
        say(f"{number} dead letters are tried again")


@parsers_app.command()
def rates(domain: Domain = None, since: Since = "7d", as_json: AsJson = False) -> None:
    """How many pages each version of a parser can read, by domain."""

    async def look(catalog: CatalogService) -> list[ParseRate]:
        return list(await catalog.parsers.rates(await time_of(catalog, since), domain))

    rows = [view_rate(rate) for rate in with_catalog(look, see="domains list")]
    if not as_json:
        rows = [row | {"rate": f"{row['rate']:.1%}"} for row in rows]
    show_rows(f"{len(rows)} parsers on domains", rows, RATES, as_json)


@parsers_app.command(
    help=f"""How candidates that read beside a parser agreed with it on live pages.

    {SETTING} names them, as '{{"product": "product@1.1.0"}}'."""
)
def shadow(
    parser: Annotated[str, typer.Argument(help="The parser in use, by name.")],
    since: Since = "7d",
    as_json: AsJson = False,
) -> None:
    """Show how candidates did."""

    async def look(catalog: CatalogService) -> list[ShadowReport]:
        reports, _ = await catalog.parsers.shadow(parser, await time_of(catalog, since))
        return list(reports)

    found = with_catalog(look)
    for each in found:
        if as_json:
            write_json(view_shadow(each))
        else:
            lines(report_lines(each))
    if not found and not as_json:
        say(f"Nothing read pages beside {parser} since then.")
