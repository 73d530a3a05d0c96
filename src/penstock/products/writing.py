"""Writing offers: what a source sells, and what it cost when it was seen.

What a source sells is found by its identity key, a price by what its id is made of: so an offer
that is written again finds what is there. Ids begin with the time: what is written together stands
together in every index, and is found there together the next time, however much there is by then.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, null, or_, select

from penstock.core.ids import first_id_at, new_id
from penstock.extract.values.ammunition import cost_per_round
from penstock.kernel.records import Availability
from penstock.products.corrections import (
    corrected,
    corrected_price,
    is_shown,
    newest_shown,
    refresh_current,
)
from penstock.products.finding import Key, find_ids, key_of
from penstock.products.model import Offer, RunType, Seen, Written, amount_of, check_offer
from penstock.products.resolving import Keys, keys_of, resolve, take_turn
from penstock.products.tables import prices, source_product_identifiers, source_products
from penstock.store.schema import storable
from penstock.store.unit import Unit, do_nothing

Row = dict[str, Any]
ID_DIGITS = 32
#: Facts of a source product, and the field of the record that says them.
FACTS = {
    "title": "name",
    "brand": "brand",
    "retailer_sku": "sku",
    "retailer_product_id": "product_id",
    "upc": "gtin",
    "mpn": "mpn",
    "caliber": "caliber",
    "case_material": "case_material",
    "bullet_type": "bullet_type",
    "load_type": "load_type",
    "shell_length": "shell_length",
}
#: Kinds of identifiers, and the fact that is one.
IDENTIFIERS = {
    "PID": "retailer_product_id",
    "SKU": "retailer_sku",
    "UPC": "upc",
    "MPN": "mpn",
}
#: What there is one of.
UPSERT_BY = ("source_id", "identity_key")
KEYS = ("gtin_key", "attributes_key", "mpn_key")
#: Where and how a source product was read.
OF_PAGE = ("url", "image_url", "adapter_version")
#: What is not asked for when something is written.
FOR_READERS = frozenset({"description", "metadata", "product_name", "sku"})
KNOWN = tuple(column.name for column in source_products.c if column.name not in FOR_READERS)
#: What makes two readings of a page the same observation.
ALIKE = (
    *("source_product_id", "target_id", "observed_at"),
    *("price", "currency", "availability", "shipping", "tax_included"),
)
LARGEST_COUNT = 2**31 - 1
#: As many milliseconds, some weeks, as have a place in an id.
LATEST = 2**32 - 1
MILLIGRAIN = Decimal("0.001")
HEAVIEST = Decimal(10) ** 6
HIGHEST_COST = Decimal(10) ** 8
NONE: frozenset[str] = frozenset()


class Link(NamedTuple):
    """Which product a source product is, and the catalogue's domain that it is of."""

    product_id: str
    domain_id: str | None


def write_offers(unit: Unit, offers: Sequence[Offer]) -> list[Written]:
    """Write offers: source products, identifiers, links to products, prices.

    The same (source product, run, target) again changes no price and returns the same ids. Raises
    `OfferRefused`, before anything is written, if one cannot be kept: ask `refusal_of` before.
    """
    if not offers:
        return []
    for offer in offers:
        check_offer(offer.record)
    keys = [key_of(offer.source_id, offer.identity_key) for offer in offers]
    found = find_ids(unit, keys)
    if any(key not in found for key in keys):
        found = give_ids(unit, keys)
    ids = [found[key] for key in keys]
    linked, changed = _write_source_products(unit, dict(_gathered(ids, offers)))
    price_ids = append_prices(
        unit, [price_row(unit, *pair) for pair in zip(ids, offers, strict=True)]
    )
    previous = find_previous(unit, price_ids)
    listed = {each for each, link in linked.items() if link.domain_id}
    changed = changed & listed | refresh_current(unit, sorted(listed))
    return [
        Written(each, price_id, linked[each].product_id, previous.get(price_id), each in changed)
        for each, price_id in zip(ids, price_ids, strict=True)
    ]


def give_ids(unit: Unit, keys: Sequence[Key]) -> dict[Key, str]:
    """The ids of source products, new ones for those that are to be written now."""
    take_turn(unit)
    found = find_ids(unit, keys)
    return {key: found.get(key) or new_id() for key in dict.fromkeys(keys)}


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()


# ── source products


def _gathered(ids: Sequence[str], offers: Sequence[Offer]) -> Iterable[tuple[str, Row]]:
    """What the offers say of each source product; of two, the later one counts."""
    said: dict[str, Row] = {}
    for each, offer in zip(ids, offers, strict=True):
        said[each] = merge(said.get(each, {}), facts_of(offer))
    return sorted(said.items())


