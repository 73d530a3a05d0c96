"""`penstock monitor prices`: what things cost, and cost; and corrections of what was wrong."""

from collections.abc import Awaitable, Callable, Sequence
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
    LimitIfSaid,
    OfProduct,
    OfRun,
    OfTarget,
    Source,
    Why,
    lines,
    say,
    show_one,
    show_rows,
    target_id,
    time_of,
    trouble,
    who,
    with_monitor,
)
from penstock.cli.output import safe, stdout, write_json
from penstock.cli.price_files import PriceFiles
from penstock.products.history import Filter
from penstock.web.views import view
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import (
    CorrectionView,
    PriceView,
    ProductView,
    VisiblePriceView,
    view_price,
)

app = typer.Typer(no_args_is_help=True, help="Prices: now, and in the past.")

Row = dict[str, Any]
Subject = Annotated[str, typer.Argument(help="A product, by id; or a target, by id or URL.")]
Product = Annotated[str, typer.Argument(help="A product, by id; see `prices products`.")]
Price = Annotated[str, typer.Argument(help="A price, by id; see `prices list`.")]
Since = Annotated[
    str | None, typer.Option(help="Only of the last 30d, 12h …; or from 2026-03-01 on.")
]
Until = Annotated[
    str | None, typer.Option(help="Only older than 7d, 12h …; or before 2026-03-01T12:00.")
]
Csv = Annotated[Path | None, typer.Option(help="Write them to a CSV file; - prints it.")]
Parquet = Annotated[Path | None, typer.Option(help="Write them to a Parquet file.")]
VISIBLE = ("source", "title", "price", "currency", "availability", "observed_at", "price_id")
SHOWN = ("observed_at", "source", "title", "price", "availability", "price_id")
CORRECTIONS = ("id", "action", "price", "reason", "created_by", "created_at", "revoked_by")
#: Prices of a chart, of a list, and of the table below a chart, if nobody says how many.
MOST_CHARTED, MOST_LISTED, MOST_SHOWN = 10_000, 50, 30
SEE, PRODUCTS = "prices list", "prices products"


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
    found = with_monitor(lambda monitor: monitor.prices.current(product), see=PRODUCTS)
    _show_visible(product, found, as_json)


@app.command()
def visible(
    product: Product,
    since: Since = None,
    until: Until = None,
    limit: Limit = 1000,
    as_json: AsJson = False,
) -> None:
    """What consumers see of what a product cost, oldest first: only sources that are ELIGIBLE."""

    async def look(monitor: MonitorService) -> list[Row]:
        begin, end = await _time(monitor, since), await _time(monitor, until)
        return await monitor.prices.history(product, begin, end, limit)

    _show_visible(product, with_monitor(look, see=PRODUCTS), as_json)


@app.command()
def history(
    subject: Subject,
    since: Since = None,
    until: Until = None,
    limit: LimitIfSaid = None,
    csv: Csv = None,
    parquet: Parquet = None,
    as_json: AsJson = False,
) -> None:
    """What a product, or what is sold at a URL, cost: a chart and the newest prices.

    For ops: with all provenance, and also prices that consumers do not see.
    """

    async def choose(monitor: MonitorService) -> Filter:
        wanted = await monitor.prices.subject(subject)
        return await _within(monitor, wanted, since, until)

    files = PriceFiles(csv, parquet)
    is_shown = as_json or not files.are_wanted
    most = (limit or MOST_CHARTED) if is_shown else 0
    rows = with_monitor(_looking(choose, files, limit, most), see="targets list")
    if not is_shown:
        return
    shown = [view(PriceView, row) for row in rows]
    if as_json:
        _show_prices("", shown, as_json)
    else:
        _show_charts(rows)
        _show_prices(f"{len(shown)} prices; the newest", shown[:MOST_SHOWN], as_json)
        if not rows:
            say("What a target waits for is told by: penstock monitor why URL")


