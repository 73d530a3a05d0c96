"""A small cache of answers in front of any index, in the process."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from penstock.core.clock import Clock
from penstock.products.search.ports import Document, Found, Pages, Query, SearchIndex
from penstock.products.search.settings import SearchSettings


class _Kept(NamedTuple):
    """An answer, and until when it is given again."""

    found: Found
    until: float


class CachedSearch:
    """Gives answers again for a while; what this process puts or removes empties it."""

    def __init__(self, index: SearchIndex, settings: SearchSettings, clock: Clock) -> None:
        self._index = index
        self._seconds = settings.query_cache_seconds
        self._entries = settings.query_cache_entries
        self._clock = clock
        self._kept: OrderedDict[Query, _Kept] = OrderedDict()
        self._changes = 0

    async def prepare(self) -> None:
        await self._index.prepare()

    async def put(self, documents: Sequence[Document]) -> None:
        try:
            await self._index.put(documents)
        finally:
            self._empty()

    async def remove(self, ids: Sequence[str]) -> None:
        try:
            await self._index.remove(ids)
        finally:
            self._empty()

    async def search(self, query: Query) -> Found:
        kept = self._kept.get(query)
        if kept and self._clock.monotonic() < kept.until:
            self._kept.move_to_end(query)
            return kept.found
        changes = self._changes
        found = await self._index.search(query)
        if changes == self._changes:
            self._keep(query, found)
        return found

    async def rebuild(self, pages: Pages) -> int:
        try:
            return await self._index.rebuild(pages)
        finally:
            self._empty()

    async def ids(self, after: str, limit: int) -> list[str]:
        return await self._index.ids(after, limit)

    async def count(self) -> int:
        return await self._index.count()

    def _keep(self, query: Query, found: Found) -> None:
        if not self._seconds:
            return
        self._kept[query] = _Kept(found, self._clock.monotonic() + self._seconds)
        self._kept.move_to_end(query)
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)

    def _empty(self) -> None:
        # What was being looked up meanwhile may be of before: it is not kept either.
        self._changes += 1
        self._kept.clear()
