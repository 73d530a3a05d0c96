"""The page cache in the store; bodies end by the store's clock."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from sqlalchemy import delete, select

from penstock.cache.ports import CachedPage, LookedUp, nobody
from penstock.cache.tables import page_cache
from penstock.store.schema import storable
from penstock.store.store import Store
from penstock.store.unit import Unit

#: So many are forgotten or erased in one transaction.
AT_ONCE = 1000


class SqlCache:
    """Bodies are rows, and can be written with whatever else belongs to a page."""

    def __init__(self, store: Store, looked_up: LookedUp = nobody) -> None:
        self._store = store
        self._looked_up = looked_up

    async def put(self, key: str, body: bytes, seconds: float) -> None:
        page = CachedPage(key, body)
        await self._store.write(lambda unit: self.put_in(unit, [page], seconds))

    def put_in(self, unit: Unit, pages: Sequence[CachedPage], seconds: float) -> None:
        """Keep bodies for so long, in a transaction that is open."""
        if not pages:
            return
        expires_at = unit.now + round(seconds * 1000)
        insert = unit.insert(page_cache)
        newer = {name: insert.excluded[name] for name in ("body", "expires_at")}
        rows = [
            {"key": page.key, "body": page.body, "expires_at": expires_at}
            # Always in the same order: then no two transactions wait for each other.
            for page in sorted(pages, key=attrgetter("key"))
        ]
        unit.run(insert.on_conflict_do_update(index_elements=["key"], set_=newer), rows)

    async def get(self, key: str) -> bytes | None:
        body = await self._store.read(lambda unit: _get(unit, key))
        self._looked_up(body is not None)
        return body

    async def forget_expired(self, limit: int = AT_ONCE) -> int:
        """Delete bodies whose time is over, at most so many; how many."""
        return await self._store.write(lambda unit: _forget_expired(unit, limit), "upkeep")

    async def kept(self, keys: Sequence[str]) -> set[str]:
        return await self._store.read(partial(_kept, keys=keys)) if keys else set()

    async def erase(self, keys: Sequence[str]) -> int:
        number = 0
        for first in range(0, len(keys), AT_ONCE):
            some = [storable(key) for key in keys[first : first + AT_ONCE]]
            number += await self._store.write(partial(_erase, keys=some), "upkeep")
        return number


def _get(unit: Unit, key: str) -> bytes | None:
    query = select(page_cache.c.body).where(
        page_cache.c.key == key, page_cache.c.expires_at > unit.now
    )
    body: bytes | None = unit.run(query).scalar()
    return body


def _kept(unit: Unit, keys: Sequence[str]) -> set[str]:
    is_kept = unit.among(page_cache.c.key, keys), page_cache.c.expires_at > unit.now
    return set(unit.run(select(page_cache.c.key).where(*is_kept)).scalars())


def _forget_expired(unit: Unit, limit: int) -> int:
    expired = select(page_cache.c.key).where(page_cache.c.expires_at <= unit.now)
    chosen = expired.order_by(page_cache.c.expires_at).limit(limit)
    return unit.run(delete(page_cache).where(page_cache.c.key.in_(chosen))).rowcount


def _erase(unit: Unit, keys: Sequence[str]) -> int:
    return unit.run(delete(page_cache).where(unit.among(page_cache.c.key, keys))).rowcount
