"""Gauges of live pages: how many feeds the store knows, in each status."""

from penstock.core.metrics import Metrics
from penstock.store.store import Store
from penstock.workloads.live import feeds
from penstock.workloads.live.metrics import LiveGauges
from penstock.workloads.live.model import FeedStatus
from tests.live_rows import LiveRows
from tests.unit.core.test_metrics import Readings


async def read(store: Store) -> str:
    metrics = Metrics()
    await LiveGauges(metrics, store).look()
    return metrics.text()


async def test_every_status_is_told_of_an_empty_store(store: Store) -> None:
    text = await read(store)

    for status in FeedStatus:
        assert f'\nscraper_feeds{{status="{status}"}} 0.0' in text


async def test_feeds_are_counted_by_their_status(store: Store) -> None:
    rows = LiveRows(store)
    for match_id in ("m1", "m2"):
        await rows.watch(match_id)
    for match_id in ("m3", "m4", "m5", "m6"):
        await rows.put(match_id)
    await rows.do(lambda unit: feeds.stop_feed(unit, "m3", "no more"))

    found = Readings(await read(store))

    assert found.value("scraper_feeds", status="watching") == 2
    assert found.value("scraper_feeds", status="waiting") == 3
    assert found.value("scraper_feeds", status="stopped") == 1
    assert found.value("scraper_feeds") == 6
