"""What readers see of the catalogue, on both engines: filters, orders, pages, one product."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event, text, update

from penstock.extract.product.images import FoundImage
from penstock.kernel.records import Availability
from penstock.products import corrections
from penstock.products.catalogue import Entry, write_entries
from penstock.products.catalogue_reading import (
    Filter,
    Place,
    Sort,
    get_product,
    images_of,
    list_products,
    place_of,
    price_history,
)
from penstock.products.sources import Visibility, set_visibility
from penstock.products.tables import source_products
from penstock.products.writing import write_offers
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound
from tests.stores import Stores
from tests.unit.products.entries import Site, open_site
from tests.unit.products.offers import HOUR, NOON

MANY = 6_000


@pytest.fixture
async def site(store: Store) -> Site:
    return await store.write(open_site)


async def write(store: Store, *entries: Entry) -> list[str]:
    """Write entries one by one, each some time after the last; the ids."""
    ids = []
    for entry in entries:
        (kept,) = await store.write(partial(write_entries, entries=[entry]))
        ids.append(kept.source_product_id)
    return ids


def run(unit: Unit, statement: Any) -> None:
    unit.run(statement)


async def set_times(store: Store, ids: list[str]) -> None:
    """Let products be made and changed at times of their own, the first first."""
    for number, each in enumerate(ids):
        times = {"created_at": NOON + number, "updated_at": NOON + 2 * HOUR - number}
        statement = update(source_products).where(source_products.c.id == each).values(times)
        await store.write(partial(run, statement=statement))


async def names(store: Store, **wanted: Any) -> list[str]:
    rows = await store.read(lambda unit: list_products(unit, Filter(**wanted)))
    return [row["product_name"] for row in rows]


# ── who is seen


async def test_only_products_of_eligible_sources_that_are_not_archived_are_seen(
    store: Store, site: Site
) -> None:
    secret = await store.write(partial(open_site, name="secret", shown=False))
    shown, hidden, old = await write(store, site.entry(), secret.entry("s"), site.entry("old"))
    archive = update(source_products).where(source_products.c.id == old).values(archived_at=NOON)
    await store.write(partial(run, statement=archive))
    monitored = site.shop.offer("monitored")
    (only_monitored,) = await store.write(lambda unit: write_offers(unit, [monitored]))

    assert await names(store) == ["Item 1"]
    assert (await store.read(lambda unit: get_product(unit, shown)))["domain_name"] == (
        "site.example"
    )
    for each in (hidden, old, only_monitored.source_product_id, "unknown"):
        for look in (get_product, price_history, images_of):
            with pytest.raises(NotFound):
                await store.read(partial(look, source_product_id=each))


async def test_what_becomes_ineligible_is_seen_no_more(store: Store, site: Site) -> None:
    await write(store, site.entry())
    hide = partial(set_visibility, visibility=Visibility.INELIGIBLE, who="ann")
    await store.write(lambda unit: hide(unit, site.shop.source_id))

    assert await names(store) == []


# ── filters


async def test_filters_choose_by_what_is_shown(store: Store, site: Site) -> None:
    other = await store.write(partial(open_site, name="other"))
    ids = await write(
        store,
        site.entry("a", price=1000, brand="Lumen", category="Lamps", rating=Decimal("4.5")),
        site.entry("b", price=2000, brand="Lumen", currency="EUR", rating=3),
        site.entry("c", price=3000, brand="Oak", availability=Availability.BACKORDER),
        other.entry("d", price=None, brand="Oak", availability=Availability.OUT_OF_STOCK),
    )
    await set_times(store, ids)
    found = partial(names, store, sort=Sort.NAME)

    assert await found(price_min=Decimal(20)) == ["Item b", "Item c"]
    assert await found(price_max=Decimal(20)) == ["Item a", "Item b"]
    assert await found(price_min=Decimal(15), price_max=Decimal(25), currency="USD") == []
    assert await found(price_max=Decimal("1e20"), currency="EUR") == ["Item b"]
    assert await found(price_min=Decimal("1e20")) == []
    assert await found(availability=["in_stock"]) == ["Item a", "Item b"]
    assert await found(availability=["backorder", "out_of_stock"]) == ["Item c", "Item d"]
    assert await found(brand=["Lumen"]) == ["Item a", "Item b"]
    assert await found(brand=["Lumen", "Oak"], category=["Lamps"]) == ["Item a"]
    assert await found(domain=["other.example"]) == ["Item d"]
    assert await found(domain=["nowhere.example"]) == []
    assert await found(rating_min=Decimal("3.5")) == ["Item a"]
    assert await found(created_since=NOON + 2) == ["Item c", "Item d"]
    assert await found(updated_since=NOON + 2 * HOUR - 1) == ["Item a", "Item b"]


# ── orders and pages


async def test_orders_have_those_without_the_value_last(store: Store, site: Site) -> None:
    ids = await write(
        store,
        site.entry("b", price=2000, rating=3),
        site.entry("a", price=1000, rating=5),
        site.entry("d", price=None, rating=4),
        site.entry("c", price=3000),
    )
    await set_times(store, ids)
    orders = {
        Sort.NEWEST: "cdab",
        Sort.UPDATED: "badc",
        Sort.PRICE_ASC: "abcd",
        Sort.PRICE_DESC: "cbad",
        Sort.RATING: "adbc",
        Sort.NAME: "abcd",
    }

    for sort, letters in orders.items():
        assert await names(store, sort=sort) == [f"Item {letter}" for letter in letters]


@pytest.mark.parametrize("sort", Sort)
async def test_pages_show_everything_once_whatever_is_alike(
    store: Store, site: Site, sort: Sort
) -> None:
    entries = [
        site.entry(
            str(number),
            name=f"Item {number % 4}",
            price=None if number % 5 == 0 else 1000 + number % 3,
            rating=None if number % 4 == 0 else number % 3,
        )
        for number in range(23)
    ]
    await store.write(lambda unit: write_entries(unit, entries))
    whole = await store.read(lambda unit: list_products(unit, Filter(sort=sort)))

    pages: list[str] = []
    after: Place | None = None
    for _ in range(30):
        wanted = Filter(sort=sort, after=after, limit=3)
        rows = await store.read(partial(list_products, wanted=wanted))
        pages += [row["id"] for row in rows]
        if len(rows) < 3:
            break
        after = place_of(rows[-1], sort)

    assert len(whole) == 23
    assert pages == [row["id"] for row in whole]


# ── one product


async def test_product_is_told_with_images_and_readers_words(store: Store, site: Site) -> None:
    images = [
        FoundImage("https://cdn.example/1.jpg", "Front", "primary"),
        FoundImage("https://cdn.example/2.jpg"),
    ]
    (each,) = await write(store, site.entry(images=images, description="Burns long."))

    row = await store.read(lambda unit: get_product(unit, each))

    assert (row["product_name"], row["description"]) == ("Item 1", "Burns long.")
    assert (row["price"], row["availability"]) == (Decimal("19.99"), "in_stock")
    assert row["metadata"]["confidence"] == {"name": 0.9}
    assert [image["image_url"] for image in row["images"]] == [image.url for image in images]
    assert await store.read(lambda unit: images_of(unit, each)) == row["images"]


async def test_unknown_availability_is_not_said(store: Store, site: Site) -> None:
    (each,) = await write(store, site.entry(availability=Availability.UNKNOWN))

    row = await store.read(lambda unit: get_product(unit, each))
    (seen,) = await store.read(lambda unit: price_history(unit, each))

    assert row["availability"] is seen["availability"] is None


async def test_price_history_is_corrected_and_of_a_time(store: Store, site: Site) -> None:
    for hour in range(4):
        at, run = NOON + hour * HOUR, f"run-{hour}"
        (each,) = await write(store, site.entry(price=1000 + hour, run=run, at=at))

    async def history(*between: Any) -> list[Decimal]:
        rows = await store.read(lambda unit: price_history(unit, each, *between))
        return [row["price"] for row in rows]

    whole = await store.read(lambda unit: price_history(unit, each))
    hide = partial(corrections.hide, price_id=whole[1]["price_id"], who="ann", why="misread")
    await store.write(hide)

    assert whole[0]["availability"] == "in_stock"
    assert await history() == [Decimal("10.00"), Decimal("10.02"), Decimal("10.03")]
    assert await history(NOON + HOUR, NOON + 3 * HOUR) == [Decimal("10.02")]
    assert await history(None, None, 1) == [Decimal("10.03")]


# ── plans


async def fill(store: Store, site: Site) -> None:
    """Many products, most of them with a price."""
    (kept,) = await store.write(partial(write_entries, entries=[site.entry()]))

    def work(unit: Unit) -> None:
        row = next(unit.rows(source_products.select()))
        computed = {"product_name", "sku"}
        plain = {name: value for name, value in row.items() if name not in computed}
        unit.insert_all(
            source_products,
            [
                plain
                | {
                    "id": f"{number:032}",
                    "identity_key": f"SKU:{number}",
                    "title": f"Item {number * 7919 % MANY}",
                    "price": None if number % 9 == 0 else Decimal(number % 997),
                    "rating": None if number % 3 == 0 else Decimal(number % 500) / 100,
                    "brand": f"Brand {number % 400}",
                    "category": f"Category {number % 300}",
                    "created_at": NOON + number * 31 % 10_007,
                    "updated_at": NOON + number * 37 % 10_009,
                }
                for number in range(MANY)
            ],
        )

    await store.write(work)
    assert kept.changed


async def plans_of(store: Store, wanted: Filter) -> list[str]:
    """How the statements that list products are carried out."""
    seen: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, *rest: Any) -> None:
        if "archived_at IS NULL" in statement:
            seen.append((statement, rest[0]))

    event.listen(store._dialect.reading, "before_cursor_execute", note)
    await store.read(lambda unit: list_products(unit, wanted))
    event.remove(store._dialect.reading, "before_cursor_execute", note)
    return [await store.read(partial(plan_of, seen=each)) for each in seen]


def plan_of(unit: Unit, seen: tuple[str, Any]) -> str:
    statement, values = seen
    explain = "EXPLAIN QUERY PLAN" if unit.engine == "sqlite" else "EXPLAIN"
    steps = unit.connection.exec_driver_sql(f"{explain} {statement}", values)
    return "\n".join(str(step[-1]) for step in steps)


@pytest.mark.parametrize("is_analyzed", [False, True])
async def test_every_order_is_read_from_its_index(
    stores: Stores, store: Store, site: Site, is_analyzed: bool
) -> None:
    await fill(store, site)
    if is_analyzed or stores.engine == "postgresql":
        await store.write(partial(run, statement=text("ANALYZE")))
    indexes = {
        Sort.NEWEST: ("idx_products_created_at", NOON + 5000),
        Sort.UPDATED: ("idx_products_updated_at", NOON + 5000),
        Sort.PRICE_ASC: ("idx_products_price", Decimal(500)),
        Sort.PRICE_DESC: ("idx_products_price", Decimal(500)),
        Sort.RATING: ("idx_products_rating", Decimal("2.50")),
        Sort.NAME: ("idx_products_product_name", "Item 3000"),
    }
    places = {Sort.PRICE_ASC: None, Sort.PRICE_DESC: None, Sort.RATING: None}
    for sort, (index, value) in indexes.items():
        first = Filter(sort=sort, limit=20)
        for wanted in (
            first,
            replace(first, after=(value, f"{500:032}")),
            *([replace(first, after=(None, f"{500:032}"))] if sort in places else ()),
        ):
            for plan in await plans_of(store, wanted):
                assert index in plan, (sort, plan)
                assert "Sort" not in plan, (sort, plan)
                assert "TEMP B-TREE" not in plan, (sort, plan)


async def test_few_products_of_many_are_found_by_an_index(
    stores: Stores, store: Store, site: Site
) -> None:
    await fill(store, site)
    await store.write(partial(run, statement=text("ANALYZE")))

    for wanted in (Filter(brand=["Brand 7"]), Filter(category=["Category 7"])):
        (plan,) = await plans_of(store, wanted)
        assert "Seq Scan on source_products" not in plan
        assert "SCAN source_products\n" not in f"{plan}\n"


@pytest.mark.parametrize("is_analyzed", [False, True])
async def test_what_most_products_have_does_not_lead_the_search(
    stores: Stores, store: Store, site: Site, is_analyzed: bool
) -> None:
    await fill(store, site)
    if is_analyzed or stores.engine == "postgresql":
        await store.write(partial(run, statement=text("ANALYZE")))

    for wanted in (
        Filter(availability=["in_stock"]),
        Filter(domain=["site.example"], rating_min=Decimal("0.1")),
        Filter(price_min=Decimal(1), updated_since=NOON),
    ):
        for plan in await plans_of(store, replace(wanted, limit=20)):
            assert "idx_products_created_at" in plan, (wanted, plan)
            assert "TEMP B-TREE" not in plan, (wanted, plan)
