"""What consumers see: prices of eligible sources, with corrections applied, and nothing else."""

from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from penstock.kernel.records import Availability
from penstock.products import corrections, visible
from penstock.products.sources import Visibility, set_visibility
from penstock.products.writing import write_offers
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.stores import Stores
from tests.unit.products.offers import HOUR, NOON, ROUNDS, Shop, open_shop, show

Row = dict[str, Any]


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await stores.open()


@pytest.fixture
async def shop(store: Store) -> Shop:
    return await store.write(open_shop)


async def write(store: Store, *offers: Any) -> str:
    """Write offers; the product of the last."""
    written = await store.write(lambda unit: write_offers(unit, offers))
    return written[-1].product_id


async def current(store: Store, product_id: str) -> list[Row]:
    return await store.read(lambda unit: visible.current(unit, product_id))


async def history(store: Store, product_id: str, *between: Any) -> list[Row]:
    return await store.read(lambda unit: visible.history(unit, product_id, *between))


async def test_prices_of_a_new_source_are_seen_by_nobody(store: Store, shop: Shop) -> None:
    product = await write(store, shop.offer())

    assert await current(store, product) == []
    assert await history(store, product) == []
    assert await store.read(lambda unit: visible.cheapest(unit, product)) == []


async def test_prices_of_an_eligible_source_are_seen_until_it_is_not(
    store: Store, shop: Shop
) -> None:
    product = await write(store, shop.offer())
    await store.write(lambda unit: show(unit, shop))

    (row,) = await current(store, product)
    assert (row["price"], row["currency"], row["source"]) == (Decimal("19.99"), "USD", "shop")
    assert row["observed_at"] == NOON
    assert await history(store, product) == [row]
    assert set(row) == set(visible.columns())

    await store.write(
        lambda unit: set_visibility(unit, shop.source_id, Visibility.INELIGIBLE, who="ann")
    )
    assert await current(store, product) == []
    assert await history(store, product) == []


async def test_current_price_is_the_last_seen_not_the_last_written(
    store: Store, shop: Shop
) -> None:
    await store.write(lambda unit: show(unit, shop))
    await write(store, shop.offer(price=2000, run="run-2", at=NOON + HOUR))
    product = await write(store, shop.offer(price=1000, run="run-1", at=NOON))

    assert [row["price"] for row in await current(store, product)] == [Decimal(20)]
    assert [row["price"] for row in await history(store, product)] == [Decimal(10), Decimal(20)]


async def test_hidden_price_gives_way_to_the_one_before(store: Store, shop: Shop) -> None:
    await store.write(lambda unit: show(unit, shop))
    await write(store, shop.offer(price=1000))
    product = await write(store, shop.offer(price=1, run="run-2", at=NOON + HOUR))
    (wrong,) = await current(store, product)

    hiding = await store.write(
        lambda unit: corrections.hide(unit, wrong["price_id"], who="ann", why="misread")
    )
    assert [row["price"] for row in await current(store, product)] == [Decimal(10)]
    assert [row["price"] for row in await history(store, product)] == [Decimal(10)]

    await store.write(lambda unit: corrections.revoke(unit, hiding, who="ann"))
    assert await current(store, product) == [wrong]


async def test_overridden_price_is_seen_with_its_correction(store: Store, shop: Shop) -> None:
    await store.write(lambda unit: show(unit, shop))
    product = await write(store, shop.offer(**ROUNDS))
    (wrong,) = await current(store, product)
    assert wrong["cost_per_round"] == Decimal("0.3998")

    await store.write(
        lambda unit: corrections.override(
            unit, wrong["price_id"], Decimal("12.34"), who="ann", why="per box"
        )
    )

    right = wrong | {"price": Decimal("12.34"), "cost_per_round": None}
    assert await current(store, product) == [right]
    assert await history(store, product) == [right]


async def test_history_is_of_a_time_and_has_a_limit(store: Store, shop: Shop) -> None:
    await store.write(lambda unit: show(unit, shop))
    for hour in range(5):
        product = await write(store, shop.offer(run=f"run-{hour}", at=NOON + hour * HOUR))

    async def hours(*between: Any) -> list[int]:
        return [
            (row["observed_at"] - NOON) // HOUR for row in await history(store, product, *between)
        ]

    assert await hours() == [0, 1, 2, 3, 4]
    assert await hours(NOON + HOUR, NOON + 3 * HOUR) == [1, 2]
    assert await hours(None, None, 2) == [3, 4]


async def test_product_of_several_shops_is_compared_by_currency(store: Store, shop: Shop) -> None:
    dear, gone, abroad, secret = [
        await store.write(partial(open_shop, name=name))
        for name in ("dear", "gone", "abroad", "secret")
    ]
    for each in (shop, dear, gone, abroad):
        await store.write(partial(show, shop=each))
    product = await write(
        store,
        shop.offer(price=2000, **ROUNDS),
        dear.offer(price=3000, **ROUNDS),
        gone.offer(price=1000, availability=Availability.OUT_OF_STOCK, **ROUNDS),
        abroad.offer(price=1500, currency="EUR", **ROUNDS),
        secret.offer(price=1, **ROUNDS),
    )

    assert [(row["source"], row["currency"]) for row in await current(store, product)] == [
        ("abroad", "EUR"),
        ("gone", "USD"),
        ("shop", "USD"),
        ("dear", "USD"),
    ]
    cheapest = await store.read(lambda unit: visible.cheapest(unit, product))
    assert [row["source"] for row in cheapest] == ["abroad", "shop"]


async def test_current_price_is_found_by_index_however_many_there_are(
    stores: Stores, store: Store, shop: Shop
) -> None:
    product = await write(store, shop.offer())
    query = f"SELECT * FROM current_visible_prices WHERE product_id = '{product}'"  # noqa: S608

    def plan(unit: Unit) -> str:
        if stores.engine == "sqlite":
            return str(unit.run(text(f"EXPLAIN QUERY PLAN {query}")).all())
        # A table this small would be read as a whole.
        unit.run(text("SET LOCAL enable_seqscan = off"))
        return str(unit.run(text(f"EXPLAIN {query}")).all())

    told = await store.read(plan)
    assert "ix_source_products_product_id" in told
    assert "ix_prices_source_product_id_observed_at" in told
    assert "SCAN candidate" not in told
    assert "Seq Scan on prices" not in told
