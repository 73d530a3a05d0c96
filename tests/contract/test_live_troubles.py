"""Errors and the health of scrapers are written down, found again, and made good."""

from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from penstock.store.store import Store
from penstock.workloads.live import troubles
from penstock.workloads.live.health_log import list_health, log_health
from penstock.workloads.live.model import ErrorType, Resolution
from penstock.workloads.live.tables import scraper_errors
from penstock.workloads.live.troubles import ErrorEntry
from tests.live_rows import LiveRows, health, scraper
from tests.stores import lose_next_commit, rows_of

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


async def listed(rows: LiveRows, **wanted: Any) -> list[str]:
    found = await rows.do(partial(troubles.list_errors, **wanted))
    return [row["id"] for row in found]


async def test_an_error_is_kept_as_it_was(rows: LiveRows) -> None:
    entry = ErrorEntry(
        scraper_id=scraper(1),
        match_id="m",
        error_type=ErrorType.PARSING,
        message="no score",
        at=5_000,
        stack_trace="Traceback",
        url="https://live.example",
        operation="read the page",
        retry_attempt=2,
        snapshot="a" * 64,
        screenshot="b" * 64,
    )
    await rows.do(lambda unit: troubles.log_errors(unit, [entry]))

    (row,) = await rows.do(troubles.list_errors)

    assert row == {
        "id": entry.id,
        "scraper_id": scraper(1),
        "match_id": "m",
        "timestamp": 5_000,
        "error_type": "parsing",
        "error_message": "no score",
        "stack_trace": "Traceback",
        "url": "https://live.example",
        "operation": "read the page",
        "retry_attempt": 2,
        "resolved": False,
        "resolution_time": None,
        "resolution_method": None,
        "snapshot": "a" * 64,
        "screenshot": "b" * 64,
    }


async def test_an_error_without_a_time_is_of_now(rows: LiveRows) -> None:
    before = await rows.now()
    await rows.error()
    after = await rows.now()

    (row,) = await rows.do(troubles.list_errors)

    assert before <= row["timestamp"] <= after


async def test_what_does_not_fit_is_cut_and_what_one_engine_refuses_is_replaced(
    rows: LiveRows,
) -> None:
    long = "https://live.example/\x00" + "é" * 600
    texts = {
        "url": long,
        "message": "\x00\ud800",
        "operation": "o" * 101,
        "stack_trace": "t" * 9**6,
    }
    await rows.error(**texts, retry_attempt=2**40)

    (row,) = await rows.do(troubles.list_errors)

    assert row["url"] == long[:500].replace("\x00", REPLACEMENT)
    assert row["error_message"] == REPLACEMENT * 2
    assert (row["operation"], len(row["stack_trace"])) == ("o" * 100, troubles.TRACE_LENGTH)
    assert row["retry_attempt"] == 2**31 - 1


async def test_an_error_is_logged_once_though_its_commit_was_not_heard_of(
    rows: LiveRows, store: Store
) -> None:
    lose_next_commit(store)

    await rows.error()

    assert len(await rows_of(store, scraper_errors)) == 1


async def test_errors_are_listed_newest_first_by_what_they_are(rows: LiveRows) -> None:
    first = await rows.error(id="1", error_type=ErrorType.PARSING)
    second = await rows.error("n", id="2")
    third = await rows.error(id="3")
    await rows.do(lambda unit: troubles.resolve_error(unit, second))

    assert await listed(rows) == [third, second, first]
    assert await listed(rows, limit=1) == [third]
    assert await listed(rows, before=third) == [second, first]
    assert await listed(rows, match_id="m") == [third, first]
    assert await listed(rows, error_type=ErrorType.PARSING) == [first]
    assert await listed(rows, resolved=False) == [third, first]
    assert await listed(rows, resolved=True, match_id="m") == []


async def test_what_helped_a_feed_resolves_its_open_errors_and_no_others(rows: LiveRows) -> None:
    open_one, other = await rows.error(id="1"), await rows.error("n", id="2")
    done = await rows.error(id="3")
    await rows.do(lambda unit: troubles.resolve_error(unit, done))

    resolve = partial(troubles.resolve_errors, match_id="m", method=Resolution.AUTO_RETRY)
    assert [await rows.do(resolve), await rows.do(resolve)] == [1, 0]

    found = {row["id"]: row for row in await rows.do(troubles.list_errors)}
    assert {which: row["resolution_method"] for which, row in found.items()} == {
        open_one: "auto_retry",
        other: None,
        done: "manual",
    }
    assert found[open_one]["resolution_time"] is not None
    assert (found[open_one]["resolved"], found[other]["resolved"]) == (True, False)


