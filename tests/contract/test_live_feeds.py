"""Feeds are put, watched and ended, and what people see of them is true on both engines."""

from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert

from penstock.store.store import Store
from penstock.web.errors import InvalidRequest
from penstock.workloads.live import feeds
from penstock.workloads.live.health_log import log_health
from penstock.workloads.live.model import Feed, FeedStatus, Saved
from penstock.workloads.live.tables import (
    live_match_data,
    matches,
    scraper_errors,
    scraper_health_log,
)
from tests.live_rows import URL, LiveRows, health, look, scraper, update
from tests.stores import rows_of

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


async def test_a_new_feed_waits_to_be_watched(rows: LiveRows) -> None:
    put = await rows.put(options={"a": [1]}, priority=2, interval=0.5)

    row = await rows.row()
    assert {**put} == {**row}
    assert (row["status"], row["wanted"], row["scraper_status"]) == ("waiting", True, "unknown")
    assert (row["last_sequence"], row["restarts"], row["worker"]) == (0, 0, None)
    assert feeds.feed_of(row) == Feed("m", URL, "cricket", {"a": [1]}, 2, 0.5)


async def test_a_row_that_says_nothing_more_has_the_defaults(store: Store) -> None:
    """As whoever writes to the table by other means would find it."""
    said = {"match_id": "m", "source_url": URL, "adapter": "a", "options": {}}
    row = {**said, "created_at": 1, "updated_at": 1}
    await store.write(lambda unit: unit.run(insert(matches).values(row)) and None)

    (found,) = await rows_of(store, matches)

    assert found["scraper_status"] == "unknown"
    assert (found["data_freshness_seconds"], found["memory"], found["priority"]) == (0, {}, 5)


async def test_a_feed_that_is_watched_as_wanted_is_not_disturbed(rows: LiveRows) -> None:
    await rows.watch()

    row = await rows.put(priority=1)

    assert (row["status"], row["priority"]) == (FeedStatus.WATCHING, 1)
    assert (await rows.row())["scraper_id"] == scraper(1)


@pytest.mark.parametrize(
    "change",
    [
        {"url": f"{URL}/2"},
        {"adapter": "other"},
        {"options": {"select": {}}},
        {"interval": 7.5},
    ],
)
async def test_a_feed_that_is_to_be_read_otherwise_gets_another_scraper(
    rows: LiveRows, change: dict[str, Any]
) -> None:
    await rows.watch()
    await rows.write(update(1))

    await rows.put(**change)

    row = await rows.row()
    assert (row["status"], row["scraper_id"], row["worker"]) == ("waiting", None, "w")
    assert (row["last_sequence"], row["payload"]) == (1, {"score": 1})
    assert await rows.note(look()) == {"m"}


