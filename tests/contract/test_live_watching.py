"""Feeds are claimed, watched, restarted, put off and let go: scripted looks on a real store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import StoreLost
from penstock.kernel.model import Refused
from penstock.store.store import Store
from penstock.workloads.live import feeds
from penstock.workloads.live.model import FeedStatus, ScraperStatus
from penstock.workloads.live.reading import updates_after
from penstock.workloads.live.tables import Row
from penstock.workloads.live.troubles import list_errors
from tests.live import REFUSED_CONNECTION, UNREADABLE, page
from tests.live_rooms import FullJournal, room
from tests.live_rows import LiveRows
from tests.stores import Stores


def has(**values: Any) -> Callable[[Row], bool]:
    return lambda row: all(row[name] == value for name, value in values.items())


async def scores(rows: LiveRows, match_id: str = "m") -> list[tuple[int, Any]]:
    found = await rows.do(lambda unit: updates_after(unit, match_id, 0))
    return [(row["sequence"], row["payload"].get("score")) for row in found]


async def test_a_wanted_feed_is_watched_to_its_end(store: Store, tmp_path: Path) -> None:
    shows = [page(score=1), page(score=1), page(score=2), page("ended", score=3)]
    async with room(store, tmp_path, shows={"m": [*shows, page("ended", score=3)]}) as here:
        await here.rows.put(adapter="scripted")
        row = await here.until(has(status=FeedStatus.COMPLETED))

    assert (row["wanted"], row["worker"], row["scraper_status"]) == (
        False,
        None,
        ScraperStatus.STOPPED,
    )
    assert row["reason"] == "the page says that it has ended"
    assert await scores(here.rows) == [(1, 1), (2, 2), (3, 3)]


async def test_a_feed_that_is_no_longer_wanted_is_left_after_its_cycle(
    store: Store, tmp_path: Path
) -> None:
    async with room(store, tmp_path, shows={"m": [page(score=1)]}) as here:
        await here.rows.put(adapter="scripted")
        await here.until(has(last_sequence=1))
        await here.rows.do(lambda unit: feeds.stop_feed(unit, "m", "enough"))
        here.supervision.nudge()
        row = await here.until(lambda _row: not here.supervision.watchers)

    assert (row["status"], row["reason"]) == (FeedStatus.STOPPED, "enough")
    assert here.ways["m"][0].is_closed


async def test_a_scraper_that_breaks_is_followed_by_another(store: Store, tmp_path: Path) -> None:
    async with room(store, tmp_path, shows={"m": [page(score=1), page(score=2)]}) as here:
        here.breaks["m"] = RuntimeError("a fault of our own")
        await here.rows.put(adapter="scripted")
        row = await here.until(has(last_sequence=2))

    assert here.restarts == ["crash"]
    assert row["restarts"] == 1
    assert [way.is_closed for way in here.ways["m"]] == [True, True]


async def test_too_many_restarts_put_a_feed_off_and_alarm(store: Store, tmp_path: Path) -> None:
    shows = {"m": [REFUSED_CONNECTION] * 100}
    async with room(
        store, tmp_path, shows=shows, max_restarts_per_hour=2, circuit_breaker_threshold=99
    ) as here:
        await here.rows.put(adapter="scripted")
        row = await here.until(has(status=FeedStatus.FAILED))
        (alert,) = await here.alerts()

    assert (row["wanted"], row["worker"]) == (True, None)
    assert row["retry_at"] > await here.rows.now() + 3_500_000
    assert (alert["kind"], alert["subject"], alert["severity"]) == (
        "live_restart_ceiling",
        "m",
        "P1",
    )
    assert here.restarts == ["errors"] * 3


async def test_what_robots_forbid_is_refused(store: Store, tmp_path: Path) -> None:
    refusal = Refused("robots_denied", "Disallow: /match", gate="robots")
    async with room(store, tmp_path, shows={"m": [refusal]}) as here:
        await here.rows.put(adapter="scripted")
        row = await here.until(has(status=FeedStatus.REFUSED))

    assert row["wanted"] is False
    assert "Disallow: /match" in row["reason"]


async def test_a_feed_without_an_adapter_is_refused(store: Store, tmp_path: Path) -> None:
    async with room(store, tmp_path) as here:
        await here.rows.put(adapter="unheard-of")
        row = await here.until(has(status=FeedStatus.REFUSED))

    assert "PENSTOCK_LIVE__ADAPTERS" in row["reason"]


async def test_while_memory_is_short_a_feed_waits_and_is_tried_again(
    stores: Stores, store: Store, tmp_path: Path
) -> None:
    async with room(store, tmp_path, shows={"m": [page(score=1)]}) as here:
        here.free = 100 * 1024**2
        await here.rows.put(adapter="scripted")
        row = await here.until(lambda row: row["reason"] is not None)
        assert row["status"] == FeedStatus.WAITING
        assert "100 MB are left" in row["reason"]
        assert here.ways == {}

        here.free *= 100
        await here.rows.do(lambda unit: feeds.renew_feed(unit, "m"))
        await here.until(has(last_sequence=1, reason=None))


async def test_updates_that_can_be_kept_nowhere_stop_the_feed(
    in_sqlite: Stores, tmp_path: Path
) -> None:
    store = await in_sqlite.open()
    async with room(store, tmp_path, shows={"m": [page(score=1)] * 9}, journal=FullJournal) as here:
        await here.rows.put(adapter="scripted")
        here.buffer.store_is_away = True
        row = await here.until(has(status=FeedStatus.FAILED))
        (alert,) = await here.alerts()

    assert "no room" in row["reason"]
    assert alert["kind"] == "live_journal"


async def test_a_changed_feed_is_read_by_a_new_scraper(store: Store, tmp_path: Path) -> None:
    async with room(store, tmp_path, shows={"m": [page(score=1)] * 2}) as here:
        await here.rows.put(adapter="scripted")
        first = await here.until(has(last_sequence=1))
        await here.rows.put(adapter="scripted", interval=9.0)
        row = await here.until(lambda row: row["scraper_id"] not in (None, first["scraper_id"]))

        assert here.supervision.watchers["m"].feed.interval == 9.0
    assert row["last_sequence"] == 1


async def test_a_feed_is_started_anew_by_hand(store: Store, tmp_path: Path) -> None:
    async with room(store, tmp_path, shows={"m": [page(score=1)]}) as here:
        await here.rows.put(adapter="scripted")
        first = await here.until(has(last_sequence=1))
        await here.rows.do(lambda unit: feeds.renew_feed(unit, "m"))
        row = await here.until(lambda row: row["scraper_id"] not in (None, first["scraper_id"]))

    assert here.restarts == ["by hand"]
    assert row["last_sequence"] == 1


async def test_who_stops_lets_go_of_its_feeds(store: Store, tmp_path: Path) -> None:
    async with room(store, tmp_path, shows={"m": [page(score=1)]}) as here:
        await here.rows.put(adapter="scripted")
        await here.until(has(last_sequence=1))

    row = await here.rows.row()
    assert (row["worker"], row["wanted"], row["status"]) == (None, True, FeedStatus.WAITING)
    assert len(here.buffer) == 0


async def test_another_worker_goes_on_where_a_lost_one_was(store: Store, tmp_path: Path) -> None:
    async with room(store, tmp_path, "one", shows={"m": [page(score=1), page(score=2)]}) as one:
        await one.rows.put(adapter="scripted")
        await one.until(has(last_sequence=2))
        await one.rows.lose("one")
        shows = [page(score=2), page(score=3)]
        async with room(store, tmp_path, "two", shows={"m": shows}) as two:
            row = await two.until(has(last_sequence=3))

    assert row["worker"] == "two"
    assert await scores(two.rows) == [(1, 1), (2, 2), (3, 3)]


async def test_the_most_important_feeds_come_first(store: Store, tmp_path: Path) -> None:
    shows = {name: [page(score=1)] for name in ("low", "high")}
    async with room(store, tmp_path, shows=shows, max_feeds=1) as here:
        await here.rows.put("low", adapter="scripted", priority=9)
        await here.rows.put("high", adapter="scripted", priority=1)
        await here.until(has(last_sequence=1), "high")

    assert (await here.rows.row("low"))["last_sequence"] == 0


async def test_evidence_of_unreadable_pages_is_kept_and_bounded(
    store: Store, tmp_path: Path
) -> None:
    shows = {"m": [UNREADABLE] * 5 + [page(score=1)]}
    async with room(store, tmp_path, shows=shows, snapshots_per_feed=2) as here:
        await here.rows.put(adapter="scripted")
        await here.until(has(last_sequence=1))
    errors = await here.rows.do(list_errors)

    assert [bool(each["snapshot"]) for each in errors] == [True, True, False, False, False]
    assert all(each["resolved"] for each in errors)
    assert {each["resolution_method"] for each in errors} == {"auto_retry"}


async def test_while_the_store_is_away_updates_wait_in_order(
    in_sqlite: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await in_sqlite.open()
    async with room(store, tmp_path, shows={"m": [page(score=1)]}) as here:
        await here.rows.put(adapter="scripted")
        await here.until(has(last_sequence=1))
        back = _take_away(store, monkeypatch)
        here.shows["m"] = [page(score=number) for number in range(1, 8)]
        here.supervision.watchers["m"].restart("by hand")
        have_come, is_away = await here.waiting(6), here.keeper.is_away
        back()
        assert (have_come, is_away) == (True, True)
        await here.until(has(last_sequence=7))

    assert await scores(here.rows) == [(number, number) for number in range(1, 8)]


def _take_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    write = store.write

    async def lost(*_given: Any) -> Any:
        raise StoreLost("it does not answer")

    monkeypatch.setattr(store, "write", lost)
    return lambda: monkeypatch.setattr(store, "write", write)


async def test_who_is_told_to_stop_does_not_start_anew(in_sqlite: Stores, tmp_path: Path) -> None:
    store = await in_sqlite.open()
    async with room(store, tmp_path, shows={"m": [page(score=1)]}) as here:
        await here.rows.put(adapter="scripted")
        await here.until(has(last_sequence=1))
        watcher = here.supervision.watchers["m"]
        watcher.restart("by hand")
        watcher.stop()
        await here.supervision.stop()

    assert here.restarts == []