async def test_what_resolved_an_error_first_is_what_resolved_it(rows: LiveRows) -> None:
    which = await rows.error()
    first = await rows.do(lambda unit: troubles.resolve_error(unit, which, Resolution.RESTART))

    assert await rows.do(lambda unit: troubles.resolve_error(unit, which)) == first


async def test_an_error_that_nobody_knows_cannot_be_resolved(rows: LiveRows) -> None:
    assert await rows.do(lambda unit: troubles.resolve_error(unit, "unheard of")) is None


async def test_errors_are_counted_by_type_since_a_time(rows: LiveRows) -> None:
    for at in (1_000, 2_000, 3_000):
        await rows.error(at=at)
    await rows.error(at=2_500, error_type=ErrorType.BROWSER)

    count = await rows.do(lambda unit: troubles.count_errors(unit, 2_000))

    assert count == {"network": 2, "browser": 1}


async def test_a_feed_keeps_its_newest_pages_and_pictures(rows: LiveRows) -> None:
    await rows.error(id="1", snapshot="old", screenshot="picture")
    await rows.error(id="2", snapshot="shared")
    await rows.error(id="3")
    await rows.error(id="4", snapshot="shared", screenshot="new")
    await rows.error("n", id="5", snapshot="other")

    drop = partial(troubles.drop_old_snapshots, match_id="m")
    assert await rows.do(partial(drop, most=1)) == {"old", "picture"}
    assert await rows.do(partial(drop, most=1)) == set()

    found = await rows.do(troubles.list_errors)
    kept = {row["id"]: (row["snapshot"], row["screenshot"]) for row in found}
    nothing = (None, None)
    assert kept == {
        "5": ("other", None),
        "4": ("shared", "new"),
        "3": nothing,
        "2": nothing,
        "1": nothing,
    }
    assert await rows.do(partial(drop, most=0)) == {"shared", "new"}


async def test_health_is_kept_as_it_was(rows: LiveRows) -> None:
    entry = health(
        at=5_000,
        error_count=3,
        memory_mb=850.456,
        cpu_percent=15.2,
        update_latency_ms=450.9,
        polling_interval_seconds=2.5,
        uptime_seconds=9000.5,
        last_update_age_seconds=4,
    )
    await rows.do(lambda unit: log_health(unit, [entry]))

    (row,) = await rows.do(lambda unit: list_health(unit, "m"))

    assert row == {
        "id": entry.id,
        "scraper_id": scraper(1),
        "match_id": "m",
        "timestamp": 5_000,
        "health_status": "healthy",
        "error_count": 3,
        "memory_mb": Decimal("850.46"),
        "cpu_percent": Decimal("15.20"),
        "update_latency_ms": 450,
        "polling_interval_seconds": Decimal("2.50"),
        "uptime_seconds": 9000,
        "last_update_age_seconds": 4,
    }


async def test_health_that_is_not_known_or_beyond_its_column_is_kept_alike(
    rows: LiveRows,
) -> None:
    unknown = health(id="1", at=1, memory_mb=float("nan"), uptime_seconds=float("inf"))
    large = health(id="2", at=2, memory_mb=1e30, cpu_percent=999.999, uptime_seconds=1e30)
    await rows.do(lambda unit: log_health(unit, [unknown, large]))

    found = await rows.do(lambda unit: list_health(unit, "m"))

    assert [row["memory_mb"] for row in found] == [Decimal("99999999.99"), None]
    assert [row["cpu_percent"] for row in found] == [Decimal("999.99"), None]
    assert [row["uptime_seconds"] for row in found] == [2**31 - 1, None]


async def test_health_of_a_feed_is_listed_since_a_time_latest_first(rows: LiveRows) -> None:
    entries = [health(at=at) for at in (1_000, 3_000, 2_000)] + [health("n", at=4_000)]
    await rows.do(lambda unit: log_health(unit, entries))

    since = await rows.do(lambda unit: list_health(unit, "m", 2_000))
    one = await rows.do(lambda unit: list_health(unit, "m", limit=1))

    assert [row["timestamp"] for row in since] == [3_000, 2_000]
    assert [row["timestamp"] for row in one] == [3_000]
