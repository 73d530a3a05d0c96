"""Live pages on a store alone: paces that others learnt, and whether anybody watches."""

import pytest

from penstock.app.live_service import TAKE_SECONDS, is_taken, service_on
from penstock.queue.heartbeat import Heartbeat, Pulse
from penstock.queue.sql import SqlQueue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.web.errors import InvalidRequest
from penstock.workloads.live.model import Feed
from tests.clocks import HandClock
from tests.live_rows import LiveRows

URL = "https://live.example/match"
FEED = Feed("m", URL, "selectors", {"select": {"runs": [".runs"]}})


async def somebody(store: Store, kind: str = "worker") -> Heartbeat:
    """A process that works from the store."""
    heartbeat = Heartbeat(
        store, SqlQueue(store, {}), HandClock(), kind=kind, lanes=[], pulse=Pulse()
    )
    await heartbeat.register()
    return heartbeat


async def test_a_feed_is_not_taken_where_nobody_works(store: Store) -> None:
    clock = HandClock()
    await LiveRows(store).put()
    await somebody(store, "scheduler")

    assert await is_taken(Settings(), store, "m", clock) is None
    assert clock.slept == []


async def test_a_feed_is_taken_once_a_process_has_claimed_it(store: Store) -> None:
    rows = LiveRows(store)
    await rows.put()
    worker = await somebody(store)
    await rows.claim(worker.id)

    assert await is_taken(Settings(), store, "m", HandClock()) is True


async def test_a_feed_that_nobody_takes_is_waited_for_a_while(store: Store) -> None:
    clock = HandClock()
    await LiveRows(store).put()
    await somebody(store)

    assert await is_taken(Settings(), store, "m", clock) is False
    assert sum(clock.slept) == pytest.approx(TAKE_SECONDS)


async def test_two_feeds_share_the_pace_of_their_domain(store: Store) -> None:
    live = await service_on(Settings(), store)
    await live.start(FEED)

    with pytest.raises(InvalidRequest, match=r"other feeds use it already \(m\)"):
        await live.start(Feed("n", f"{URL}/2", FEED.adapter, FEED.options))
    assert [row["match_id"] for row in await live.list_feeds()] == ["m"]