def facts_of(offer: Offer) -> Row:
    """What an offer says of its source product."""
    record = offer.record
    facts: Row = {name: getattr(record, field) for name, field in FACTS.items()}
    texts = facts | {
        "source_id": offer.source_id,
        "identity_key": offer.identity_key,
        "url": offer.url,
        "image_url": next(iter(record.image_urls), None),
        "adapter_version": offer.adapter_version,
    }
    weight, count = record.grain_weight, record.round_count
    return {name: text and storable(text) for name, text in texts.items()} | {
        "grain_weight": weight.quantize(MILLIGRAIN) if weight and weight < HEAVIEST else None,
        "round_count": count if count and count <= LARGEST_COUNT else None,
    }


def merge(known: Mapping[str, Any], said: Row) -> Row:
    """What is known now: what is not said this time is not forgotten."""
    return {**said, **{name: known[name] for name in said if not said[name] and name in known}}


def _write_source_products(
    unit: Unit, said: dict[str, Row]
) -> tuple[dict[str, Link], frozenset[str]]:
    """Write what is new; where each belongs, and which of them are changed."""
    known = load(unit, list(said))
    changed = [each for each, facts in said.items() if _adds(known.get(each), facts)]
    if not changed:
        return {
            each: Link(row["product_id"], row["domain_id"]) for each, row in known.items()
        }, NONE
    take_turn(unit)
    known = load(unit, changed)
    rows = [_row(unit, each, said[each], known.get(each, {})) for each in changed]
    keep(unit, rows, known, _update)
    return _links_of(unit, list(said)), frozenset(changed)


def _links_of(unit: Unit, ids: Sequence[str]) -> dict[str, Link]:
    column = source_products.c
    query = select(column.id, column.product_id, column.domain_id)
    return {each: Link(*link) for each, *link in unit.run(query.where(unit.among(column.id, ids)))}


def load(unit: Unit, ids: Sequence[str]) -> dict[str, Row]:
    """What is known of source products, but for what only readers need."""
    query = select(*(source_products.c[name] for name in KNOWN))
    rows = unit.rows(query.where(unit.among(source_products.c.id, ids)))
    return {row["id"]: row for row in rows}


def keep(
    unit: Unit,
    rows: Sequence[Row],
    known: Mapping[str, Row],
    on_conflict: Callable[[Any], Any],
) -> None:
    """Write source products with all that hangs on them; to be called after `take_turn`."""
    unit.insert_all(source_products, rows, on_conflict)
    _write_identifiers(unit, rows)
    unlike = [row for row in rows if _is_unlike(row, known.get(row["id"]))]
    former = [
        Keys(*(known[row["id"]][key] for key in KEYS)) for row in unlike if row["id"] in known
    ]
    if unlike:
        resolve(unit, [row["id"] for row in unlike], former)


def _adds(known: Row | None, facts: Row) -> bool:
    """Whether an offer says anything that is not known."""
    if known is None:
        return True
    heard = _heard(known, facts)
    return any(value and known[name] != value for name, value in heard.items())


def _heard(known: Row, facts: Row) -> Row:
    """What an offer says, but for what only the catalogue says of what it has."""
    return facts | {name: known[name] for name in OF_PAGE} if known["domain_id"] else facts


def _row(unit: Unit, each: str, facts: Row, known: Row) -> Row:
    return identified(unit, each, merge(known, _heard(known, facts) if known else facts), known)


def identified(unit: Unit, each: str, facts: Row, known: Row) -> Row:
    """The row of a source product; its time is later than any it was changed at before."""
    return {
        "id": each,
        **facts,
        **dict(zip(KEYS, keys_of(facts), strict=True)),
        "created_at": unit.now,
        "updated_at": max(unit.now, known["updated_at"] + 1) if known else unit.now,
    }


def _update(insert: Any) -> Any:
    """Of a source product that exists, everything but what makes it the one it is.

    The catalogue, if it has it, no longer has what it has read: it is to look again.
    """
    names = [*FACTS, *OF_PAGE, "grain_weight", "round_count", *KEYS, "updated_at"]
    new = {name: insert.excluded[name] for name in names}
    return insert.on_conflict_do_update(
        index_elements=UPSERT_BY, set_={**new, "content_hash": null()}
    )


def _is_unlike(row: Row, known: Row | None) -> bool:
    """Whether the resolver may see another product in it than before."""
    return known is None or any(row[key] != known[key] for key in KEYS)


def _write_identifiers(unit: Unit, rows: Sequence[Row]) -> None:
    found = [
        {
            "source_product_id": row["id"],
            "id_type": kind,
            "id_value": row[fact],
            "created_at": unit.now,
        }
        for row in rows
        for kind, fact in IDENTIFIERS.items()
        if row[fact]
    ]
    unit.insert_all(source_product_identifiers, found, do_nothing)