async def test_a_feed_that_is_over_can_be_started_again(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(update(4))
    await rows.note(look(memory={"errors": 12}))
    await rows.do(lambda unit: feeds.complete_feed(unit, "m", scraper(1), "the match is over"))

    await rows.put()

    row = await rows.row()
    assert (row["status"], row["wanted"], row["reason"]) == ("waiting", True, None)
    assert (row["completed_at"], row["memory"], row["restarts"]) == (None, {}, 0)
    await rows.claim()
    saved = await rows.begin(by=2)
    assert saved == Saved(4, update(4).hash, {"score": 4}, "in_play", {})
    assert (await rows.row())["restarts"] == 0


async def test_a_feed_that_was_put_off_is_tried_at_once_when_somebody_starts_it(
    rows: LiveRows,
) -> None:
    await rows.watch()
    later = await rows.now() + 60_000
    await rows.do(
        lambda unit: feeds.put_off(
            unit, "m", "w", FeedStatus.REFUSED, reason="memory is short", retry_at=later
        )
    )

    await rows.put()

    assert await rows.claim() == ["m"]


async def test_what_one_engine_refuses_is_kept_alike(rows: LiveRows) -> None:
    odd = {"url": "https://a.test/\x00", "options": {"a": "\ud800", "b": float("nan")}}
    await rows.put("m\x00", **odd)
    await rows.enter("w")
    await rows.claim()
    await rows.begin("m\x00")

    again = await rows.put("m\x00", **odd)

    row = await rows.row("m\x00")
    assert row["match_id"] == f"m{REPLACEMENT}"
    assert row["options"] == {"a": REPLACEMENT, "b": None}
    assert again["status"] == FeedStatus.WATCHING, "it is the same, so it goes on"


@pytest.mark.parametrize("match_id", ["", "m" * 101])
async def test_an_id_that_has_no_room_is_refused(rows: LiveRows, match_id: str) -> None:
    with pytest.raises(InvalidRequest, match="match_id: must have 1 to 100 characters"):
        await rows.put(match_id)


async def test_a_longer_id_is_simply_not_known(rows: LiveRows) -> None:
    await rows.put("m" * 100)

    assert await rows.do(lambda unit: feeds.get_feed(unit, "m" * 101)) is None


async def test_a_feed_that_is_stopped_is_nobody_s(rows: LiveRows) -> None:
    await rows.watch()

    row = await rows.do(lambda unit: feeds.stop_feed(unit, "m", "by ann"))

    assert row is not None
    assert (row["status"], row["reason"], row["wanted"]) == ("stopped", "by ann", False)
    assert (row["scraper_status"], row["worker"]) == ("stopped", None)
    assert await rows.claim() == []
    assert await rows.note(look()) == {"m"}
    assert (await rows.row())["scraper_status"] == "stopped"


async def test_stopping_what_is_over_changes_nothing(rows: LiveRows) -> None:
    await rows.watch()
    await rows.do(lambda unit: feeds.complete_feed(unit, "m", scraper(1), "over"))

    row = await rows.do(lambda unit: feeds.stop_feed(unit, "m", "by ann"))

    assert row is not None
    assert (row["status"], row["reason"]) == ("completed", "over")


async def test_what_is_not_there_cannot_be_stopped_or_removed(rows: LiveRows) -> None:
    assert await rows.do(lambda unit: feeds.stop_feed(unit, "m", "by ann")) is None
    assert await rows.do(lambda unit: feeds.remove_feed(unit, "m")) is False


async def test_a_feed_is_removed_with_all_that_is_kept_of_it(rows: LiveRows, store: Store) -> None:
    for match_id in ("m", "n"):
        await rows.watch(match_id)
        await rows.write(update(1, match_id), update(2, match_id))
        await rows.error(match_id)
        entries = [health(match_id)]
        await rows.do(partial(log_health, entries=entries))

    assert await rows.do(lambda unit: feeds.remove_feed(unit, "m")) is True

    for table in (matches, live_match_data, scraper_errors, scraper_health_log):
        assert {row["match_id"] for row in await rows_of(store, table)} == {"n"}, table.name


async def test_lists_are_by_id_and_can_be_read_in_parts(rows: LiveRows) -> None:
    for match_id in ("a", "b", "c", "d"):
        await rows.put(match_id)
    await rows.do(lambda unit: feeds.stop_feed(unit, "b", "by ann"))

    listed = await rows.do(lambda unit: feeds.list_feeds(unit, limit=2))
    rest = await rows.do(lambda unit: feeds.list_feeds(unit, after="b"))
    wanted = await rows.do(lambda unit: feeds.list_feeds(unit, wanted=True))
    stopped = await rows.do(lambda unit: feeds.list_feeds(unit, status=FeedStatus.STOPPED))

    assert [row["match_id"] for row in listed] == ["a", "b"]
    assert [row["match_id"] for row in rest] == ["c", "d"]
    assert [row["match_id"] for row in wanted] == ["a", "c", "d"]
    assert [row["match_id"] for row in stopped] == ["b"]
    assert not {"payload", "memory"} & set(listed[0]), "they may be large"
