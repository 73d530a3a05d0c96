"""Erasing everything that durable fetching keeps of a page."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select

from penstock.events.erasure import censor_events
from penstock.queue.erasure import IsWanted, SamePage, erase_items, every_row, items_of_page
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.fetch.lane import NAME, TOPIC
from penstock.workloads.fetch.tables import outcomes

AT_ONCE = 1000


async def erase_page(store: Store, url: str) -> tuple[Counter[str], set[str]]:
    """Erase a page in all spellings of its URL; how much of what, and the blobs it had."""
    is_wanted = SamePage(url)
    erased: Counter[str] = Counter()
    found = await _outcomes_of(store, is_wanted)
    ids = list(dict.fromkeys([*found, *await items_of_page(store, NAME, is_wanted)]))
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]

        def erase(unit: Unit, some: list[str] = some) -> Counter[str]:
            gone = delete(outcomes).where(unit.among(outcomes.c.item_id, some))
            items = erase_items(unit, some)
            return Counter(items=items, outcomes=unit.run(gone).rowcount)

        erased += await store.write(erase, "settle")

    def censor(key: str, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
        del key
        return None if is_wanted(data.get("url")) else data

    erased["events"] += await censor_events(store, [TOPIC], censor)
    return erased, {address for address in found.values() if address}


async def _outcomes_of(store: Store, is_wanted: IsWanted) -> dict[str, str | None]:
    """The outcomes for a page, with the addresses of their bodies; looks at all of them."""
    query = select(outcomes.c.item_id, outcomes.c.url, outcomes.c.body)
    return {
        row.item_id: row.body
        async for row in every_row(store, query, outcomes.c.item_id)
        if is_wanted(row.url)
    }
