"""The index follows the store: what consumers may see is found, and nothing else."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import update

from penstock.core.ids import new_id
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.events.relay import Relay
from penstock.products.search import feeding
from penstock.products.search.feeding import SearchFeed, count_documents, documents, reindex
from penstock.products.search.ports import Document, Filters, Query, SearchLost
from penstock.products.search.sql import SqlSearch
from penstock.products.sources import Visibility, set_visibility
from penstock.products.tables import domains, source_products
from penstock.products.topics import PRODUCT_CHANGED, SOURCE_CHANGED
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.searches import find, ids_of
from tests.unit.products.offers import NOON, Shop, open_shop, show


class Noting(SqlSearch):
    """Search in the store that notes how often it was given something, and can be away."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.puts: list[int] = []
        self.is_away = False

    async def put(self, documents: Sequence[Document]) -> None:
        if self.is_away:
            raise SearchLost("the search server does not answer")
        self.puts.append(len(documents))
        await super().put(documents)


@dataclass
class Catalogue:
    """A shop of the catalogue, an index, and the way from the one to the other."""

    store: Store
    shop: Shop
    index: Noting

    def __post_init__(self) -> None:
        self.sink = SearchFeed(self.store, self.index)
        self.log = EventLog(self.store, [self.sink])
        self.relay = Relay(self.store, self.sink, max_attempts=3, chance=random.Random(1))

    async def keep(self, *ids: str, **facts: Any) -> None:
        """Keep products and say that they changed."""
        rows = [product(self.shop, each, **facts) for each in ids]
        await self.store.write(lambda unit: unit.insert_all(source_products, rows, _replace))
        await self.tell(PRODUCT_CHANGED, *ids)

    async def tell(self, topic: str, *keys: str) -> None:
        messages = [Message(new_id(), topic, key, {}) for key in keys]
        await self.store.write(lambda unit: self.log.append(unit, messages))

    async def change(self, product_id: str, **values: Any) -> None:
        statement = update(source_products).where(source_products.c.id == product_id)
        await self.store.write(lambda unit: unit.run(statement.values(values)) and None)
        await self.tell(PRODUCT_CHANGED, product_id)

    async def set_visibility(self, visibility: Visibility) -> None:
        await self.store.write(
            lambda unit: set_visibility(unit, self.shop.source_id, visibility, who="ann")
        )
        await self.tell(SOURCE_CHANGED, self.shop.source_id)


def _replace(insert: Any) -> Any:
    return insert.on_conflict_do_nothing()


def product(shop: Shop, product_id: str, **facts: Any) -> dict[str, Any]:
    return {
        "id": product_id,
        "source_id": shop.source_id,
        "identity_key": f"PID:{product_id}",
        "url": f"https://shop.example/{product_id}",
        "title": "Desk lamp",
        "brand": "Acme",
        "category": "Light",
        "description": "Lights a desk",
        "price": Decimal("19.99"),
        "currency": "USD",
        "availability": "IN_STOCK",
        "rating": Decimal("4.50"),
        "image_url": None,
        "adapter_version": "1.0.0",
        "created_at": NOON,
        "updated_at": NOON,
        "domain_id": f"domain of {shop.source_id}",
        "archived_at": None,
        **facts,
    }


def crawl(unit: Unit, shop: Shop, name: str = "shop.example") -> None:
    """Let the catalogue crawl a shop."""
    row = {
        "id": f"domain of {shop.source_id}",
        "source_id": shop.source_id,
        "domain_name": name,
        "base_url": f"https://{name}",
        "created_at": NOON,
        "updated_at": NOON,
    }
    unit.run(domains.insert().values(row))


@pytest.fixture
async def catalogue(store: Store) -> Catalogue:
    def open_one(unit: Unit) -> Shop:
        shop = open_shop(unit)
        crawl(unit, shop)
        show(unit, shop)
        return shop

    return Catalogue(store, await store.write(open_one), Noting(store))


async def test_a_product_that_changed_is_found(catalogue: Catalogue) -> None:
    await catalogue.keep("a")
    await catalogue.relay.deliver_due()

    filters = Filters(
        *(Decimal("19.99"), Decimal("19.99"), "USD", ("IN_STOCK",), ("Acme",), ("Light",)),
        *(("shop.example",), Decimal("4.5")),
    )
    assert ids_of(await catalogue.index.search(Query("lamp desks", filters))) == ["a"]


async def test_a_change_replaces_what_was_found(catalogue: Catalogue) -> None:
    await catalogue.keep("a")
    await catalogue.change("a", title="Chair", description=None)
    await catalogue.relay.deliver_due()

    assert await find(catalogue.index, "chair") == ["a"]
    assert await find(catalogue.index, "lamp") == []


async def test_what_is_archived_is_not_found_until_it_is_back(catalogue: Catalogue) -> None:
    await catalogue.keep("a", "b")
    await catalogue.change("a", archived_at=NOON)
    await catalogue.relay.deliver_due()
    assert await find(catalogue.index) == ["b"]

    await catalogue.change("a", archived_at=None)
    await catalogue.relay.deliver_due()
    assert sorted(await find(catalogue.index)) == ["a", "b"]


