"""`penstock catalog submit`, `progress` and `submissions`: pages are handed in and followed."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from penstock.cli.catalog_desk import (
    Frequency,
    Parser,
    Priority,
    read_frequency,
    with_catalog,
)
from penstock.cli.monitoring import AsJson, Limit, read_time, say, show_rows, trouble, who
from penstock.cli.output import ExitCode, complain, print_table, stderr, write_json
from penstock.cli.sources import UrlSource
from penstock.cli.stores import any_place
from penstock.workloads.catalog.model import DEFAULT_PRIORITY
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.submissions import Progress
from penstock.workloads.catalog.submitting import Options, Origin, Tally
from penstock.workloads.catalog.views import view_accepted, view_progress, view_submission

COLUMNS = (
    *("id", "origin", "origin_name", "status", "submitted", "accepted", "duplicates", "refused"),
    *("created_by", "created_at"),
)
SEE = "submissions"
Submission = Annotated[str, typer.Argument(help="A submission, by id; see `submissions`.")]


def submit(
    urls: Annotated[list[str] | None, typer.Argument(help="Product pages.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="One URL a line; - reads standard input.")
    ] = None,
    sitemap: Annotated[
        str | None,
        typer.Option(help="A sitemap, an index of some, or a robots.txt that names them."),
    ] = None,
    priority: Priority = DEFAULT_PRIORITY,
    frequency: Frequency = None,
    retries: Annotated[
        int | None, typer.Option(min=0, help="Of a download that fails, before it is given up.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Not before: 2h (from now), or 2026-03-01T12:00 in UTC.")
    ] = None,
    parser: Parser = None,
    recrawl: Annotated[
        bool, typer.Option("--recrawl", help="Crawl pages now that are known already, too.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Follow it until it is over; 1 if a page failed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Hand in pages to be crawled: URLs, a file of them, or all that a sitemap lists.

    A page that is known already is not crawled twice, and a domain that is not known yet is
    added. The work is done by `penstock up`, at the pace of each domain.
    """
    if bool(urls or file) == bool(sitemap):
        raise trouble("say URLs or --file, or else --sitemap")

    async def work(catalog: CatalogService) -> Progress:
        options = Options(
            priority=priority,
            crawl_frequency=read_frequency(frequency),
            max_retries=retries,
            scheduled_at=read_time(at, await catalog.now(), ahead=True) if at else None,
            parser=parser,
            recrawl=recrawl,
        )
        tally = Tally()
        if sitemap:
            identity = await catalog.submissions.submit_sitemap(sitemap, options, who())
        else:
            identity, tally = await _hand_in(catalog, urls or [], file, options)
        progress = await catalog.submissions.progress(identity)
        _show_accepted(progress, tally, as_json)
        return await _follow(catalog, identity, as_json) if wait else progress

    progress = with_catalog(work, check=any_place)
    if wait:
        _end(progress, as_json)
    elif not as_json:
        say("`penstock up` crawls them; follow with")
        say(f"  penstock catalog progress {progress.submission['id']} --follow")


async def _hand_in(
    catalog: CatalogService, urls: list[str], file: Path | None, options: Options
) -> tuple[str, Tally]:
    with UrlSource(urls, file) as source:
        wanted = [url async for url in source.read()]
    origin = Origin("file", str(file)) if file else Origin("urls")
    with Bar(console=stderr(), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("Submitting", total=len(wanted))
        return await catalog.submissions.submit(
            wanted,
            options,
            who(),
            origin=origin,
            progress=lambda number: bar.update(task, completed=number),
        )


def _show_accepted(progress: Progress, tally: Tally, as_json: bool) -> None:
    row = progress.submission
    if as_json:
        write_json(view_accepted(row, tally))
        return
    if tally.refusals:
        rows = [(each.url, each.reason) for each in tally.refusals]
        print_table("Refused", ("url", "why"), rows)
    if row["origin"] == "sitemap":
        say(f"Submission {row['id']}: a worker reads the sitemap")
    else:
        say(
            f"Submission {row['id']}: {tally.accepted} new pages, {tally.duplicates} known already,"
            f" {tally.refused} refused"
        )


def progress(
    submission: Submission,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Until it is over; 1 if a page failed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """How far a submission has come."""

    async def look(catalog: CatalogService) -> Progress:
        if follow:
            return await _follow(catalog, submission, as_json)
        return await catalog.submissions.progress(submission)

    found = with_catalog(look, see=SEE)
    if follow:
        _end(found, as_json)
    elif as_json:
        write_json(view_progress(found))
    else:
        _sum_up(found)


def submissions(limit: Limit = 20, as_json: AsJson = False) -> None:
    """List submissions, newest first."""
    found = with_catalog(lambda catalog: catalog.submissions.list(limit=limit))
    rows = [view_submission(row) for row in found]
    show_rows(f"{len(rows)} submissions", rows, COLUMNS, as_json)


async def _follow(catalog: CatalogService, identity: str, as_json: bool) -> Progress:
    """Show progress as it is made: a bar for people, a line for programs."""
    shown: dict[str, Any] = {}
    with _bar() as bar:
        task = bar.add_task("Crawling", total=None, failed=0)
        async for progress in catalog.submissions.follow(identity, catalog.clock):
            failed = progress.tasks["failed"]
            bar.update(task, total=progress.total, completed=progress.done, failed=failed)
            if as_json and (now := view_progress(progress)) != shown:
                shown = now
                write_json(now)
            if progress.paused and progress.done + progress.paused == progress.total:
                break
    return progress


def _bar() -> Bar:
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeElapsedColumn(),
        console=stderr(),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def _end(progress: Progress, as_json: bool) -> None:
    if not as_json:
        _sum_up(progress)
    row = progress.submission
    if row["error"]:
        complain(row["error"])
    if progress.paused:
        complain(f"{progress.paused} tasks are paused: `penstock catalog tasks resume`")
    if not progress.is_over or row["error"] or progress.tasks["failed"]:
        raise typer.Exit(ExitCode.TROUBLE)


def _sum_up(progress: Progress) -> None:
    row = progress.submission
    states = ", ".join(f"{number} {status}" for status, number in progress.tasks.items() if number)
    paused = f"; {progress.paused} of them are paused" if progress.paused else ""
    refused = f"; {row['refused']} URLs were refused" if row["refused"] else ""
    reading = "the sitemap is being read; " if row["status"] == "reading" else ""
    say(f"{reading}{progress.done} of {progress.total} over: {states or 'none'}{paused}{refused}")
    if progress.tasks["failed"]:
        say(f"  see: penstock catalog tasks list --submission {row['id']} --status failed")
