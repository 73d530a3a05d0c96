"""Consumers get the last that is known of a feed, how old it is, and every update in order."""

from functools import partial
from typing import Any

import pytest

from penstock.store.store import Store
from penstock.workloads.live import feeds
from penstock.workloads.live.reading import history, latest, updates_after
from tests.live_rows import LiveRows, look, scraper, update


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


async def numbers(rows: LiveRows, read: Any, **wanted: Any) -> list[int]:
    found = await rows.do(partial(read, match_id="m", **wanted))
    return [row["sequence"] for row in found]


async def test_of_a_feed_without_updates_there_is_no_latest(rows: LiveRows) -> None:
    await rows.watch()

    assert await rows.do(lambda unit: latest(unit, "m")) is None
    assert await rows.do(lambda unit: latest(unit, "unheard of")) is None


async def test_the_latest_says_what_how_old_and_whether_somebody_watches(rows: LiveRows) -> None:
    await rows.watch()
    now = await rows.now()
    await rows.write(update(1, scraped_at=now - 90_000), update(2, scraped_at=now - 60_000))
    before = await rows.do(lambda unit: latest(unit, "m"))
    await rows.note(look(at=now - 30_000))

    row = await rows.do(lambda unit: latest(unit, "m"))

    assert before is not None
    assert row is not None
    assert (row["sequence"], row["payload"], row["scraper_id"]) == (2, {"score": 2}, scraper(1))
    assert (row["status"], row["scraper_status"]) == ("watching", "active")
    assert 60 <= before["data_age_seconds"] < 90
    assert 30 <= row["data_age_seconds"] < 60, "a look that brought nothing new counts"


async def test_the_latest_is_there_when_nobody_watches(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(update(1))
    await rows.do(lambda unit: feeds.complete_feed(unit, "m", scraper(1), "over"))

    row = await rows.do(lambda unit: latest(unit, "m"))

    assert row is not None
    assert (row["status"], row["scraper_status"], row["reason"]) == ("completed", "stopped", "over")
    assert (row["source_url"], row["payload"]) == (update(1).source_url, {"score": 1})


async def test_data_of_a_clock_that_is_ahead_is_not_younger_than_now(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(update(1, scraped_at=await rows.now() + 3_600_000))

    row = await rows.do(lambda unit: latest(unit, "m"))

    assert row is not None
    assert row["data_age_seconds"] == 0


async def test_updates_are_read_on_from_a_number(rows: LiveRows) -> None:
    await rows.watch("n")
    await rows.watch()
    await rows.write(*(update(n) for n in (1, 2, 4, 5)), update(3, "n"))

    assert await numbers(rows, updates_after, after=0) == [1, 2, 4, 5]
    assert await numbers(rows, updates_after, after=2, limit=1) == [4]
    assert await numbers(rows, updates_after, after=5) == []


async def test_history_goes_back_from_a_number(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(*(update(n) for n in (1, 2, 4, 5)))

    assert await numbers(rows, history) == [5, 4, 2, 1]
    assert await numbers(rows, history, before=4, limit=1) == [2]
    assert await numbers(rows, history, before=1) == []
