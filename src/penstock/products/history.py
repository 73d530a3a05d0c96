"""What ops see of prices: every one with its provenance, also hidden ones, and what corrects them.

Not for consumers: `visible` is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, select, tuple_

from penstock.products.corrections import (
    corrected,
    corrected_cost_per_round,
    corrected_price,
    newest_shown,
)
from penstock.products.finding import Key, find_ids
from penstock.products.model import Seen
from penstock.products.tables import (
    price_corrections,
    prices,
    retailers,
    source_products,
    sources,
)
from penstock.store.unit import Unit

Row = dict[str, Any]
#: A source product and a run.
Place = tuple[str, str]
#: What says of a price that it is corrected, by whom and why.
_CORRECTION = tuple(
    price_corrections.c[name].label(f"correction_{name}")
    for name in ("id", "action", "price", "reason", "created_by", "created_at")
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which prices are wanted; `before` is the last (time, id) of the page that was seen."""

    product_id: str | None = None
    source_product_id: str | None = None
    target_id: str | None = None
    run_id: str | None = None
    source_id: str | None = None
    since: int | None = None
    until: int | None = None
    before: tuple[int, str] | None = None
    limit: int = 1000


def find(unit: Unit, price_id: str) -> Row | None:
    """One price."""
    return next(unit.rows(_all().where(prices.c.id == price_id)), None)


def list_prices(unit: Unit, wanted: Filter) -> list[Row]:
    """Prices, the newest first."""
    query = _all().where(*_conditions(wanted))
    newest = prices.c.observed_at.desc(), prices.c.id.desc()
    return list(unit.rows(query.order_by(*newest).limit(wanted.limit)))


def corrections_of(unit: Unit, price_id: str) -> list[Row]:
    """All corrections that a price ever had, the oldest first."""
    query = select(price_corrections).where(price_corrections.c.price_id == price_id)
    return list(unit.rows(query.order_by(price_corrections.c.created_at, price_corrections.c.id)))


def last_seen(unit: Unit, source_product_ids: Sequence[str]) -> dict[str, Seen]:
    """The newest price of source products that is not hidden, as corrected."""
    query = _newest().where(unit.among(source_products.c.id, source_product_ids))
    return {each: Seen(*values) for each, *values in unit.run(query)}


@cache
def _newest() -> Select[Any]:
    """The newest price of each source product; made once, for that takes longer than to run it."""
    query = newest_shown(lambda its: [its.source_product_id == source_products.c.id])
    newest = query.correlate(source_products).scalar_subquery()
    seen = (corrected_price, prices.c.currency, prices.c.availability, prices.c.observed_at)
    shown = corrected(source_products.join(prices, prices.c.id == newest))
    return select(source_products.c.id, *seen).select_from(shown)


def last_seen_by_key(unit: Unit, keys: Iterable[Key]) -> dict[Key, Seen]:
    """As `last_seen`, for who knows source products by their keys."""
    ids = find_ids(unit, keys)
    seen = last_seen(unit, sorted(ids.values())) if ids else {}
    return {key: seen[each] for key, each in ids.items() if each in seen}


def seen_in_runs(unit: Unit, places: Iterable[Place]) -> set[Place]:
    """In which of some runs a price of some source product was seen."""
    where = prices.c.source_product_id, prices.c.ingestion_run_id
    found = select(*where).where(unit.among_pairs(where, sorted(set(places))))
    return {(each, run_id) for each, run_id in unit.run(found)}


def columns() -> list[str]:
    """The names of what is told of a price."""
    return list(_all().selected_columns.keys())


def _all() -> Select[Any]:
    corrected_here = {"id", "price", "cost_per_round"}
    columns = [column for column in prices.c if column.name not in corrected_here]
    offers = (
        corrected(prices.join(source_products))
        .join(sources, sources.c.id == prices.c.source_id)
        .join(retailers, retailers.c.id == prices.c.retailer_id)
    )
    return select(
        prices.c.id.label("price_id"),
        corrected_price.label("price"),
        prices.c.price.label("price_as_seen"),
        corrected_cost_per_round.label("cost_per_round"),
        *columns,
        *(source_products.c.product_id, source_products.c.title, source_products.c.identity_key),
        *(sources.c.name.label("source"), sources.c.visibility_status),
        retailers.c.name.label("retailer"),
        *_CORRECTION,
    ).select_from(offers)


def _conditions(wanted: Filter) -> list[ColumnElement[bool]]:
    equal = {
        source_products.c.product_id: wanted.product_id,
        prices.c.source_product_id: wanted.source_product_id,
        prices.c.target_id: wanted.target_id,
        prices.c.ingestion_run_id: wanted.run_id,
        prices.c.source_id: wanted.source_id,
    }
    found = [column == value for column, value in equal.items() if value is not None]
    if wanted.since is not None:
        found.append(prices.c.observed_at >= wanted.since)
    if wanted.until is not None:
        found.append(prices.c.observed_at < wanted.until)
    if wanted.before is not None:
        found.append(tuple_(prices.c.observed_at, prices.c.id) < tuple_(*wanted.before))
    return found
