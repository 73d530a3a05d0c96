"""The catalogue for other programs: what changed since the last time, and nothing is missed.

What is exported is remembered as a watermark: a time. Rows are stamped when their transaction
begins and are seen when it is committed, so a row may turn up behind others that are younger.
Therefore the watermark is not the time of the last row but a time before which no open transaction
can write any more. What is between the two is sent again the next time: a receiver takes a row
more than once and lets the one with the latest `updated_at` replace the others of its id.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Select, Table, func, or_, select, text, tuple_

from penstock.core.errors import PenstockError
from penstock.products.corrections import Action, corrected, corrected_price
from penstock.products.tables import domains, price_corrections, prices, source_products
from penstock.store.schema import dump
from penstock.store.store import Store
from penstock.store.unit import Unit

Row = dict[str, Any]
AT_ONCE = 5000
#: What the clocks of processes may differ by, and what is not known of other users' transactions.
MARGIN_MS = 60_000
#: Where a walk stands: a time and an id.
Place = tuple[int, str]


class ExportRefused(PenstockError):
    """A receiver does not take what it is sent; says why."""


class ExportLost(PenstockError):
    """A receiver does not answer, or has no room; the same may be sent again."""


class Subject(StrEnum):
    """What is exported."""

    PRODUCTS = "products"
    PRICES = "prices"


@dataclass(frozen=True, slots=True)
class Span:
    """What is exported at once: from a time up to another; the next begins at `watermark`."""

    since: int
    until: int
    watermark: int


class Receiver(Protocol):
    """Where rows go; it knows how far it has come."""

    async def watermark(self, subject: Subject) -> int:
        """Everything before this time is there; 0 if nothing is."""
        ...

    async def receive(
        self, subject: Subject, span: Span, pages: AsyncIterator[Sequence[Row]]
    ) -> int:
        """Take rows and, once they are safe, remember the watermark; how many there were."""
        ...


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export came to."""

    subject: Subject
    rows: int
    since: int
    watermark: int


async def export(
    store: Store, receiver: Receiver, subject: Subject, since: int | None = None
) -> Exported:
    """Send what changed since the last time, or since another time."""
    start = await receiver.watermark(subject) if since is None else since
    span = await store.write(partial(_span, start), "upkeep")
    number = await receiver.receive(subject, span, pages_of(store, subject, span))
    return Exported(subject, number, span.since, span.watermark)


async def pages_of(store: Store, subject: Subject, span: Span) -> AsyncIterator[list[Row]]:
    """The rows that changed in a span, some at a time; one that changes then may come twice."""
    for find in WALKS[subject]:
        last: Place = (span.since, "")
        while rows := await store.read(partial(find, span=span, last=last)):
            last = _place_of(rows[-1])
            yield rows


def _span(since: int, unit: Unit) -> Span:
    """In a transaction that writes: on SQLite, nobody else is in one then."""
    horizon = min(unit.now, _oldest_transaction(unit)) - MARGIN_MS
    return Span(since, unit.now, max(since, horizon))


def _oldest_transaction(unit: Unit) -> int:
    """When the oldest transaction that is open began."""
    if unit.engine == "sqlite":
        return unit.now
    query = text(
        "SELECT floor(extract(epoch FROM min(xact_start)) * 1000)::bigint"
        " FROM pg_stat_activity WHERE datname = current_database()"
    )
    # There is one at least: this one.
    oldest: int = unit.run(query).scalar_one()
    return oldest


def _place_of(row: Mapping[str, Any]) -> Place:
    return row["place_at"], row["id"]


def _walk(query: Select[Any], at: ColumnElement[int], table: Table, span: Span, last: Place) -> Any:
    place = (at, table.c.id)
    return (
        query.add_columns(at.label("place_at"))
        .where(tuple_(*place) > tuple_(*last), at <= span.until)
        .order_by(*place)
        .limit(AT_ONCE)
    )


# ── products


def _products() -> Select[Any]:
    same = (
        *("id", "source_id", "domain_id", "product_id", "crawl_task_id", "url", "url_hash"),
        *("product_name", "brand", "sku", "upc", "mpn", "category", "description"),
        *("price", "currency", "availability", "rating", "review_count", "image_url"),
        *("content_hash", "metadata", "adapter_version"),
        *("created_at", "updated_at", "archived_at"),
    )
    its = source_products.c
    joined = source_products.outerjoin(domains, domains.c.id == its.domain_id)
    columns = [its[name] for name in same]
    return select(*columns, domains.c.domain_name).select_from(joined)


def _find_products(unit: Unit, span: Span, last: Place) -> list[Row]:
    its = source_products.c
    query = _products().where(its.domain_id.is_not(None))
    rows = unit.rows(_walk(query, its.updated_at, source_products, span, last))
    return [row | {"metadata": dump(row["metadata"] or {})} for row in rows]


# ── prices


def _prices() -> Select[Any]:
    """Prices of the catalogue's products as they count now; `updated_at` is when that changed."""
    same = (
        *("id", "source_product_id", "source_id", "retailer_id", "target_id", "currency"),
        *("availability", "shipping", "tax_included", "url", "observed_at"),
        *("ingestion_run_type", "ingestion_run_id", "adapter_id", "adapter_version", "created_at"),
    )
    correction = price_corrections.alias()
    said_at = func.max(func.coalesce(correction.c.revoked_at, correction.c.created_at))
    corrected_at = (
        select(said_at)
        .where(correction.c.price_id == prices.c.id)
        .correlate(prices)
        .scalar_subquery()
    )
    is_hidden = func.coalesce(price_corrections.c.action, "") == Action.HIDE.value
    joined = corrected(prices.join(source_products))
    return (
        select(
            *(prices.c[name] for name in same),
            source_products.c.product_id,
            corrected_price.label("price"),
            prices.c.price.label("price_as_seen"),
            is_hidden.label("is_hidden"),
            func.coalesce(corrected_at, prices.c.created_at).label("updated_at"),
        )
        .select_from(joined)
        .where(source_products.c.domain_id.is_not(None))
    )


def _find_prices(unit: Unit, span: Span, last: Place) -> list[Row]:
    return list(unit.rows(_walk(_prices(), prices.c.created_at, prices, span, last)))


def _find_corrected(unit: Unit, span: Span, last: Place) -> list[Row]:
    """Older prices that were corrected, or of which a correction was revoked, in the span."""
    correction = price_corrections.c
    when = or_(
        correction.created_at.between(span.since, span.until),
        correction.revoked_at.between(span.since, span.until),
    )
    touched = select(correction.price_id).where(when)
    query = _prices().where(prices.c.id.in_(touched), prices.c.created_at < span.since)
    # From the beginning of time: what is corrected may be of any age.
    start = last if last[1] else (-1, "")
    return list(unit.rows(_walk(query, prices.c.created_at, prices, span, start)))


WALKS: dict[Subject, tuple[Callable[..., list[Row]], ...]] = {
    Subject.PRODUCTS: (_find_products,),
    Subject.PRICES: (_find_prices, _find_corrected),
}
#: Plain strings: those of the library are not taken for names by every encoder.
COLUMNS: dict[Subject, tuple[str, ...]] = {
    Subject.PRODUCTS: tuple(f"{each.name}" for each in _products().selected_columns),
    Subject.PRICES: tuple(f"{each.name}" for each in _prices().selected_columns),
}
