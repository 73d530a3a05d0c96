"""Source products and prices on both engines: written once, never changed, corrected openly."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select, text

from penstock.core.errors import StoreError
from penstock.kernel.records import Availability
from penstock.products import corrections, history
from penstock.products.finding import find_ids, key_of
from penstock.products.model import CurrencyRefused, Seen, Written
from penstock.products.tables import (
    price_corrections,
    prices,
    source_product_identifiers,
    source_products,
)
from penstock.products.writing import write_offers
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import Conflict, InvalidRequest, NotFound
from tests.stores import Stores, lose_next_commit, rows_of
from tests.unit.products.offers import GTINS, HOUR, NOON, ROUNDS, Shop, open_shop


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await stores.open()


@pytest.fixture
async def shop(store: Store) -> Shop:
    return await store.write(open_shop)


async def write(store: Store, *offers: Any) -> list[Written]:
    return await store.write(lambda unit: write_offers(unit, offers), "settle")


async def write_one(store: Store, offer: Any) -> Written:
    (written,) = await write(store, offer)
    return written


# ── writing


async def test_offer_is_written_with_all_it_says(store: Store, shop: Shop) -> None:
    offer = shop.offer(
        gtin=GTINS[0],
        sku="S-1",
        product_id="77",
        mpn="AE9DP",
        image_urls=("https://shop.example/1.jpg",),
        shipping_minor=995,
        tax_included=False,
        **ROUNDS,
    )

    written = await write_one(store, offer)

    (product,) = await rows_of(store, source_products)
    (price,) = await rows_of(store, prices)
    assert product["id"] == price["source_product_id"] == written.source_product_id
    assert (product["title"], product["brand"], product["upc"]) == ("Item 1", "Federal", GTINS[0])
    assert (product["grain_weight"], product["round_count"]) == (Decimal(115), 50)
    assert product["image_url"] == "https://shop.example/1.jpg"
    assert (price["price"], price["currency"]) == (Decimal("19.99"), "USD")
    assert (price["shipping"], price["tax_included"]) == (Decimal("9.95"), False)
    assert price["cost_per_round"] == Decimal("0.3998")
    assert (price["ingestion_run_type"], price["ingestion_run_id"]) == ("SCRAPE", "run-1")
    assert (price["target_id"], price["observed_at"]) == ("target-1", NOON)
    assert (price["adapter_id"], price["adapter_version"]) == ("product", "1.0.0")
    found = await rows_of(store, source_product_identifiers)
    assert {(row["id_type"], row["id_value"]) for row in found} == {
        ("PID", "77"),
        ("SKU", "S-1"),
        ("UPC", GTINS[0]),
        ("MPN", "AE9DP"),
    }


async def test_next_offer_updates_what_is_sold_and_appends_a_price(
    store: Store, shop: Shop
) -> None:
    first = await write_one(store, shop.offer(name="Old name", brand="CCI"))
    second = await write_one(
        store, shop.offer(name="New name", price=1500, run="run-2", at=NOON + HOUR)
    )

    (product,) = await rows_of(store, source_products)
    assert product["title"] == "New name"
    assert product["brand"] == "CCI", "what is not said this time is not forgotten"
    assert first.source_product_id == second.source_product_id
    assert first.product_id == second.product_id
    assert len(await rows_of(store, prices)) == 2


async def test_same_observation_again_changes_nothing_and_has_the_same_ids(
    store: Store, shop: Shop
) -> None:
    first = await write_one(store, shop.offer())
    same = await write_one(store, shop.offer())
    late = await write_one(store, shop.offer(price=1, at=NOON + HOUR))

    (price,) = await rows_of(store, prices)
    assert price["price"] == Decimal("19.99")
    assert first == same
    assert late.price_id == first.price_id


async def test_previous_price_is_the_last_one_before(store: Store, shop: Shop) -> None:
    first = await write_one(store, shop.offer(price=1000))
    await write_one(store, shop.offer(price=3000, run="run-3", at=NOON + 3 * HOUR))
    between = await write_one(store, shop.offer(price=2000, run="run-2", at=NOON + 2 * HOUR))

    assert first.previous is None
    assert between.previous == Seen(Decimal("10.00"), "USD", "IN_STOCK", NOON)


async def test_previous_price_has_its_corrections_applied(store: Store, shop: Shop) -> None:
    written = [
        await write_one(store, shop.offer(run=f"run-{n}", at=NOON + n * HOUR, price=1000 + n))
        for n in range(3)
    ]

    def correct(unit: Unit) -> None:
        corrections.hide(unit, written[2].price_id, who="ann", why="misread")
        corrections.override(unit, written[1].price_id, Decimal("7.50"), who="ann", why="per box")

    await store.write(correct)
    last = await write_one(store, shop.offer(run="run-9", at=NOON + 9 * HOUR))

    assert last.previous == Seen(Decimal("7.50"), "USD", "IN_STOCK", NOON + HOUR)


async def test_two_offers_of_one_thing_in_a_batch_make_two_prices(store: Store, shop: Shop) -> None:
    one, other = await write(
        store,
        shop.offer(brand="CCI", target="first", price=1000),
        shop.offer(mpn="5200", target="second", price=2000, at=NOON + 1),
    )

    (product,) = await rows_of(store, source_products)
    assert (product["brand"], product["mpn"]) == ("CCI", "5200")
    assert one.source_product_id == other.source_product_id
    assert one.price_id != other.price_id
    assert other.previous == Seen(Decimal("10.00"), "USD", "IN_STOCK", NOON)


async def test_many_offers_are_written_at_once(store: Store, shop: Shop) -> None:
    written = await write(store, *(shop.offer(str(n)) for n in range(300)))

    assert len({each.price_id for each in written}) == 300
    assert len({each.product_id for each in written}) == 300
    assert len(await rows_of(store, source_products)) == 300


async def test_two_sources_may_use_the_same_identity(store: Store, shop: Shop) -> None:
    other = await store.write(lambda unit: open_shop(unit, "other"))

    one, two = await write(store, shop.offer(), other.offer())

    assert one.source_product_id != two.source_product_id


async def test_currency_with_three_decimals_is_refused_and_nothing_is_written(
    store: Store, shop: Shop
) -> None:
    with pytest.raises(CurrencyRefused, match="KWD"):
        await write(store, shop.offer("1"), shop.offer("2", currency="KWD"))

    assert await rows_of(store, prices) == []
    assert await rows_of(store, source_products) == []


async def test_values_that_do_not_fit_are_left_out_not_fatal(store: Store, shop: Shop) -> None:
    offer = shop.offer(name="a\x00b", grain_weight=Decimal("1e9"), round_count=2**40)
    offer = replace(offer, identity_key="SKU:\ud800", url="https://shop.example/\ud800")

    await write(store, offer)

    (product,) = await rows_of(store, source_products)
    assert (product["title"], product["identity_key"]) == ("a\ufffdb", "SKU:\ufffd")
    assert (product["grain_weight"], product["round_count"]) == (None, None)


async def test_unknown_availability_is_kept_as_nothing(store: Store, shop: Shop) -> None:
    await write(store, shop.offer(availability=Availability.UNKNOWN))

    (price,) = await rows_of(store, prices)
    assert price["availability"] is None


async def test_what_is_first_seen_together_stands_together(store: Store, shop: Shop) -> None:
    """However much there is: then its prices are written to neighbouring places, too."""
    early = await write(store, *(shop.offer(str(n)) for n in range(5)))
    await asyncio.sleep(0.005)
    late = await write(store, *(shop.offer(str(n)) for n in range(5, 10)))

    ids = [{each.source_product_id for each in some} for some in (early, late)]
    assert max(ids[0]) < min(ids[1])


async def test_offer_without_a_commit_that_was_heard_of_is_written_once(
    store: Store, shop: Shop
) -> None:
    lose_next_commit(store)

    written = await write_one(store, shop.offer())

    (product,) = await rows_of(store, source_products)
    (price,) = await rows_of(store, prices)
    assert (product["id"], price["id"]) == (written.source_product_id, written.price_id)


async def test_source_products_are_found_by_source_and_key_together(
    store: Store, shop: Shop
) -> None:
    other = await store.write(lambda unit: open_shop(unit, "other"))
    odd = 'SKU:"a\\", [0]\x00 é'
    offers = [
        shop.offer("1"),
        other.offer("2", target="target-2"),
        replace(other.offer("3", target="target-3"), identity_key=odd),
    ]
    written = await write(store, *offers)

    wanted = [
        *(key_of(offer.source_id, offer.identity_key) for offer in offers),
        *((shop.source_id, "PID:2"), (other.source_id, "PID:1"), ("", "")),
    ]
    found = await store.read(lambda unit: find_ids(unit, wanted))

    assert found == dict(zip(wanted, (each.source_product_id for each in written), strict=False))
    assert await store.read(lambda unit: find_ids(unit, ())) == {}


async def test_workers_at_the_same_time_write_each_offer_once(
    stores: Stores, store: Store, shop: Shop
) -> None:
    workers = [await stores.open() for _ in range(3)]
    offers = [shop.offer(str(n), brand="CCI", mpn="5200") for n in range(20)]

    answers = await asyncio.gather(
        *(write(worker, *offers[::step]) for worker, step in zip(workers, (1, -1, 1), strict=True))
    )

    assert len(await rows_of(store, prices)) == 20
    assert len(await rows_of(store, source_products)) == 20
    assert len({each.product_id for answer in answers for each in answer}) == 1


# ── append-only


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE prices SET price = 1",
        "DELETE FROM prices",
        "INSERT INTO prices SELECT * FROM prices WHERE true "
        "ON CONFLICT (id) DO UPDATE SET price = 1",
    ],
)
async def test_database_refuses_to_change_or_delete_a_price(
    store: Store, shop: Shop, statement: str
) -> None:
    await write(store, shop.offer())

    with pytest.raises(StoreError, match="append-only"):
        await store.write(lambda unit: unit.run(text(statement)) and None)

    (price,) = await rows_of(store, prices)
    assert price["price"] == Decimal("19.99")


async def test_replacing_a_price_is_refused(in_sqlite: Stores) -> None:
    store = await in_sqlite.open()
    shop = await store.write(open_shop)
    await write(store, shop.offer())
    replace = text("INSERT OR REPLACE INTO prices SELECT * FROM prices")

    with pytest.raises(StoreError, match="append-only"):
        await store.write(lambda unit: unit.run(replace) and None)


@pytest.mark.parametrize(
    "statement", ["TRUNCATE prices CASCADE", "TRUNCATE source_products CASCADE"]
)
async def test_emptying_the_table_is_refused(in_postgres: Stores, statement: str) -> None:
    store = await in_postgres.open()
    shop = await store.write(open_shop)
    await write(store, shop.offer())

    with pytest.raises(StoreError, match="append-only"):
        await store.write(lambda unit: unit.run(text(statement)) and None)

    assert len(await rows_of(store, prices)) == 1


# ── corrections


async def test_correction_says_who_and_why(store: Store, shop: Shop) -> None:
    written = await write_one(store, shop.offer())

    await store.write(
        lambda unit: corrections.hide(unit, written.price_id, who="ann", why="wrong box")
    )

    found = await store.read(lambda unit: history.find(unit, written.price_id))
    assert found is not None
    assert found["price_as_seen"] == Decimal("19.99")
    assert found["correction_action"] == "HIDE"
    assert (found["correction_created_by"], found["correction_reason"]) == ("ann", "wrong box")


async def test_correction_without_who_or_why_is_refused(store: Store, shop: Shop) -> None:
    written = await write_one(store, shop.offer())

    for who, why in (("", "because"), ("ann", ""), ("ann", "  ")):
        with pytest.raises(InvalidRequest):
            await store.write(
                partial(corrections.hide, price_id=written.price_id, who=who, why=why)
            )
    assert await store.read(_number_of_corrections) == 0


async def test_override_with_an_impossible_price_is_refused(store: Store, shop: Shop) -> None:
    written = await write_one(store, shop.offer())
    override = partial(corrections.override, price_id=written.price_id, who="ann", why="x")

    for price in ("0", "-1", "1000000", "1.999", "NaN", "sNaN", "Infinity"):
        with pytest.raises(InvalidRequest, match="price"):
            await store.write(partial(override, price=Decimal(price)))
    assert await store.read(_number_of_corrections) == 0


async def test_override_is_no_finer_than_its_currency(store: Store, shop: Shop) -> None:
    written = await write_one(store, shop.offer(currency="JPY", price_minor=1980))
    override = partial(corrections.override, price_id=written.price_id, who="ann", why="x")

    with pytest.raises(InvalidRequest, match="between 1 and 99999999 JPY"):
        await store.write(partial(override, price=Decimal("19.80")))
    await store.write(partial(override, price=Decimal("1890.00")))


async def test_what_ops_see_of_an_overridden_price_has_no_cost_per_round_of_the_wrong_one(
    store: Store, shop: Shop
) -> None:
    written = await write_one(store, shop.offer(**ROUNDS))

    async def costs() -> list[Decimal | None]:
        rows = await store.read(lambda unit: history.list_prices(unit, history.Filter()))
        return [row["cost_per_round"] for row in rows]

    before = await costs()
    await store.write(
        lambda unit: corrections.override(
            unit, written.price_id, Decimal("12.34"), who="ann", why="per box"
        )
    )

    assert (before, await costs()) == ([Decimal("0.3998")], [None])


async def test_one_correction_of_a_price_counts_at_a_time(store: Store, shop: Shop) -> None:
    written = await write_one(store, shop.offer())

    def override(price: str) -> Any:
        return lambda unit: corrections.override(
            unit, written.price_id, Decimal(price), who="ann", why="x"
        )

    first = await store.write(override("5.00"))
    with pytest.raises(Conflict, match="revoke"):
        await store.write(override("6.00"))
    await store.write(lambda unit: corrections.revoke(unit, first, who="bob"))
    await store.write(override("7.00"))

    found = await store.read(lambda unit: history.find(unit, written.price_id))
    assert found is not None
    assert found["price"] == Decimal("7.00")
    told = await store.read(lambda unit: history.corrections_of(unit, written.price_id))
    assert [row["revoked_by"] for row in told] == ["bob", None]


async def test_correction_of_nothing_is_refused(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.write(lambda unit: corrections.hide(unit, "nothing", who="ann", why="x"))
    with pytest.raises(NotFound):
        await store.write(lambda unit: corrections.revoke(unit, "nothing", who="ann"))
    assert await store.read(_number_of_corrections) == 0


def _number_of_corrections(unit: Unit) -> int:
    return int(unit.run(select(func.count()).select_from(price_corrections)).scalar_one())


# ── what ops see


async def test_ops_page_through_all_prices_newest_first(store: Store, shop: Shop) -> None:
    for n in range(5):
        await write(store, shop.offer(run=f"run-{n}", at=NOON + n // 2 * HOUR, price=100 + n))
    seen: list[dict[str, Any]] = []
    for _ in range(3):
        before = (seen[-1]["observed_at"], seen[-1]["price_id"]) if seen else None
        wanted = history.Filter(source_id=shop.source_id, before=before, limit=2)
        seen += await store.read(partial(history.list_prices, wanted=wanted))

    assert len({row["price_id"] for row in seen}) == len(seen) == 5
    assert [row["observed_at"] for row in seen] == sorted(
        (row["observed_at"] for row in seen), reverse=True
    )
    assert set(seen[0]) == set(history.columns())


async def test_ops_choose_by_product_run_target_and_time(store: Store, shop: Shop) -> None:
    one, _ = await write(store, shop.offer("1"), shop.offer("2", run="run-2", at=NOON + HOUR))

    async def found(**wanted: Any) -> list[str]:
        rows = await store.read(lambda unit: history.list_prices(unit, history.Filter(**wanted)))
        return [row["target_id"] for row in rows]

    assert await found() == ["target-2", "target-1"]
    assert await found(product_id=one.product_id) == ["target-1"]
    assert await found(source_product_id=one.source_product_id) == ["target-1"]
    assert await found(run_id="run-2") == ["target-2"]
    assert await found(target_id="target-2") == ["target-2"]
    assert await found(since=NOON + 1) == ["target-2"]
    assert await found(until=NOON + 1) == ["target-1"]