@app.command("list")
def list_prices(
    source: Source = None,
    product: OfProduct = None,
    source_product: Annotated[
        str | None,
        typer.Option(help="What one source sells, by `source_product_id` of its prices."),
    ] = None,
    target: OfTarget = None,
    run: OfRun = None,
    since: Since = None,
    until: Until = None,
    limit: LimitIfSaid = None,
    csv: Csv = None,
    parquet: Parquet = None,
    as_json: AsJson = False,
) -> None:
    """List prices of all products with their provenance, newest first: 50, if no limit is said.

    A file gets all of them.
    """

    async def choose(monitor: MonitorService) -> Filter:
        wanted = Filter(
            source_id=await monitor.source_id(source),
            product_id=product,
            source_product_id=source_product,
            target_id=await target_id(monitor, target),
            run_id=run,
        )
        return await _within(monitor, wanted, since, until)

    files = PriceFiles(csv, parquet)
    is_shown = as_json or not files.are_wanted
    most = (limit or MOST_LISTED) if is_shown else 0
    rows = with_monitor(_looking(choose, files, limit, most))
    if is_shown:
        _show_prices(f"{len(rows)} prices", [view(PriceView, row) for row in rows], as_json)


@app.command()
def show(price: Price, as_json: AsJson = False) -> None:
    """Show the whole story of a price: where it comes from, and every correction it ever had."""

    async def look(monitor: MonitorService) -> Row:
        row = await monitor.prices.get(price)
        return view_price(row, await monitor.prices.corrections(price))

    found = with_monitor(look, see=SEE)
    if as_json:
        show_one(found, as_json)
        return
    made = found.pop("corrections")
    show_one(found, as_json)
    if made:
        show_rows(f"{len(made)} corrections", made, CORRECTIONS, as_json)


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

    found = with_monitor(work, see=SEE)
    show_one(view(CorrectionView, found[-1]), as_json)


@app.command()
def corrections(price: Price, as_json: AsJson = False) -> None:
    """List all corrections that a price ever had."""
    found = with_monitor(lambda monitor: monitor.prices.corrections(price), see=SEE)
    rows = [view(CorrectionView, row) for row in found]
    show_rows(f"{len(rows)} corrections", rows, CORRECTIONS, as_json)


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


def _looking(
    choose: Callable[[MonitorService], Awaitable[Filter]],
    files: PriceFiles,
    limit: int | None,
    most: int,
) -> Callable[[MonitorService], Awaitable[list[Row]]]:
    """Write prices to files, all of them if no limit is said; the prices to be shown, at most."""

    async def look(monitor: MonitorService) -> list[Row]:
        wanted = await choose(monitor)
        await files.write(monitor.price_exporter, wanted, limit)
        parts = monitor.price_exporter.rows(wanted, most)
        return [row async for rows in parts for row in rows]

    return look


async def _within(
    monitor: MonitorService, wanted: Filter, since: str | None, until: str | None
) -> Filter:
    """The same, of a time."""
    begin, end = await _time(monitor, since), await _time(monitor, until)
    return replace(wanted, since=begin, until=end)


async def _time(monitor: MonitorService, text: str | None) -> int | None:
    return await time_of(monitor, text) if text else None


def _show_visible(product: str, found: Sequence[Row], as_json: bool) -> None:
    """Prices as consumers see them; where there is none, where to look for others."""
    rows = [view(VisiblePriceView, row) for row in found]
    show_rows(f"{len(rows)} prices that consumers see", rows, VISIBLE, as_json)
    if not rows and not as_json:
        say(f"See all of them with: penstock monitor prices history {safe(product)}")


def _show_prices(title: str, rows: Sequence[Row], as_json: bool) -> None:
    """Prices; for people with their currency beside them."""
    if not as_json:
        rows = [row | {"price": f"{row['price']} {row['currency']}"} for row in rows]
    show_rows(title, rows, SHOWN, as_json)


def _show_charts(rows: Sequence[Row]) -> None:
    """A chart for each currency."""
    charts: dict[str, dict[str, list[tuple[int, Decimal]]]] = {}
    for row in reversed(rows):
        series = charts.setdefault(row["currency"], {})
        series.setdefault(row["source"], []).append((row["observed_at"], row["price"]))
    for currency, series in charts.items():
        lines([currency, *draw(series, min(stdout().width, 120)), ""])
