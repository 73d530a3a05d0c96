"""What consumers may see of prices: the one way to them.

A price is visible if its source is ELIGIBLE and no correction hides it; a correction that
overrides it is applied.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    FromClause,
    MetaData,
    Select,
    Table,
    Text,
    select,
)

from penstock.kernel.records import Availability
from penstock.products.corrections import (
    corrected,
    corrected_cost_per_round,
    corrected_price,
    is_shown,
)
from penstock.products.sources import Visibility
from penstock.products.tables import (
    prices,
    retailers,
    source_products,
    sources,
)
from penstock.store.schema import Fixed, Moment
from penstock.store.unit import Unit

Row = dict[str, Any]

#: A view of the database: the last visible price of each source product.
current_visible_prices = Table(
    "current_visible_prices",
    MetaData(),
    Column("price_id", Text, primary_key=True),
    Column("product_id", Text),
    Column("source_product_id", Text),
    Column("source_id", Text),
    Column("retailer_id", Text),
    Column("title", Text),
    Column("url", Text),
    Column("price", Fixed(10, 2)),
    Column("currency", Text),
    Column("availability", Text),
    Column("shipping", Fixed(10, 2)),
    Column("tax_included", Boolean),
    Column("cost_per_round", Fixed(12, 4)),
    Column("observed_at", Moment),
    Column("ingestion_run_type", Text),
)


def current(unit: Unit, product_id: str) -> list[Row]:
    """What a product costs now at every source, by currency, the cheapest first."""
    view = current_visible_prices
    query = _named(view, view.c, view).where(view.c.product_id == product_id)
    return list(unit.rows(query.order_by(view.c.currency, view.c.price, view.c.price_id)))


def cheapest(unit: Unit, product_id: str) -> list[Row]:
    """The lowest price of a product that is in stock, one for each currency."""
    found: dict[str, Row] = {}
    for row in current(unit, product_id):
        if row["availability"] == Availability.IN_STOCK:
            found.setdefault(row["currency"], row)
    return list(found.values())


def history(
    unit: Unit,
    product_id: str,
    since: int | None = None,
    until: int | None = None,
    limit: int | None = None,
) -> list[Row]:
    """What a product cost at every source, from a time and before another, oldest first.

    With a limit, the newest ones of that time.
    """
    return _history(unit, source_products.c.product_id == product_id, since, until, limit)


def history_of_offer(
    unit: Unit,
    source_product_id: str,
    since: int | None = None,
    until: int | None = None,
    limit: int | None = None,
) -> list[Row]:
    """What a source product cost, as `history` tells it."""
    return _history(unit, prices.c.source_product_id == source_product_id, since, until, limit)


def _history(
    unit: Unit, of: ColumnElement[bool], since: int | None, until: int | None, limit: int | None
) -> list[Row]:
    wanted = [of]
    if since is not None:
        wanted.append(prices.c.observed_at >= since)
    if until is not None:
        wanted.append(prices.c.observed_at < until)
    query = _visible(wanted).order_by(prices.c.observed_at.desc(), prices.c.id.desc())
    return list(unit.rows(query.limit(limit)))[::-1]


def shown_of(unit: Unit, price_ids: Sequence[str]) -> set[str]:
    """Which of some prices consumers may see, by id."""
    query = _visible([unit.among(prices.c.id, price_ids)]).with_only_columns(prices.c.id)
    return set(unit.run(query).scalars())


def columns() -> list[str]:
    """The names of what is told of a price."""
    return [*current_visible_prices.c.keys(), "source", "retailer"]


def _visible(wanted: Sequence[ColumnElement[bool]]) -> Select[Any]:
    columns = (
        *(prices.c.id.label("price_id"), source_products.c.product_id),
        *(prices.c.source_product_id, prices.c.source_id, prices.c.retailer_id),
        *(source_products.c.title, prices.c.url, corrected_price.label("price")),
        *(prices.c.currency, prices.c.availability, prices.c.shipping, prices.c.tax_included),
        *(corrected_cost_per_round.label("cost_per_round"), prices.c.observed_at),
        prices.c.ingestion_run_type,
    )
    offers = corrected(prices.join(source_products))
    eligible = sources.c.visibility_status == Visibility.ELIGIBLE
    return _named(prices, columns, offers).where(*wanted, eligible, is_shown)


def _named(seen: Table, columns: Any, origin: FromClause) -> Select[Any]:
    """Columns, and the names of source and retailer."""
    joined = origin.join(sources, sources.c.id == seen.c.source_id).join(
        retailers, retailers.c.id == seen.c.retailer_id
    )
    names = sources.c.name.label("source"), retailers.c.name.label("retailer")
    return select(*columns, *names).select_from(joined)
