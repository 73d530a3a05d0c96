"""What readers see of the catalogue: products that are not archived, of eligible sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Select, and_, exists, func, literal, select, tuple_
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op

from penstock.kernel.records import Availability
from penstock.products.images import list_images
from penstock.products.sources import Visibility
from penstock.products.tables import domains, source_products, sources
from penstock.products.visible import history_of_offer
from penstock.store.unit import Unit
from penstock.web.errors import NotFound

Row = dict[str, Any]
#: Where a product stands in an order: the value that it is ordered by, and its id.
Place = tuple[Any, str]
#: What is asked of a column, however it is looked at.
Test = Callable[[ColumnElement[Any]], ColumnElement[bool]]
#: Availability as readers write it, and as it is kept.
STOCK = {
    each.value.lower(): each.value for each in Availability if each is not Availability.UNKNOWN
}
#: So many products are too many to be sorted for a page of them.
MANY = 2_000
HIGHEST_PRICE, HIGHEST_RATING = Decimal("99999999.99"), Decimal("9.99")
#: What is told of a product.
TOLD = (
    *("id", "product_id", "source_id", "domain_id", "crawl_task_id", "url", "url_hash"),
    *("product_name", "description", "price", "currency", "availability", "rating"),
    *("review_count", "brand", "category", "sku", "content_hash", "metadata", "image_url"),
    *("created_at", "updated_at", "last_seen_at"),
)


class Sort(StrEnum):
    """In which order products are listed; those without the value come last."""

    NEWEST = "newest"
    UPDATED = "updated"
    PRICE_ASC = "price_asc"
    PRICE_DESC = "price_desc"
    RATING = "rating"
    NAME = "name"


class _Order(NamedTuple):
    """By which column, from where, and whether all products have it."""

    column: Column[Any]
    is_descending: bool = False
    is_always_there: bool = True


_ORDERS = {
    Sort.NEWEST: _Order(source_products.c.created_at, is_descending=True),
    Sort.UPDATED: _Order(source_products.c.updated_at, is_descending=True),
    Sort.PRICE_ASC: _Order(source_products.c.price, is_always_there=False),
    Sort.PRICE_DESC: _Order(source_products.c.price, is_descending=True, is_always_there=False),
    Sort.RATING: _Order(source_products.c.rating, is_descending=True, is_always_there=False),
    Sort.NAME: _Order(source_products.c.product_name),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which products are wanted; of several values, one must fit. `after` is the last one seen.

    Availability is as readers write it: in_stock, out_of_stock or backorder. Domains are names.
    """

    price_min: Decimal | None = None
    price_max: Decimal | None = None
    currency: str | None = None
    availability: Sequence[str] = ()
    brand: Sequence[str] = ()
    category: Sequence[str] = ()
    domain: Sequence[str] = ()
    rating_min: Decimal | None = None
    created_since: int | None = None
    updated_since: int | None = None
    sort: Sort = Sort.NEWEST
    after: Place | None = None
    limit: int = 50


def list_products(unit: Unit, wanted: Filter) -> list[Row]:
    """Products in an order, with the names of their domains."""
    order, query = _ORDERS[wanted.sort], _visible().where(*_conditions(unit, wanted))
    found: list[Row] = []
    if wanted.after is None or wanted.after[0] is not None:
        found = list(unit.rows(_with_value(query, order, wanted.after).limit(wanted.limit)))
    left = wanted.limit - len(found)
    if left and not order.is_always_there:
        after = wanted.after if wanted.after and wanted.after[0] is None else None
        found += unit.rows(_without_value(query, order, after).limit(left))
    return [_told(row) for row in found]


def place_of(row: Mapping[str, Any], sort: Sort) -> Place:
    """Where a product that was listed stands: behind it the next page begins."""
    return row[_ORDERS[sort].column.name], row["id"]


def get_product(unit: Unit, source_product_id: str) -> Row:
    """A product with its images, each in its place."""
    row = _find(unit, source_product_id)
    return row | {"images": list_images(unit, [source_product_id]).get(source_product_id, [])}


def products_by_id(unit: Unit, ids: Sequence[str]) -> dict[str, Row]:
    """Those of some products that readers may see, by id."""
    query = _visible().where(unit.among(source_products.c.id, ids))
    return {row["id"]: _told(row) for row in unit.rows(query)} if ids else {}


def price_history(
    unit: Unit,
    source_product_id: str,
    since: int | None = None,
    until: int | None = None,
    limit: int | None = None,
) -> list[Row]:
    """What a product cost, from a time and before another, oldest first; the newest of them."""
    _find(unit, source_product_id)
    rows = history_of_offer(unit, source_product_id, since, until, limit)
    return [row | {"availability": spelled(row["availability"])} for row in rows]


def images_of(unit: Unit, source_product_id: str) -> list[Row]:
    """The images of a product, each in its place."""
    images: list[Row] = get_product(unit, source_product_id)["images"]
    return images


def spelled(availability: str | None) -> str | None:
    """Availability as readers write it; what is not known is not said."""
    if availability is None or availability == Availability.UNKNOWN:
        return None
    return availability.lower()


