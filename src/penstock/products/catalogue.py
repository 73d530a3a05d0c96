"""The catalogue: what was read on pages of products, kept with prices and images.

A page is the truth of what it describes: what it does not say any more is gone. What a product
is recognised by is not forgotten. Where nothing is said anew, only the time of it is noted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import select

from penstock.extract.product.images import MOST_IMAGES, FoundImage
from penstock.kernel.records import Availability, Product
from penstock.products.content import description_of, metadata_of, page_hash
from penstock.products.corrections import refresh_current
from penstock.products.finding import key_of
from penstock.products.history import last_seen
from penstock.products.images import ImageToGet, distinct, images_to_get, write_images
from penstock.products.model import Offer, OfferRefused, RunType, Seen, check_offer
from penstock.products.tables import source_products
from penstock.products.writing import (
    FACTS,
    KEYS,
    OF_PAGE,
    UPSERT_BY,
    append_prices,
    facts_of,
    find_alike,
    find_previous,
    give_ids,
    identified,
    keep,
    load,
    merge,
    price_row,
)
from penstock.store.unit import Unit

Row = dict[str, Any]
#: What the catalogue writes beside facts.
DESCRIBED = ("description", "category", "rating", "review_count")
COSTS = ("price", "currency", "availability")
TIES = ("domain_id", "crawl_task_id", "url_hash")
#: What makes the content of a product, beside images and what has no column.
CONTENT = (*FACTS, "grain_weight", "round_count", "url", *DESCRIBED, *COSTS)


@dataclass(frozen=True, slots=True)
class Entry:
    """What was read on one page: whose it is, and when, where and by what it was seen."""

    source_id: str
    retailer_id: str
    domain_id: str
    crawl_task_id: str
    url_hash: str
    identity_key: str
    url: str
    record: Product
    observed_at: int
    #: The attempt: a page that is read again by the same one makes no second price.
    run_id: str
    adapter_id: str
    adapter_version: str
    confidence: Mapping[str, float] = field(default_factory=dict)
    images: Sequence[FoundImage] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


class Kept(NamedTuple):
    """What an entry became: whether readers see something else now, and another price.

    `previous` is the last price before it that is not hidden; `pending_images` are to be got.
    """

    source_product_id: str
    product_id: str
    changed: bool
    price_changed: bool
    previous: Seen | None
    pending_images: Sequence[ImageToGet]


class _State(NamedTuple):
    """What the catalogue shows of a product."""

    product_id: str
    price: Any
    currency: str | None


def check_entry(record: Product) -> None:
    """Raise `OfferRefused` for a record that cannot be kept: a price is not needed, a name is."""
    if _is_priced(record):
        check_offer(record)
    elif not record.name:
        raise OfferRefused("a product needs a name")


def refusal_of_entry(record: Product) -> OfferRefused | None:
    """Why a record cannot be kept; to be asked before it is part of a batch."""
    try:
        check_entry(record)
    except OfferRefused as refusal:
        return refusal
    return None


def write_entries(
    unit: Unit, entries: Sequence[Entry], most_images: int = MOST_IMAGES
) -> list[Kept]:
    """Write entries: source products, links, prices of those that have one, images.

    Raises `OfferRefused`, before anything is written, if one cannot be kept: ask
    `refusal_of_entry` before.
    """
    if not entries:
        return []
    for entry in entries:
        check_entry(entry.record)
    keys = [key_of(entry.source_id, entry.identity_key) for entry in entries]
    given = give_ids(unit, keys)
    ids, every = [given[key] for key in keys], sorted(given.values())
    known = load(unit, every)
    changed = _write_pages(unit, _newest(ids, entries, known), known, most_images)
    previous = _write_prices(unit, ids, entries)
    changed |= refresh_current(unit, every)
    shown, waiting = _shown(unit, every), images_to_get(unit, every)
    return [
        Kept(
            source_product_id=each,
            product_id=shown[each].product_id,
            changed=each in changed,
            price_changed=_is_dearer_or_cheaper(known.get(each), shown[each]),
            previous=seen,
            pending_images=waiting.get(each, ()),
        )
        for each, seen in zip(ids, previous, strict=True)
    ]


def _is_priced(record: Product) -> bool:
    return record.price_minor is not None


# ── pages


def _newest(
    ids: Sequence[str], entries: Sequence[Entry], known: Mapping[str, Row]
) -> dict[str, Entry]:
    """The newest page of each product, if none that is newer was read before."""
    found: dict[str, Entry] = {}
    for each, entry in sorted(
        zip(ids, entries, strict=True), key=lambda pair: (pair[0], pair[1].observed_at)
    ):
        last = known[each]["last_seen_at"] if each in known else None
        if last is None or entry.observed_at >= last:
            found[each] = entry
    return found


def _write_pages(
    unit: Unit, pages: Mapping[str, Entry], known: Mapping[str, Row], most_images: int
) -> set[str]:
    """Write pages that say something new, and note when others were seen; the new ones."""
    images = {each: distinct(entry.images, most_images) for each, entry in pages.items()}
    rows = {
        each: _row(unit, each, entry, known.get(each, {}), images[each])
        for each, entry in pages.items()
    }
    changed = {each for each, row in rows.items() if _is_new(row, known.get(each))}
    if changed:
        keep(unit, [rows[each] for each in sorted(changed)], known, _update)
        write_images(unit, {each: images[each] for each in changed})
    _touch(unit, [row for each, row in rows.items() if each not in changed])
    return changed


def _is_new(row: Row, known: Row | None) -> bool:
    if known is None or known["archived_at"] is not None:
        return True
    return bool(row["content_hash"] != known["content_hash"])


def _row(unit: Unit, each: str, entry: Entry, known: Row, images: Sequence[FoundImage]) -> Row:
    record, facts = entry.record, facts_of(_offer(entry))
    first = next((image.url for image in images if image.kind == "primary"), None)
    row = identified(unit, each, merge(known, facts), known) | {
        **{name: getattr(entry, name) for name in TIES},
        # Where a page is and what it shows is what its last reading says.
        **{name: facts[name] for name in OF_PAGE},
        **({"image_url": first} if first else {}),
        **description_of(record),
        **_costs(unit, each, entry),
        "metadata": _metadata(entry),
        "last_seen_at": entry.observed_at,
        "archived_at": None,
    }
    return row | {"content_hash": page_hash(row, images, CONTENT)}


def _costs(unit: Unit, each: str, entry: Entry) -> Row:
    """What the page says of price and stock."""
    stock = entry.record.availability
    if not _is_priced(entry.record):
        availability = None if stock is Availability.UNKNOWN else stock.value
        none = {"price": None, "currency": None, "availability": availability}
        return none | {"stock_without_price": stock.value}
    price = price_row(unit, each, _offer(entry))
    return {name: price[name] for name in COSTS} | {"stock_without_price": None}


def _metadata(entry: Entry) -> Row:
    found = metadata_of(entry.record)
    if entry.confidence:
        found["confidence"] = dict(entry.confidence)
    if entry.extra:
        found["extra"] = dict(entry.extra)
    return found | {"parser": f"{entry.adapter_id}@{entry.adapter_version}"}


def _update(insert: Any) -> Any:
    """Of a product that exists, all that a page says."""
    facts = (*FACTS, *OF_PAGE, "grain_weight", "round_count", *KEYS)
    seen = ("stock_without_price", "metadata", "content_hash", "last_seen_at", "archived_at")
    names = (*facts, *TIES, *DESCRIBED, *COSTS, *seen, "updated_at")
    return insert.on_conflict_do_update(
        index_elements=UPSERT_BY, set_={name: insert.excluded[name] for name in names}
    )


def _touch(unit: Unit, rows: Sequence[Row]) -> None:
    """Note when products were seen that are as they were, and by which task."""
    names = ("id", *TIES, "last_seen_at")
    seen = sorted(rows, key=lambda row: str(row["id"]))
    unit.update_all(source_products, [{name: row[name] for name in names} for row in seen])


# ── prices


def _offer(entry: Entry) -> Offer:
    return Offer(
        source_id=entry.source_id,
        retailer_id=entry.retailer_id,
        record=entry.record,
        identity_key=entry.identity_key,
        url=entry.url,
        observed_at=entry.observed_at,
        run_id=entry.run_id,
        adapter_id=entry.adapter_id,
        adapter_version=entry.adapter_version,
        target_id=entry.crawl_task_id,
        run_type=RunType.CRAWL,
    )


def _write_prices(unit: Unit, ids: Sequence[str], entries: Sequence[Entry]) -> list[Seen | None]:
    """Append the prices of entries that have one; the last one before each."""
    pairs = list(zip(ids, entries, strict=True))
    bare = [each for each, entry in pairs if not _is_priced(entry.record)]
    last = last_seen(unit, sorted(set(bare))) if bare else {}
    priced = [(each, entry) for each, entry in pairs if _is_priced(entry.record)]
    rows = [price_row(unit, each, _offer(entry)) for each, entry in priced]
    alike = find_alike(unit, rows)
    appended = append_prices(unit, [row for row in rows if row["id"] not in alike])
    new = iter(appended)
    price_ids = [alike.get(row["id"]) or next(new) for row in rows]
    before = find_previous(unit, price_ids) if price_ids else {}
    written = iter(price_ids)
    return [
        before.get(next(written)) if _is_priced(entry.record) else last.get(each)
        for each, entry in pairs
    ]


def _shown(unit: Unit, ids: Sequence[str]) -> dict[str, _State]:
    column = source_products.c
    query = select(column.id, column.product_id, column.price, column.currency)
    rows = unit.run(query.where(unit.among(column.id, ids)))
    return {each: _State(*state) for each, *state in rows}


def _is_dearer_or_cheaper(known: Row | None, shown: _State) -> bool:
    """Whether a product that the catalogue had costs something else now."""
    if known is None or known["domain_id"] is None:
        return False
    return (known["price"], known["currency"]) != (shown.price, shown.currency)
