"""What keeps an index current: the catalogue's products, told of by events, or all of them again.

Consumers find a product if its source is ELIGIBLE and it is not archived; what is not so is removed
from the index. The store is asked anew for each event, so it does not matter which one comes last.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Select, func, select

from penstock.core.log import get_logger
from penstock.events.log import EventLog
from penstock.events.ports import Event, Message
from penstock.products.search.ports import Document, SearchIndex
from penstock.products.sources import Visibility
from penstock.products.tables import domains, source_products, sources
from penstock.products.topics import PRODUCT_CHANGED, SOURCE_CHANGED
from penstock.store.store import Store
from penstock.store.unit import Unit

TOPICS = (PRODUCT_CHANGED, SOURCE_CHANGED)
AT_ONCE = 500

#: Is told how many documents more have been read.
Progress = Callable[[int], None]


class SearchSubscription:
    """What the index is told of; whoever writes events need not have an index for it."""

    name = "search"

    def wants(self, topic: str) -> bool:
        return topic in TOPICS

    def line_of(self, message: Message) -> str | None:
        return message.key


class SearchFeed(SearchSubscription):
    """The sink that puts changed products into an index and removes what is not to be found.

    Events come one product at a time, many of them at once: all that come together go together.
    """

    def __init__(self, store: Store, index: SearchIndex) -> None:
        self._store = store
        self._index = index
        self._gathered: set[str] = set()
        self._feeding: asyncio.Task[None] | None = None

    async def deliver(self, events: Sequence[Event]) -> None:
        """Let the index have what these products and sources are now."""
        for source_id in _keys(events, SOURCE_CHANGED):
            await feed_source(self._store, self._index, source_id)
        if ids := _keys(events, PRODUCT_CHANGED):
            await self._feed_together(ids)

    async def _feed_together(self, ids: set[str]) -> None:
        self._gathered |= ids
        if self._feeding is None:
            self._feeding = asyncio.create_task(self._feed_gathered())
        # Others wait for the same: one that gives up leaves it to them.
        await asyncio.shield(self._feeding)

    async def _feed_gathered(self) -> None:
        await asyncio.sleep(0)  # whoever else is about to deliver comes first
        ids, self._gathered, self._feeding = self._gathered, set(), None
        await feed(self._store, self._index, sorted(ids))


async def feed(store: Store, index: SearchIndex, ids: Sequence[str]) -> None:
    """Let the index have what these source products are now."""
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        found = await store.read(partial(_load, ids=some))
        kept = {document.product_id for document in found}
        await index.put(found)
        await index.remove([each for each in some if each not in kept])


async def feed_source(store: Store, index: SearchIndex, source_id: str) -> None:
    """Let the index have what all products of a source are now."""
    async for ids in _of_source(store, source_id):
        await feed(store, index, ids)


async def reindex(store: Store, index: SearchIndex, progress: Progress) -> int:
    """Build the index anew from the store, without a gap; how many documents it took.

    What changes meanwhile is read once more before the new index is used, and again after that,
    when also what is gone can be removed.
    """
    begun = await EventLog(store).last()
    number = await index.rebuild(_all_pages(store, begun, progress))
    caught_up = 0
    async for ids in _changed(store, begun):
        await feed(store, index, ids)
        caught_up += len(ids)
    get_logger().info("index rebuilt", documents=number, changed_meanwhile=caught_up)
    return number


def documents(unit: Unit, after: str = "", limit: int = AT_ONCE) -> list[Document]:
    """Everything that is to be found, behind an id and in order, so many at once."""
    query = _findable().where(source_products.c.id > after)
    rows = unit.rows(query.order_by(source_products.c.id).limit(limit))
    return [_document(row) for row in rows]


def count_documents(unit: Unit) -> int:
    """How many products are to be found."""
    query = _findable().with_only_columns(func.count())
    return int(unit.run(query).scalar_one())


async def _all_pages(
    store: Store, begun: int, progress: Progress
) -> AsyncIterator[Sequence[Document]]:
    after = ""
    while page := await store.read(partial(documents, after=after)):
        yield page
        progress(len(page))
        after = page[-1].product_id
    async for ids in _changed(store, begun):
        yield await store.read(partial(_load, ids=ids))


async def _changed(store: Store, begun: int) -> AsyncIterator[Sequence[str]]:
    """The products of which there was an event behind a place in the log."""
    log = EventLog(store)
    while events := await log.read(begun, AT_ONCE, TOPICS):
        begun = events[-1].seq
        yield sorted(_keys(events, PRODUCT_CHANGED))
        for source_id in _keys(events, SOURCE_CHANGED):
            async for ids in _of_source(store, source_id):
                yield ids


async def _of_source(store: Store, source_id: str) -> AsyncIterator[Sequence[str]]:
    after = ""
    while ids := await store.read(partial(_ids_of, source_id=source_id, after=after)):
        yield ids
        after = ids[-1]


def _keys(events: Iterable[Event], topic: str) -> set[str]:
    return {event.message.key for event in events if event.message.topic == topic}


def _load(unit: Unit, ids: Sequence[str]) -> list[Document]:
    query = _findable().where(unit.among(source_products.c.id, ids))
    return [_document(row) for row in unit.rows(query)]


def _ids_of(unit: Unit, source_id: str, after: str) -> list[str]:
    """Products of the catalogue that a source has, whether they are to be found or not."""
    its = select(domains.c.id).where(domains.c.source_id == source_id).scalar_subquery()
    behind = source_products.c.domain_id == its, source_products.c.id > after
    query = select(source_products.c.id).where(*behind).order_by(source_products.c.id)
    return list(unit.run(query.limit(AT_ONCE)).scalars())


def _findable() -> Select[Any]:
    products = source_products.c
    columns = (
        *(products.id, products.title, products.url, products.created_at, products.updated_at),
        *(products.description, products.brand, products.category, products.price),
        *(products.currency, products.availability, products.rating, products.image_url),
    )
    joined = source_products.join(domains, domains.c.id == products.domain_id).join(
        sources, sources.c.id == products.source_id
    )
    eligible = sources.c.visibility_status == Visibility.ELIGIBLE
    query = select(*columns, domains.c.domain_name).select_from(joined)
    return query.where(eligible, products.archived_at.is_(None))


def _document(row: dict[str, Any]) -> Document:
    facts = {name: value for name, value in row.items() if name not in ("id", "title")}
    return Document(product_id=row["id"], product_name=row["title"], **facts)
