"""The end of the page fetcher's event log in the store, and whether bodies are still kept."""

from collections.abc import Sequence

from sqlalchemy import select

from penstock.cache.tables import page_cache
from penstock.events.log import as_event
from penstock.events.ports import Event
from penstock.events.tables import events
from penstock.store.store import Store


async def last_events(store: Store, topic: str, number: int) -> list[Event]:
    """The last events of a topic, oldest first."""
    query = select(events).where(events.c.topic == topic)
    query = query.order_by(events.c.seq.desc()).limit(number)
    found = await store.read(lambda unit: [as_event(row) for row in unit.run(query).mappings()])
    return found[::-1]


async def kept_bodies(store: Store, keys: Sequence[str]) -> set[str]:
    """Those of some keys under which there still is a body."""
    if not keys:
        return set()
    return await store.read(
        lambda unit: set(
            unit.run(
                select(page_cache.c.key).where(
                    unit.among(page_cache.c.key, keys), page_cache.c.expires_at > unit.now
                )
            ).scalars()
        )
    )