async def test_what_only_the_monitor_knows_is_not_found(catalogue: Catalogue) -> None:
    await catalogue.keep("a", domain_id=None)
    await catalogue.keep("b")
    await catalogue.relay.deliver_due()

    assert await find(catalogue.index) == ["b"]


async def test_products_come_and_go_with_the_visibility_of_their_source(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "AT_ONCE", 2)
    await catalogue.keep(*"abcde")
    await catalogue.set_visibility(Visibility.INELIGIBLE)
    await catalogue.relay.deliver_due()
    assert await find(catalogue.index) == []

    await catalogue.set_visibility(Visibility.ELIGIBLE)
    await catalogue.relay.deliver_due()
    assert sorted(await find(catalogue.index)) == list("abcde")


async def test_what_is_gone_from_the_store_is_removed(catalogue: Catalogue) -> None:
    await catalogue.keep("a")
    await catalogue.relay.deliver_due()
    gone = source_products.delete().where(source_products.c.id == "a")
    await catalogue.store.write(lambda unit: unit.run(gone) and None)
    await catalogue.tell(PRODUCT_CHANGED, "a", "unheard of")
    await catalogue.relay.deliver_due()

    assert await catalogue.index.count() == 0


async def test_many_that_change_at_once_are_put_together(catalogue: Catalogue) -> None:
    await catalogue.keep(*(f"{each:02}" for each in range(40)))

    assert await catalogue.relay.deliver_due() == 40
    assert catalogue.index.puts == [40]


async def test_what_cannot_be_put_is_tried_again(catalogue: Catalogue) -> None:
    catalogue.index.is_away = True
    await catalogue.keep("a", "b")
    assert await catalogue.relay.deliver_due() == 0

    catalogue.index.is_away = False
    await reindex(catalogue.store, catalogue.index, lambda _number: None)

    assert sorted(await find(catalogue.index)) == ["a", "b"]


def test_other_topics_are_not_for_the_index(catalogue: Catalogue) -> None:
    assert not catalogue.sink.wants("price.alert")
    assert catalogue.sink.line_of(Message("i", PRODUCT_CHANGED, "a", {})) == "a"


# ── all of it


async def test_documents_are_walked_in_order(catalogue: Catalogue) -> None:
    await catalogue.keep(*"abcd")
    await catalogue.keep("e", archived_at=NOON)
    read = catalogue.store.read

    first = await read(lambda unit: documents(unit, limit=3))

    assert [each.product_id for each in first] == ["a", "b", "c"]
    assert [each.product_id for each in await read(lambda unit: documents(unit, "c"))] == ["d"]
    assert await read(count_documents) == 4
    assert first[0] == Document(
        product_id="a",
        product_name="Desk lamp",
        domain_name="shop.example",
        url="https://shop.example/a",
        created_at=NOON,
        updated_at=NOON,
        description="Lights a desk",
        brand="Acme",
        category="Light",
        price=Decimal("19.99"),
        currency="USD",
        availability="IN_STOCK",
        rating=Decimal("4.50"),
    )


async def test_reindexing_makes_the_index_what_the_store_is(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "AT_ONCE", 2)
    await catalogue.keep("old")
    await catalogue.relay.deliver_due()
    gone = source_products.delete().where(source_products.c.id == "old")
    await catalogue.store.write(lambda unit: unit.run(gone) and None)
    await catalogue.keep(*"abcde")
    told: list[int] = []

    assert await reindex(catalogue.store, catalogue.index, told.append) == 5
    assert sum(told) == 5
    assert sorted(await find(catalogue.index)) == list("abcde")


async def test_what_changes_while_it_is_reindexed_is_not_missed(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    await catalogue.keep(*"abc")
    monkeypatch.setattr(feeding, "AT_ONCE", 2)
    whole = catalogue.index.rebuild

    async def disturbed(pages: AsyncIterator[Sequence[Document]]) -> int:
        async def with_changes() -> AsyncIterator[Sequence[Document]]:
            yield await anext(pages)
            await catalogue.change("a", title="Chair")
            await catalogue.change("b", archived_at=NOON)
            await catalogue.keep("0")
            async for page in pages:
                yield page

        number = await whole(with_changes())
        assert sorted(await find(catalogue.index)) == ["0", "a", "b", "c"]
        await catalogue.change("c", title="Table")
        return number

    monkeypatch.setattr(catalogue.index, "rebuild", disturbed)
    await reindex(catalogue.store, catalogue.index, lambda _number: None)

    assert sorted(await find(catalogue.index)) == ["0", "a", "c"]
    assert await find(catalogue.index, "chair") == ["a"]
    assert await find(catalogue.index, "table") == ["c"]


async def test_one_that_gives_up_waiting_takes_nothing_from_the_others(
    catalogue: Catalogue,
) -> None:
    await catalogue.keep("a", "b")
    first, second = await catalogue.log.read()

    hasty = asyncio.create_task(catalogue.sink.deliver([first]))
    patient = asyncio.create_task(catalogue.sink.deliver([second]))
    await asyncio.sleep(0)
    hasty.cancel()
    await patient

    assert sorted(await find(catalogue.index)) == ["a", "b"]
