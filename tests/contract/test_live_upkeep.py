"""What is old leaves, the last of each feed stays, and nobody is told that dead scrapers live."""

from functools import partial
from typing import Any

import pytest

from penstock.store import dump
from penstock.store.store import Store
from penstock.workloads.live import feeds
from penstock.workloads.live.health_log import log_health
from penstock.workloads.live.model import ScraperStatus
from penstock.workloads.live.reading import latest, updates_after
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.tables import (
    live_match_data,
    matches,
    scraper_errors,
    scraper_health_log,
)
from penstock.workloads.live.upkeep import LiveUpkeep, mark_stale, pages_in_use
from tests.live_rows import LiveRows, health, look, scraper, update
from tests.stores import Stores, rows_of

DAY = 86_400_000


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


@pytest.fixture
def upkeep(store: Store) -> LiveUpkeep:
    settings = LiveSettings(keep_updates_days=30, keep_health_days=7, keep_errors_days=14)
    return LiveUpkeep(store, settings)


async def test_old_updates_are_forgotten_but_the_last_of_a_feed(
    rows: LiveRows, upkeep: LiveUpkeep
) -> None:
    now = await rows.now()
    for match_id in ("m", "n"):
        await rows.watch(match_id)
    await rows.write(*(update(n, scraped_at=now - 31 * DAY + n) for n in (1, 2, 3)))
    ages = {1: 31, 2: 29, 3: 0}
    await rows.write(*(update(n, "n", scraped_at=now - age * DAY) for n, age in ages.items()))

    assert [await upkeep.forget_updates(), await upkeep.forget_updates()] == [3, 0]

    left = await rows.do(lambda unit: latest(unit, "m"))
    assert left is not None
    assert left["sequence"] == 3
    others = await rows.do(lambda unit: updates_after(unit, "n", 0))
    assert [row["sequence"] for row in others] == [2, 3]


async def test_more_than_fits_in_a_step_is_forgotten_at_once(
    rows: LiveRows, upkeep: LiveUpkeep
) -> None:
    await rows.watch()
    await rows.write(*(update(n) for n in range(1, 1203)))

    assert await upkeep.forget_updates() == 1201


async def test_health_and_errors_are_forgotten_by_their_age(
    rows: LiveRows, upkeep: LiveUpkeep, store: Store
) -> None:
    now = await rows.now()
    entries = [health(at=now - days * DAY) for days in (8, 8, 6)]
    await rows.do(partial(log_health, entries=entries))
    for days in (15, 13):
        await rows.error(at=now - days * DAY)

    assert (await upkeep.forget_health(), await upkeep.forget_errors()) == (2, 1)

    (well,), (wrong,) = (
        await rows_of(store, scraper_health_log),
        await rows_of(store, scraper_errors),
    )
    assert (well["timestamp"], wrong["timestamp"]) == (now - 6 * DAY, now - 13 * DAY)


async def test_pages_and_pictures_are_in_use_until_their_errors_are_forgotten(
    rows: LiveRows, upkeep: LiveUpkeep, store: Store
) -> None:
    now = await rows.now()
    await rows.error(snapshot="page", screenshot="picture", at=now)
    await rows.error(snapshot="old", at=now - 15 * DAY)
    addresses = ["page", "picture", "old", "unheard of"]
    assert await pages_in_use(store, addresses) == {"page", "picture", "old"}

    await upkeep.forget_errors()

    assert await pages_in_use(store, addresses) == {"page", "picture"}
    assert await pages_in_use(store, []) == set()


async def told(store: Store) -> dict[str, str]:
    return {row["match_id"]: row["scraper_status"] for row in await rows_of(store, matches)}