# ── prices


def price_row(unit: Unit, source_product: str, offer: Offer) -> Row:
    """What an offer cost; raise `OfferRefused` if it cannot be kept."""
    record, price = offer.record, check_offer(offer.record)
    currency, availability = record.currency or "", record.availability
    shipping = record.shipping_minor
    place = _digest(source_product, offer.run_id, offer.target_id)
    return {
        "id": (_beginning(unit, offer) + place)[:ID_DIGITS],
        "source_product_id": source_product,
        "source_id": offer.source_id,
        "retailer_id": offer.retailer_id,
        "target_id": offer.target_id,
        "price": price,
        "currency": currency,
        "availability": None if availability is Availability.UNKNOWN else availability.value,
        "shipping": None if shipping is None else amount_of(shipping, currency),
        "tax_included": record.tax_included,
        "cost_per_round": _cost_per_round(offer),
        "url": offer.url,
        "observed_at": offer.observed_at,
        "ingestion_run_type": offer.run_type.value,
        "ingestion_run_id": offer.run_id,
        "adapter_id": offer.adapter_id,
        "adapter_version": offer.adapter_version,
        "released_by": offer.released_by,
        "created_at": unit.now,
    }


def _beginning(unit: Unit, offer: Offer) -> str:
    """The time first: what is written together stands together.

    A page that was kept can be read again: then what is read later counts as the newer price.
    """
    seen = first_id_at(offer.observed_at)
    if offer.run_type is not RunType.CRAWL:
        return seen
    return f"{seen}{min(max(unit.now - offer.observed_at, 0), LATEST):08x}"


def _cost_per_round(offer: Offer) -> Decimal | None:
    record = offer.record
    cost = record.cost_per_round_minor
    if cost is None and record.round_count and record.price_minor:
        cost = cost_per_round(record.price_minor, record.round_count)
    if cost is None:
        return None
    one = amount_of(1, record.currency or "")
    return cost * one if cost * one < HIGHEST_COST else None


def append_prices(unit: Unit, rows: Sequence[Row]) -> list[str]:
    """Append prices; the id of each, or of the one that was there of the same observation."""
    unit.insert_all(prices, rows, do_nothing)
    ids = [row["id"] for row in rows]
    written = set(unit.run(select(prices.c.id).where(unit.among(prices.c.id, ids))).scalars())
    return [row["id"] if row["id"] in written else _find_same(unit, row) for row in rows]


def find_alike(unit: Unit, rows: Sequence[Row]) -> dict[str, str]:
    """The prices that earlier readings of the same pages gave, by the ids of those that are alike.

    A page that is read again and says what it said is no second observation.
    """
    column, since = prices.c, min((row["observed_at"] for row in rows), default=0)
    query = select(column.id, *(column[name] for name in ALIKE)).where(
        unit.among(column.source_product_id, sorted({row["source_product_id"] for row in rows})),
        column.observed_at >= since,
    )
    known = {tuple(said): each for each, *said in unit.run(query)} if rows else {}
    found = ((row["id"], known.get(tuple(row[name] for name in ALIKE))) for row in rows)
    return {each: before for each, before in found if before is not None}


def _find_same(unit: Unit, row: Row) -> str:
    same = [
        prices.c[name] == row[name]
        for name in ("source_product_id", "ingestion_run_id", "target_id")
    ]
    found: str = unit.run(select(prices.c.id).where(*same)).scalar_one()
    return found


def find_previous(unit: Unit, price_ids: Sequence[str]) -> dict[str, Seen]:
    """The last price before each of some that is not hidden."""
    query, later = _previous()
    query = query.where(unit.among(later, price_ids))
    return {price_id: Seen(*seen) for price_id, *seen in unit.run(query)}


@cache
def _previous() -> tuple[Select[Any], ColumnElement[str]]:
    """The last price before each, and the column that says before which.

    Made once: to put it together takes longer than to run it for a few.
    """
    new = prices.alias()
    earlier = newest_shown(
        lambda its: [
            its.source_product_id == new.c.source_product_id,
            its.observed_at <= new.c.observed_at,
            or_(its.observed_at < new.c.observed_at, its.id < new.c.id),
        ]
    )
    last_before = earlier.correlate(new).scalar_subquery()
    query = (
        select(
            new.c.id,
            corrected_price,
            prices.c.currency,
            prices.c.availability,
            prices.c.observed_at,
        )
        .select_from(corrected(new.join(prices, prices.c.id == last_before)))
        .where(is_shown)
    )
    return query, new.c.id
