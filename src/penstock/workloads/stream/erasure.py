"""Erasing a page from what the page fetcher keeps in the store."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from penstock.cache.ports import PageCache
from penstock.events.erasure import censor_events
from penstock.queue.erasure import SamePage, erase_items, items_of_page
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.stream.model import NAME

AT_ONCE = 500


async def erase_page(store: Store, cache: PageCache, url: str, topic: str) -> Counter[str]:
    """Erase a page in all spellings of its URL: items, events and cached bodies."""
    is_wanted, keys = SamePage(url), set[str]()
    erased: Counter[str] = Counter()

    def censor(key: str, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
        del key
        if not is_wanted(data.get("url")):
            return data
        keys.add(str(data.get("cache_key")))
        return None

    ids = await items_of_page(store, NAME, is_wanted)
    for start in range(0, len(ids), AT_ONCE):

        def erase(unit: Unit, some: list[str] = ids[start : start + AT_ONCE]) -> int:
            return erase_items(unit, some)

        erased["items"] += await store.write(erase, "settle")
    erased["events"] += await censor_events(store, [topic], censor)
    erased["pages"] += await cache.erase(sorted(keys))
    return erased
