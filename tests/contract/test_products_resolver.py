"""Which source products are one product: the rules one by one, and several workers at once."""

import asyncio
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from penstock.products.sources import set_trust
from penstock.products.tables import product_keys, products, source_products
from penstock.products.writing import write_offers
from penstock.store.store import Store
from tests.stores import Stores, rows_of
from tests.unit.products.offers import GTINS, ROUNDS, Shop, open_shop

NUMBER: dict[str, Any] = {"brand": "Federal", "mpn": "AE9DP"}


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await stores.open()


async def shops(store: Store, *, trusted: str = "", untrusted: str = "") -> list[Shop]:
    """A shop for each letter."""
    return [
        await store.write(partial(open_shop, name=name, trusted=name in trusted))
        for name in trusted + untrusted
    ]


async def see(store: Store, *offers: Any) -> None:
    """Write offers one after the other."""
    for offer in offers:
        await store.write(partial(write_offers, offers=[offer]))


async def linked(store: Store) -> dict[str, str]:
    """The product of each item, by the item's name; items have different names."""
    query = select(source_products.c.title, source_products.c.product_id)
    return dict(await store.read(lambda unit: [tuple(row) for row in unit.run(query)]))


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        pytest.param({"gtin": GTINS[0]}, {"gtin": GTINS[0]}, True, id="same GTIN"),
        pytest.param({"gtin": GTINS[0]}, {"gtin": GTINS[0][2:]}, True, id="shorter GTIN"),
        pytest.param({"gtin": GTINS[0]}, {"gtin": GTINS[1]}, False, id="other GTIN"),
        pytest.param(
            {"gtin": GTINS[0], **ROUNDS}, {"gtin": GTINS[1], **ROUNDS}, False, id="GTIN wins"
        ),
        pytest.param({"gtin": GTINS[0], **ROUNDS}, ROUNDS, True, id="attributes of a GTIN"),
        pytest.param(ROUNDS, ROUNDS, True, id="attributes"),
        pytest.param(ROUNDS, ROUNDS | {"brand": " FEDERAL"}, True, id="spelling"),
        pytest.param(ROUNDS, ROUNDS | {"round_count": 500}, False, id="more rounds"),
        pytest.param(ROUNDS, ROUNDS | {"grain_weight": None}, False, id="attribute unknown"),
        pytest.param(NUMBER, NUMBER, True, id="brand and number"),
        pytest.param(NUMBER | ROUNDS, NUMBER, True, id="number of one with attributes"),
        pytest.param({"mpn": "AE9DP"}, {"mpn": "AE9DP"}, False, id="number without brand"),
        pytest.param({}, {}, False, id="nothing known"),
    ],
)
async def test_two_offers_are_one_product_or_not(
    store: Store, one: dict[str, Any], other: dict[str, Any], are_one: bool
) -> None:
    a, b = await shops(store, trusted="ab")

    await see(store, a.offer("1", **one), b.offer("2", **other))

    found = await linked(store)
    assert (found["Item 1"] == found["Item 2"]) is are_one


async def test_gtin_of_a_source_that_is_not_trusted_counts_nothing(store: Store) -> None:
    a, b = await shops(store, trusted="a", untrusted="b")

    await see(store, a.offer("1", gtin=GTINS[0]), b.offer("2", gtin=GTINS[0]))

    assert len(set((await linked(store)).values())) == 2
    assert {row["upc"] for row in await rows_of(store, products)} == {GTINS[0], None}


async def test_attributes_of_two_gtins_link_to_neither(store: Store) -> None:
    a, b = await shops(store, trusted="a", untrusted="b")
    await see(store, a.offer("1", gtin=GTINS[0], **ROUNDS), b.offer("2", **ROUNDS))
    before = await linked(store)

    await see(store, a.offer("3", gtin=GTINS[1], **ROUNDS))

    after = await linked(store)
    assert before["Item 2"] == before["Item 1"]
    assert len(set(after.values())) == 3
    assert after["Item 1"] == before["Item 1"]
    names = {row["id"]: row["name"] for row in await rows_of(store, products)}
    assert names[after["Item 2"]] == "Item 2"


async def test_link_ends_when_the_trusted_offer_describes_itself_otherwise(store: Store) -> None:
    a, b = await shops(store, trusted="a", untrusted="b")
    await see(store, a.offer("1", gtin=GTINS[0], **ROUNDS), b.offer("2", **ROUNDS))
    before = await linked(store)

    await see(store, a.offer("1", run="run-2", **(ROUNDS | {"round_count": 1000})))

    after = await linked(store)
    assert before["Item 1"] == before["Item 2"] == after["Item 1"]
    assert after["Item 2"] != after["Item 1"]


async def test_product_keeps_its_id_when_more_is_learned(store: Store) -> None:
    (a,) = await shops(store, trusted="a")
    await see(store, a.offer("1"))
    alone = await linked(store)
    await see(store, a.offer("1", run="run-2", **NUMBER), a.offer("1", run="run-3", **ROUNDS))
    await see(store, a.offer("1", run="run-4", gtin=GTINS[0]))

    assert await linked(store) == alone
    (product,) = await rows_of(store, products)
    assert (product["brand"], product["mpn"], product["upc"]) == ("Federal", "AE9DP", GTINS[0])
    assert product["round_count"] == 50


async def test_trust_given_later_links_what_was_apart(store: Store) -> None:
    a, b = await shops(store, trusted="a", untrusted="b")
    await see(store, a.offer("1", gtin=GTINS[0]), b.offer("2", gtin=GTINS[0]))
    before = await linked(store)

    await store.write(
        lambda unit: set_trust(unit, b.source_id, upc_trusted=True, who="ann") and None
    )
    trusted = await linked(store)
    await store.write(
        lambda unit: set_trust(unit, b.source_id, upc_trusted=False, who="ann") and None
    )

    assert set(trusted.values()) == {before["Item 1"]}
    assert len(set((await linked(store)).values())) == 2


async def test_workers_at_the_same_time_make_one_product(stores: Stores, store: Store) -> None:
    found = await shops(store, trusted="abc", untrusted="def")
    workers = [await stores.open() for _ in found]
    facts = {"gtin": GTINS[0], **ROUNDS}

    await asyncio.gather(
        *(
            see(worker, *(shop.offer(str(n), **facts) for n in range(5)))
            for worker, shop in zip(workers, found, strict=True)
        )
    )

    (product,) = await rows_of(store, products)
    linked_to = {row["product_id"] for row in await rows_of(store, source_products)}
    assert linked_to == {product["id"]}
    assert {row["product_id"] for row in await rows_of(store, product_keys)} == {product["id"]}