async def test_feeds_of_a_dead_worker_are_said_to_be_stale(rows: LiveRows, store: Store) -> None:
    for match_id, worker in (("gone", "w"), ("new", "w"), ("well", "v")):
        await rows.watch(match_id, worker)
        if match_id != "new":
            await rows.note(look(match_id, at=await rows.now() - 45_000))
    await rows.lose("w")

    assert [await rows.do(mark_stale), await rows.do(mark_stale)] == [1, 0]

    assert await told(store) == {"gone": "stale", "new": "unknown", "well": "active"}
    gone = await rows.row("gone")
    assert 45 <= gone["data_freshness_seconds"] < 75
    assert (await rows.row("well"))["data_freshness_seconds"] == 1


async def test_trouble_that_nobody_looks_after_is_stale_but_what_failed_stays_so(
    rows: LiveRows, store: Store
) -> None:
    for match_id in ("in trouble", "failed"):
        await rows.watch(match_id)
        await rows.note(look(match_id, scraper_status=ScraperStatus.ERROR))
    await rows.do(lambda unit: feeds.fail_feed(unit, "failed", scraper(1), "too many restarts"))
    await rows.lose("w")

    assert await rows.do(mark_stale) == 1

    assert await told(store) == {"in trouble": "stale", "failed": "error"}


async def test_data_of_a_feed_that_nobody_watches_gets_older(
    rows: LiveRows, stores: Stores
) -> None:
    await rows.watch()
    await rows.note(look(at=await rows.now()))
    await rows.lose("w")
    await rows.do(mark_stale)
    await stores.later(600)
    if stores.engine == "postgresql":
        await rows.do(lambda unit: unit.run(_older(600_000)) and None)

    await rows.do(mark_stale)

    assert 600 <= (await rows.row())["data_freshness_seconds"] < 630


def _older(ms: int) -> Any:
    return matches.update().values(last_scraper_update=matches.c.last_scraper_update - ms)


async def test_a_feed_that_is_taken_over_is_fresh_again(rows: LiveRows, store: Store) -> None:
    await rows.watch()
    await rows.note(look())
    await rows.lose("w")
    await rows.do(mark_stale)
    await rows.enter("v")
    await rows.claim("v")
    await rows.begin(worker="v", by=2)

    await rows.note(look(by=2))

    assert await rows.do(mark_stale) == 0
    assert await told(store) == {"m": "active"}


async def test_chores_do_what_they_say(rows: LiveRows, upkeep: LiveUpkeep, store: Store) -> None:
    await rows.watch()
    await rows.note(look())
    await rows.write(update(1), update(2))
    await rows.error(at=1)
    await rows.do(partial(log_health, entries=[health(at=1)]))
    await rows.lose("w")

    done = {chore.name: await chore.do() for chore in upkeep.chores()}

    assert set(done.values()) == {1}
    assert len(done) == 4
    assert await told(store) == {"m": "stale"}


@pytest.mark.parametrize("direction", ["to postgres", "to sqlite"])
async def test_a_backup_of_one_engine_is_restored_on_the_other(
    direction: str, in_sqlite: Stores, in_postgres: Stores
) -> None:
    ways = {"to postgres": (in_sqlite, in_postgres), "to sqlite": (in_postgres, in_sqlite)}
    source, target = [await each.open() for each in ways[direction]]
    rows = LiveRows(source)
    await rows.watch()
    await rows.write(update(1), update(2, critical=True))
    await rows.error(snapshot="a")
    await rows.do(partial(log_health, entries=[health(memory_mb=1.5)]))
    saved: dict[str, list[dict[str, Any]]] = {}
    await source.read(
        lambda unit: dump.dump(unit, lambda name, some: saved.__setitem__(name, list(some)))
    )

    for name, some in saved.items():
        await target.write(partial(dump.load, name=name, rows=some))

    for table in (matches, live_match_data, scraper_errors, scraper_health_log):
        assert await rows_of(target, table) == await rows_of(source, table) != [], table.name
    restored = LiveRows(target)
    await restored.enter("v")
    assert await restored.claim("v") == ["m"], "its worker was of another store"
    assert await restored.do(lambda unit: feeds.begin_scraper(unit, "m", "v", "s")) is not None