def _find(unit: Unit, source_product_id: str) -> Row:
    query = _visible().where(source_products.c.id == source_product_id)
    for row in unit.rows(query):
        return _told(row)
    raise NotFound("Product not found")


def _told(row: Row) -> Row:
    return row | {"availability": spelled(row["availability"])}


def _visible() -> Select[Any]:
    """All that readers may see."""
    column = source_products.c
    # Asked of each product, so that no engine begins with sources and sorts what they have.
    is_eligible = exists().where(
        sources.c.id == column.source_id, sources.c.visibility_status == Visibility.ELIGIBLE
    )
    site = domains.c.id == column.domain_id
    return (
        select(*(column[name] for name in TOLD), domains.c.domain_name)
        .select_from(source_products.outerjoin(domains, site))
        .where(column.domain_id.is_not(None), column.archived_at.is_(None), is_eligible)
    )


def _with_value(query: Select[Any], order: _Order, after: Place | None) -> Select[Any]:
    value, each = order.column, source_products.c.id
    if not order.is_always_there:
        query = query.where(value.is_not(None))
    if after:
        place, last = tuple_(value, each), tuple_(literal(after[0], value.type), after[1])
        query = query.where(place < last if order.is_descending else place > last)
    if order.is_descending:
        return query.order_by(value.desc(), each.desc())
    return query.order_by(value, each)


def _without_value(query: Select[Any], order: _Order, after: Place | None) -> Select[Any]:
    value, each = order.column, source_products.c.id
    query = query.where(value.is_(None))
    chosen = query.where(each > after[1]) if after else query
    # By the value, too, though it has none: then an index has them in this order.
    return chosen.order_by(value, each)


def _conditions(unit: Unit, wanted: Filter) -> list[ColumnElement[bool]]:
    tests = _tests(unit, wanted)
    # It has no index, and leads nowhere.
    found = [source_products.c.currency == wanted.currency] if wanted.currency else []
    if unit.engine != "sqlite":
        return found + [test(column) for column, test in tests.items()]
    leader = _leader(unit, tests)
    leads = {leader, _ORDERS[wanted.sort].column}
    return found + [
        test(column if column in leads else _unindexed(column)) for column, test in tests.items()
    ]


def _tests(unit: Unit, wanted: Filter) -> dict[Column[Any], Test]:
    """What is asked of columns that have an index."""
    column = source_products.c
    ranges = {
        column.price: (wanted.price_min, wanted.price_max, HIGHEST_PRICE),
        column.rating: (wanted.rating_min, None, HIGHEST_RATING),
        column.created_at: (wanted.created_since, None, None),
        column.updated_at: (wanted.updated_since, None, None),
    }
    several = {
        column.availability: [STOCK.get(each, each) for each in wanted.availability],
        column.brand: wanted.brand,
        column.category: wanted.category,
        column.domain_id: _domain_ids(unit, wanted.domain) if wanted.domain else (),
    }
    return {
        **{
            each: partial(_is_between, least=_at_most(least, end), most=_at_most(most, end))
            for each, (least, most, end) in ranges.items()
            if least is not None or most is not None
        },
        **{each: partial(_is_one_of, values=its) for each, its in several.items() if its},
    }


def _leader(unit: Unit, tests: Mapping[Column[Any], Test]) -> Column[Any] | None:
    """The column by whose index products are to be found: few pass its test, or there is none.

    SQLite does not know how many would: it may find most products by such an index and sort
    them, where the first of them in the order are soon found.
    """
    sizes = {column: _count(unit, test(column)) for column, test in tests.items()}
    rarest = min(sizes, key=lambda column: sizes[column], default=None)
    return rarest if rarest is not None and sizes[rarest] < MANY else None


def _count(unit: Unit, condition: ColumnElement[bool]) -> int:
    """How many products something is true of, as far as it matters."""
    some = select(source_products.c.id).where(condition, source_products.c.domain_id.is_not(None))
    query = select(func.count()).select_from(some.limit(MANY).subquery())
    return int(unit.run(query).scalar_one())


def _unindexed(column: Column[Any]) -> ColumnElement[Any]:
    """A column by whose index SQLite looks for nothing."""
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def _is_between(column: ColumnElement[Any], least: Any, most: Any) -> ColumnElement[bool]:
    bounds = [] if least is None else [column >= least]
    return and_(*bounds, *([] if most is None else [column <= most]))


def _at_most(value: Any, highest: Decimal | None) -> Any:
    """A bound that fits the column; nothing is beyond it."""
    if value is None or highest is None:
        return value
    return min(max(value, -highest), highest)


def _domain_ids(unit: Unit, names: Sequence[str]) -> list[str]:
    query = select(domains.c.id).where(unit.among(domains.c.domain_name, names))
    # Of a name that is no domain's there are no products.
    return list(unit.run(query).scalars()) or [""]


def _is_one_of(column: ColumnElement[Any], values: Sequence[str]) -> ColumnElement[bool]:
    return column == values[0] if len(values) == 1 else column.in_(values)
