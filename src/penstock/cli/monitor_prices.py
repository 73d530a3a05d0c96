"""`penstock monitor prices`: what things cost, and cost; and corrections of what was wrong."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.charts import draw
from penstock.cli.monitor_quarantine import read_amount
from penstock.cli.monitoring import (
    AsJson,
    Limit,
    Source,
    Why,
    lines,
    open_to_write,
    say,
    show_one,
    show_rows,
    trouble,
    who,
    with_monitor,
)
from penstock.cli.output import stdout, write_json
from penstock.products.export import to_csv, write_parquet
from penstock.products.history import Filter
from penstock.queue.timing import read_span
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import (
    CorrectionView,
    PriceView,
    ProductView,
    VisiblePriceView,
    view,
)

app = typer.Typer(no_args_is_help=True, help="Prices: now, and in the past.")

Row = dict[str, Any]
Subject = Annotated[str, typer.Argument(help="A product, by id; or a target, by id or URL.")]
Product = Annotated[str, typer.Argument(help="A product, by id; see `prices products`.")]
Price = Annotated[str, typer.Argument(help="A price, as `prices history` shows it.")]
Since = Annotated[str | None, typer.Option(help="Only of the last 30d, 12h ….")]
SHOWN = ("observed_at", "source", "price", "currency", "availability", "price_id")
EXPORTED = tuple(PriceView.model_fields)
AT_ONCE = 5000
MOST_SHOWN = 30


@app.command()
def products(
    words: Annotated[list[str] | None, typer.Argument(help="Words of the name.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Find products, newest first."""
    found = with_monitor(lambda monitor: monitor.prices.products(" ".join(words or []), limit))
    rows = [view(ProductView, row) for row in found]
    columns = ("id", "name", "brand", "upc", "caliber", "grain_weight", "round_count")
    show_rows(f"{len(rows)} products", rows, columns, as_json)


@app.command()
def current(product: Product, as_json: AsJson = False) -> None:
    """What consumers see of what a product costs now: only sources that are ELIGIBLE."""
    found = with_monitor(lambda monitor: monitor.prices.current(product))
    rows = [view(VisiblePriceView, row) for row in found]
    columns = ("source", "title", "price", "currency", "availability", "observed_at", "price_id")
    show_rows(f"{len(rows)} prices that consumers see", rows, columns, as_json)
    if not rows and not as_json:
        say("See all of them with: penstock monitor prices history")


@app.command()
def history(
    subject: Subject,
    since: Since = None,
    limit: Limit = 10_000,
    csv: Annotated[Path | None, typer.Option(help="Write them to a CSV file; - prints it.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write them to a Parquet file.")] = None,
    as_json: AsJson = False,
) -> None:
    """What a product, or what is sold at a URL, cost: a chart and the newest prices.

    For ops: with all provenance, and also prices that consumers do not see.
    """
    rows = with_monitor(lambda monitor: _history(monitor, subject, since, limit))
    shown = [view(PriceView, row) for row in rows]
    if csv:
        _write_csv(rows, csv)
    if parquet:
        with open_to_write(parquet, "wb") as file:
            write_parquet(rows, EXPORTED, file)
    if as_json:
        show_rows("", shown, SHOWN, as_json)
    elif not (csv or parquet):
        _show_charts(rows)
        show_rows(f"{len(shown)} prices; the newest", shown[:MOST_SHOWN], SHOWN, as_json)


@app.command("list")
def list_prices(
    source: Source = None,
    run: Annotated[str | None, typer.Option(help="Only of this run, by id.")] = None,
    since: Since = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List prices of all products with their provenance, newest first."""

    async def look(monitor: MonitorService) -> list[Row]:
        wanted = Filter(
            source_id=await monitor.source_id(source),
            run_id=run,
            since=await _since(monitor, since),
            limit=limit,
        )
        return await monitor.prices.all(wanted)

    rows = [view(PriceView, row) for row in with_monitor(look)]
    columns = ("observed_at", "source", "title", "price", "currency", "availability", "price_id")
    show_rows(f"{len(rows)} prices", rows, columns, as_json)


@app.command()
def correct(
    price: Price,
    why: Why,
    hide: Annotated[bool, typer.Option("--hide", help="Show it to no consumer.")] = False,
    amount: Annotated[str | None, typer.Option(help="What it should have been.")] = None,
    as_json: AsJson = False,
) -> None:
    """Hide a price, or let another amount stand in its place. The price itself stays."""
    if hide == (amount is not None):
        raise trouble("say either --hide or --amount")
    other = read_amount(amount)

    async def work(monitor: MonitorService) -> list[Row]:
        await monitor.prices.correct(price, other, who=who(), why=why)
        return await monitor.prices.corrections(price)

    found = with_monitor(work)
    show_one(view(CorrectionView, found[-1]), as_json)


@app.command()
def corrections(price: Price, as_json: AsJson = False) -> None:
    """List all corrections that a price ever had."""
    found = with_monitor(lambda monitor: monitor.prices.corrections(price))
    rows = [view(CorrectionView, row) for row in found]
    columns = ("id", "action", "price", "reason", "created_by", "created_at", "revoked_by")
    show_rows(f"{len(rows)} corrections", rows, columns, as_json)


@app.command()
def revoke(
    correction: Annotated[str, typer.Argument(help="As `prices corrections` shows it.")],
    as_json: AsJson = False,
) -> None:
    """Take a correction back: the price counts again as it was seen."""
    with_monitor(lambda monitor: monitor.prices.revoke(correction, who()))
    if as_json:
        write_json({"revoked": correction})
    else:
        say(f"correction {correction} is revoked")


async def _history(
    monitor: MonitorService, subject: str, since: str | None, limit: int
) -> list[Row]:
    """Prices, newest first, some at a time."""
    wanted = await monitor.prices.subject(subject)
    wanted = replace(wanted, since=await _since(monitor, since))
    rows: list[Row] = []
    while len(rows) < limit:
        size = min(AT_ONCE, limit - len(rows))
        before = (rows[-1]["observed_at"], rows[-1]["price_id"]) if rows else None
        some = await monitor.prices.all(replace(wanted, before=before, limit=size))
        rows += some
        if len(some) < size:
            break
    return rows


async def _since(monitor: MonitorService, span: str | None) -> int | None:
    if span is None:
        return None
    now = await monitor.store.read(lambda unit: unit.now)
    return now - int(read_span(span) * 1000)


def _write_csv(rows: Sequence[Row], file: Path) -> None:
    texts = to_csv(rows, EXPORTED)
    if str(file) == "-":
        sys.stdout.writelines(texts)
        return
    with open_to_write(file, "w") as opened:
        opened.writelines(texts)


def _show_charts(rows: Sequence[Row]) -> None:
    """A chart for each currency."""
    charts: dict[str, dict[str, list[tuple[int, Decimal]]]] = {}
    for row in reversed(rows):
        series = charts.setdefault(row["currency"], {})
        series.setdefault(row["source"], []).append((row["observed_at"], row["price"]))
    for currency, series in charts.items():
        lines([currency, *draw(series, min(stdout().width, 120)), ""])
