"""`penstock catalog status`, `reindex`, `audit` and `export`: the catalogue as a whole."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr, ValidationError
from rich.progress import Progress

from penstock.cli.catalog_desk import time_of, with_catalog, with_settings
from penstock.cli.monitoring import AsJson, lines, say, show_one
from penstock.cli.output import ExitCode, stderr, write_json
from penstock.core.errors import SettingsError
from penstock.products.exporting import Exported, Receiver, Subject
from penstock.products.exporting import export as send
from penstock.products.search.feeding import count_documents
from penstock.products.search.feeding import reindex as rebuild
from penstock.settings import Settings
from penstock.web.views import moment
from penstock.workloads.catalog.audit import Report
from penstock.workloads.catalog.audit import audit as look_through
from penstock.workloads.catalog.clickhouse import ClickHouse, ClickHouseSettings
from penstock.workloads.catalog.export_files import ParquetFolder
from penstock.workloads.catalog.service import CatalogService

export_app = typer.Typer(
    no_args_is_help=True, help="Products and prices for other programs: what changed since last."
)

Since = Annotated[
    str | None,
    typer.Option(help="Since 7d ago, or 2026-03-01; what changed since the last time if not said."),
]


def status(as_json: AsJson = False) -> None:
    """The catalogue in numbers: tasks, domains, products, images."""
    show_one(with_catalog(lambda catalog: catalog.overview()), as_json)


def reindex(as_json: AsJson = False) -> None:
    """Build the search index anew from the store; searches find what they did until it is done."""

    async def work(catalog: CatalogService) -> int:
        with _bar() as bar:
            total = await catalog.store.read(count_documents)
            task = bar.add_task("Indexing", total=total)
            await catalog.index.prepare()
            return await rebuild(
                catalog.store, catalog.index, lambda number: bar.advance(task, number)
            )

    number = with_catalog(work)
    if as_json:
        write_json({"indexed": number})
    else:
        say(f"{number} products are in the index")


def audit(
    index: Annotated[
        bool, typer.Option("--index/--no-index", help="Compare the search index, too.")
    ] = True,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Look for the files of images, too.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Look through the whole catalogue for what cannot be right; 1 if anything is wrong.

    Orphans, missing and impossible values, stale rows, and an index that is out of step.
    """

    async def work(settings: Settings, catalog: CatalogService) -> Report:
        with _bar() as bar:
            task = bar.add_task("Looking", total=None)
            return await look_through(
                catalog.store,
                settings.catalog,
                catalog.index if index else None,
                catalog.blobs if files else None,
                lambda table, number: bar.update(task, description=f"{number} {table}"),
            )

    report = with_settings(work)
    if as_json:
        write_json(report.as_json())
    else:
        lines(report.lines())
    if not report.is_clean:
        raise typer.Exit(ExitCode.TROUBLE)


@export_app.command()
def parquet(
    folder: Annotated[Path, typer.Argument(help="Where to; it remembers how far it has come.")],
    since: Since = None,
    as_json: AsJson = False,
) -> None:
    """Write what changed to Parquet files in a folder."""

    async def work(catalog: CatalogService) -> list[Exported]:
        return await _export(catalog, ParquetFolder(folder), since)

    _show_exported(with_catalog(work), as_json)


@export_app.command()
def clickhouse(
    url: Annotated[
        str,
        typer.Argument(
            help="http(s)://user:password@host:8123; - reads it from standard input, where no "
            "password stays in the history of a shell."
        ),
    ],
    database: Annotated[str, typer.Option(help="It exists already.")] = "default",
    prefix: Annotated[str, typer.Option(help="Of the names of our tables.")] = "catalog_",
    since: Since = None,
    as_json: AsJson = False,
) -> None:
    """Send what changed to ClickHouse; tables are made, and rows replaced by their ids."""
    place = sys.stdin.readline().strip() if url == "-" else url
    try:
        section = ClickHouseSettings(url=SecretStr(place), database=database, table_prefix=prefix)
    except ValidationError as error:
        problem = error.errors()[0]
        raise SettingsError(f"--{problem['loc'][0]}: {problem['msg']}") from None

    async def work(catalog: CatalogService) -> list[Exported]:
        async with _connected(section, catalog) as receiver:
            return await _export(catalog, receiver, since)

    _show_exported(with_catalog(work), as_json)


@asynccontextmanager
async def _connected(
    section: ClickHouseSettings, catalog: CatalogService
) -> AsyncIterator[ClickHouse]:
    receiver = ClickHouse(section, catalog.clock)
    try:
        yield receiver
    finally:
        await receiver.close()


async def _export(catalog: CatalogService, receiver: Receiver, since: str | None) -> list[Exported]:
    begin = await time_of(catalog, since) if since else None
    exported = []
    with _bar() as bar:
        task = bar.add_task("Exporting", total=len(Subject))
        for subject in Subject:
            bar.update(task, description=f"Exporting {subject}")
            exported.append(await send(catalog.store, receiver, subject, begin))
            bar.advance(task)
    return exported


def _show_exported(exported: list[Exported], as_json: bool) -> None:
    for each in exported:
        if as_json:
            times = {"since": moment(each.since), "watermark": moment(each.watermark)}
            write_json(asdict(each) | times)
        else:
            say(f"{each.rows} {each.subject}; the next export begins at {moment(each.watermark)}")


def _bar() -> Progress:
    return Progress(console=stderr(), transient=True, disable=not sys.stderr.isatty())
