"""The catalogue on both engines: pages are kept once, prices appended, changes told apart."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event

from penstock.events.log import EventLog
from penstock.kernel.records import Availability
from penstock.products import corrections
from penstock.products.announcing import price_messages, product_messages
from penstock.products.archiving import archive_inactive, note_seen
from penstock.products.catalogue import Entry, Kept, refusal_of_entry, write_entries
from penstock.products.model import CurrencyRefused, OfferRefused, Seen
from penstock.products.tables import prices, source_products
from penstock.products.topics import PRODUCT_CHANGED
from penstock.products.writing import write_offers
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.stores import Stores, rows_of
from tests.unit.products.entries import Site, open_site
from tests.unit.products.offers import GTINS, HOUR, NOON

DAY = 24 * HOUR


@pytest.fixture
async def site(store: Store) -> Site:
    return await store.write(open_site)


async def write(store: Store, *entries: Entry) -> list[Kept]:
    return await store.write(lambda unit: write_entries(unit, entries), "settle")


async def write_one(store: Store, entry: Entry) -> Kept:
    (kept,) = await write(store, entry)
    return kept


async def product_row(store: Store) -> dict[str, Any]:
    (row,) = await rows_of(store, source_products)
    return row


async def costs(store: Store) -> tuple[Any, ...]:
    row = await product_row(store)
    return row["price"], row["currency"], row["availability"]


# ── pages


async def test_page_is_kept_with_all_it_says(store: Store, site: Site) -> None:
    entry = site.entry(
        description="Burns long.",
        category="Lamps",
        brand="Lumen",
        sku="S-1",
        gtin=GTINS[0],
        mpn="M-1",
        rating=Decimal("4.567"),
        review_count=12,
        list_price_minor=2999,
        shipping_minor=495,
    )

    kept = await write_one(store, replace(entry, extra={"colour": "red"}))

    row = await product_row(store)
    (price,) = await rows_of(store, prices)
    assert row["id"] == kept.source_product_id == price["source_product_id"]
    assert row["product_id"] == kept.product_id
    assert (row["domain_id"], row["crawl_task_id"]) == (site.domain_id, "task-1")
    assert (row["url"], row["url_hash"]) == (entry.url, entry.url_hash)
    assert (row["product_name"], row["sku"], row["brand"]) == ("Item 1", "S-1", "Lumen")
    assert (row["description"], row["category"]) == ("Burns long.", "Lamps")
    assert (row["rating"], row["review_count"]) == (Decimal("4.57"), 12)
    assert (row["price"], row["currency"]) == (Decimal("19.99"), "USD")
    assert (row["availability"], row["last_seen_at"]) == ("IN_STOCK", NOON)
    assert row["metadata"] == {
        "gtin": GTINS[0],
        "mpn": "M-1",
        "list_price": "29.99",
        "shipping": "4.95",
        "confidence": {"name": 0.9},
        "extra": {"colour": "red"},
        "parser": "product@1.0.0",
    }
    assert (price["ingestion_run_type"], price["target_id"]) == ("CRAWL", "task-1")
    assert (kept.changed, kept.price_changed, kept.previous) == (True, False, None)


async def test_same_page_again_moves_nothing_but_the_time_it_was_seen(
    stores: Stores, store: Store, site: Site
) -> None:
    await write(store, site.entry(description="Burns long."))
    before = await product_row(store)
    await stores.later(60)

    again = site.entry(description="Burns long.", run="run-2", at=NOON + HOUR)
    kept = await write_one(store, replace(again, confidence={"name": 0.5}))

    assert await product_row(store) == before | {"last_seen_at": NOON + HOUR}
    assert (kept.changed, kept.price_changed) == (False, False)
    assert kept.previous == Seen(Decimal("19.99"), "USD", "IN_STOCK", NOON)
    assert len(await rows_of(store, prices)) == 2


async def test_same_attempt_again_makes_no_second_price(store: Store, site: Site) -> None:
    first = await write_one(store, site.entry())
    again = await write_one(store, site.entry())

    assert len(await rows_of(store, prices)) == 1
    assert (again.source_product_id, again.changed) == (first.source_product_id, False)


@pytest.mark.parametrize(
    "changes",
    [
        {"description": "Burns longer."},
        {"rating": Decimal("4.1")},
        {"price": 2100},
        {"availability": Availability.BACKORDER},
        {"name": "Item one"},
    ],
)
async def test_anything_else_on_the_page_is_a_change(
    store: Store, site: Site, changes: dict[str, Any]
) -> None:
    await write(store, site.entry(description="Burns long.", rating=4))
    before = await product_row(store)

    said: dict[str, Any] = {"description": "Burns long.", "rating": 4} | changes
    kept = await write_one(store, site.entry(run="run-2", at=NOON + HOUR, **said))

    after = await product_row(store)
    assert kept.changed
    assert kept.price_changed == ("price" in changes)
    assert after["updated_at"] > before["updated_at"]
    assert after["created_at"] == before["created_at"]


async def test_page_that_says_less_takes_back_descriptions_but_not_what_it_is_known_by(
    store: Store, site: Site
) -> None:
    await write(store, site.entry(description="Long.", category="Lamps", rating=4, brand="Lumen"))

    kept = await write_one(store, site.entry(run="run-2", at=NOON + HOUR))

    row = await product_row(store)
    assert (row["description"], row["category"], row["rating"]) == (None, None, None)
    assert row["brand"] == "Lumen"
    assert kept.changed


async def test_older_page_that_comes_late_adds_only_its_price(store: Store, site: Site) -> None:
    await write(store, site.entry(description="New.", price=2000, at=NOON + HOUR))

    kept = await write_one(store, site.entry(description="Old.", price=1000, run="run-0"))

    row = await product_row(store)
    assert (row["description"], row["price"]) == ("New.", Decimal(20))
    assert (kept.changed, kept.price_changed) == (False, False)
    assert len(await rows_of(store, prices)) == 2


async def test_kept_page_that_is_read_again_later_counts_as_it_is_read_then(
    in_sqlite: Stores,
) -> None:
    store = await in_sqlite.open()
    site = await store.write(open_site)
    for number, price in enumerate((1000, 2000, 1500, 500)):
        await write(store, site.entry(price=price, run=f"reading-{number}", at=NOON))
        assert (await costs(store))[0] == Decimal(price) / 100
        await in_sqlite.later(1)


async def test_two_pages_of_one_product_in_a_batch_leave_the_newer(
    store: Store, site: Site
) -> None:
    newer = site.entry(page="new", price=2000, description="New.", at=NOON + 1)
    older = site.entry(page="old", price=1000, description="Old.")

    one, other = await write(store, newer, older)

    row = await product_row(store)
    assert (row["description"], row["price"]) == ("New.", Decimal(20))
    assert one.source_product_id == other.source_product_id
    assert one.previous == Seen(Decimal(10), "USD", "IN_STOCK", NOON)
    assert len(await rows_of(store, prices)) == 2


async def test_another_identity_on_a_page_is_another_product(store: Store, site: Site) -> None:
    one = await write_one(store, site.entry("1", page="p"))
    other = await write_one(store, site.entry("2", page="p", run="run-2", at=NOON + HOUR))

    assert one.source_product_id != other.source_product_id
    assert len(await rows_of(store, source_products)) == 2


async def test_many_pages_are_written_in_a_handful_of_statements(store: Store, site: Site) -> None:
    seen: list[str] = []
    engine = store._dialect.writing
    event.listen(engine, "before_cursor_execute", lambda *call: seen.append(call[2]))

    kept = await write(store, *(site.entry(str(n), brand=f"Brand {n}") for n in range(500)))

    assert len({each.product_id for each in kept}) == 500
    # SQLite takes so many rows in a statement as it has places for their values.
    assert len(seen) < 60


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"name": None}, "name"),
        ({"name": None, "price": None}, "name"),
        ({"price": 0}, "between"),
        ({"currency": None}, "currency"),
        ({"currency": "KWD"}, "KWD"),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_nothing_is_written(
    store: Store, site: Site, facts: dict[str, Any], why: str
) -> None:
    bad = site.entry("2", **facts)

    with pytest.raises(OfferRefused, match=why):
        await write(store, site.entry("1"), bad)

    assert str(refusal_of_entry(bad.record)).find(why) >= 0
    assert await rows_of(store, source_products) == []
    assert isinstance(refusal_of_entry(bad.record), CurrencyRefused) == (why == "KWD")


async def test_workers_at_the_same_time_write_each_product_once(
    stores: Stores, store: Store, site: Site
) -> None:
    workers = [await stores.open() for _ in range(3)]
    entries = [site.entry(str(n), brand="CCI", mpn="5200") for n in range(20)]

    await asyncio.gather(
        *(write(worker, *entries[::step]) for worker, step in zip(workers, (1, -1, 1), strict=True))
    )

    assert len(await rows_of(store, source_products)) == 20
    assert len(await rows_of(store, prices)) == 20


# ── without a price


async def test_product_without_a_price_is_kept_without_one(store: Store, site: Site) -> None:
    kept = await write_one(store, site.entry(price=None, availability=Availability.OUT_OF_STOCK))

    assert await costs(store) == (None, None, "OUT_OF_STOCK")
    assert await rows_of(store, prices) == []
    assert (kept.changed, kept.price_changed, kept.previous) == (True, False, None)


async def test_price_that_is_not_shown_any_more_is_gone_but_not_from_the_history(
    store: Store, site: Site
) -> None:
    await write(store, site.entry())
    gone = partial(site.entry, price=None, availability=Availability.UNKNOWN)

    kept = await write_one(store, gone(run="run-2", at=NOON + HOUR))
    again = await write_one(store, gone(run="run-3", at=NOON + 2 * HOUR))

    assert await costs(store) == (None, None, None)
    assert (kept.changed, kept.price_changed) == (True, True)
    assert kept.previous == again.previous == Seen(Decimal("19.99"), "USD", "IN_STOCK", NOON)
    assert (again.changed, again.price_changed) == (False, False)
    assert len(await rows_of(store, prices)) == 1


async def test_no_older_price_comes_back_when_a_newer_one_is_hidden(
    store: Store, site: Site
) -> None:
    sold_out = site.entry(price=None, availability=Availability.OUT_OF_STOCK, at=NOON + HOUR)
    await write(store, site.entry())
    await write(store, sold_out)
    seen = site.shop.offer(price=500, at=NOON + 2 * HOUR)
    await store.write(lambda unit: write_offers(unit, [seen]))
    assert await costs(store) == (Decimal(5), "USD", "IN_STOCK")

    newest = max(await rows_of(store, prices), key=lambda row: row["observed_at"])
    await store.write(lambda unit: corrections.hide(unit, newest["id"], who="ann", why="misread"))

    assert await costs(store) == (None, None, "OUT_OF_STOCK")


# ── what counts as the price


async def test_correction_changes_what_the_catalogue_shows_and_is_announced(
    store: Store, site: Site
) -> None:
    await write(store, site.entry(price=1000))
    kept = await write_one(store, site.entry(price=9900, run="run-2", at=NOON + HOUR))
    newest = max(await rows_of(store, prices), key=lambda row: row["observed_at"])["id"]
    log = EventLog(store)
    told = []

    def announce(unit: Unit) -> None:
        log.append(unit, price_messages(unit, newest))

    def hide(unit: Unit) -> str:
        correction = corrections.hide(unit, newest, who="ann", why="misread")
        announce(unit)
        return correction

    def override(unit: Unit) -> str:
        correction = corrections.override(unit, newest, Decimal(99), who="ann", why="per box")
        announce(unit)
        return correction

    def revoke(unit: Unit, correction: str) -> None:
        assert corrections.revoke(unit, correction, who="ann") == newest
        announce(unit)

    correction = await store.write(hide)
    told.append((await costs(store))[0])
    await store.write(lambda unit: revoke(unit, correction))
    told.append((await costs(store))[0])
    correction = await store.write(override)
    await store.write(lambda unit: revoke(unit, correction))

    assert told == [Decimal(10), Decimal(99)]
    events = await log.read()
    assert [event.message.key for event in events] == [kept.source_product_id] * 2
    assert {event.message.topic for event in events} == {PRODUCT_CHANGED}


async def test_monitor_changes_the_price_of_what_the_catalogue_has(
    store: Store, site: Site
) -> None:
    await write(store, site.entry(price=1000))
    before = await product_row(store)
    offer = site.shop.offer(price=1200, at=NOON + HOUR)

    (written,) = await store.write(lambda unit: write_offers(unit, [offer]))
    (same,) = await store.write(
        lambda unit: write_offers(unit, [replace(offer, run_id="r2", observed_at=NOON + 2 * HOUR)])
    )

    after = await product_row(store)
    assert (after["price"], after["url"]) == (Decimal(12), before["url"])
    assert after["updated_at"] > before["updated_at"]
    assert (written.changes_catalogue, same.changes_catalogue) == (True, False)
    assert len(await store.read(lambda unit: product_messages(unit, [after["id"]]))) == 1


async def test_what_the_monitor_changes_is_read_anew_by_the_catalogue(
    store: Store, site: Site
) -> None:
    await write(store, site.entry(brand="Lumen"))
    offer = site.shop.offer(name="Another name", at=NOON + HOUR)
    await store.write(lambda unit: write_offers(unit, [offer]))

    kept = await write_one(store, site.entry(brand="Lumen", run="run-2", at=NOON + 2 * HOUR))

    assert (await product_row(store))["title"] == "Item 1"
    assert kept.changed


async def test_what_only_the_monitor_has_is_no_part_of_the_catalogue(
    store: Store, site: Site
) -> None:
    (written,) = await store.write(lambda unit: write_offers(unit, [site.shop.offer()]))

    row = await product_row(store)
    assert (row["domain_id"], row["price"], row["last_seen_at"]) == (None, None, None)
    assert not written.changes_catalogue
    assert await store.read(lambda unit: product_messages(unit, [row["id"]])) == []

    kept = await write_one(store, site.entry(at=NOON + HOUR))
    assert (await product_row(store))["domain_id"] == site.domain_id
    assert (kept.changed, kept.price_changed) == (True, False)


# ── the archive


async def test_product_not_seen_for_long_is_archived_until_it_is_seen_again(
    store: Store, site: Site
) -> None:
    now = await store.read(lambda unit: unit.now)
    await write(store, site.entry("1", at=now - 91 * DAY), site.entry("2", at=now))
    log = EventLog(store)

    async def archive() -> int:
        return await store.write(lambda unit: archive_inactive(unit, 90 * DAY, 10, log.append))

    assert (await archive(), await archive()) == (1, 0)
    (event,) = await log.read()
    assert event.message.data["archived"] is True
    archived = {row["title"]: row["archived_at"] for row in await rows_of(store, source_products)}
    assert archived["Item 1"] is not None
    assert archived["Item 2"] is None

    kept = await write_one(store, site.entry("1", run="run-2", at=now))
    rows = await rows_of(store, source_products)
    assert [row["archived_at"] for row in rows] == [None, None]
    assert kept.changed


async def test_unchanged_page_is_seen_of_its_last_product_only(store: Store, site: Site) -> None:
    now = await store.read(lambda unit: unit.now)
    first = site.entry("1", page="p", at=now - 100 * DAY)
    second = site.entry("2", page="p", run="run-2", at=now - 99 * DAY)
    await write(store, first, second, site.entry("3", at=now - 99 * DAY))
    log = EventLog(store)
    await store.write(lambda unit: archive_inactive(unit, 90 * DAY, 10, log.append))
    before = len(await log.read())

    await store.write(lambda unit: note_seen(unit, ["task-p"], log.append))

    rows = {row["title"]: row for row in await rows_of(store, source_products)}
    assert rows["Item 2"]["archived_at"] is None
    assert rows["Item 2"]["last_seen_at"] >= now
    assert [rows[name]["archived_at"] is None for name in ("Item 1", "Item 3")] == [False, False]
    assert len(await log.read()) == before + 1


async def test_unchanged_page_without_a_price_takes_back_what_the_monitor_saw(
    store: Store, site: Site
) -> None:
    now = await store.read(lambda unit: unit.now)
    sold_out = site.entry(price=None, availability=Availability.OUT_OF_STOCK, at=now - 2 * HOUR)
    await write(store, sold_out)
    offer = site.shop.offer(price=500, at=now - HOUR)
    await store.write(lambda unit: write_offers(unit, [offer]))
    log = EventLog(store)

    await store.write(lambda unit: note_seen(unit, ["task-1"], log.append))

    assert await costs(store) == (None, None, "OUT_OF_STOCK")
    assert len(await log.read()) == 1


async def test_change_back_to_what_it_was_is_another_event(store: Store, site: Site) -> None:
    log = EventLog(store)

    async def see(price: int, hour: int) -> None:
        entry = site.entry(price=price, run=f"run-{hour}", at=NOON + hour * HOUR)

        def work(unit: Unit) -> None:
            changed = [each for each in write_entries(unit, [entry]) if each.changed]
            ids = [each.source_product_id for each in changed]
            log.append(unit, product_messages(unit, ids))
            log.append(unit, product_messages(unit, ids))

        await store.write(work)

    for hour, price in enumerate((1000, 1200, 1000, 1000)):
        await see(price, hour)

    assert len(await log.read()) == 3
