"""Updates are written once, in order, and not by a scraper that lost its feed."""

import asyncio
from typing import Any

import pytest

from penstock.store.store import Store
from penstock.workloads.live import feeds
from penstock.workloads.live.model import ScraperStatus
from penstock.workloads.live.reading import updates_after
from penstock.workloads.live.tables import live_match_data, matches
from tests.live_rows import URL, LiveRows, look, scraper, update
from tests.stores import Stores, lose_next_commit, rows_of

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


async def stored(rows: LiveRows, match_id: str = "m") -> dict[int, Any]:
    """What is stored of a feed, by number."""
    found = await rows.do(lambda unit: updates_after(unit, match_id, 0, 10_000))
    return {row["sequence"]: row["payload"]["score"] for row in found}


async def last(rows: LiveRows, match_id: str = "m") -> tuple[int, Any, str]:
    row = await rows.row(match_id)
    return row["last_sequence"], row["payload"]["score"], row["last_hash"]


async def test_an_update_is_stored_as_it_is_and_the_feed_says_so(
    rows: LiveRows, store: Store
) -> None:
    await rows.watch()
    news = update(1, state="break", critical=True, final=True, scraped_at=7_000)

    assert await rows.write(news) == []

    (row,) = await rows_of(store, live_match_data)
    assert {name: row[name] for name in row if name != "id"} == {
        "match_id": "m",
        "source_url": URL,
        "state": "break",
        "payload": {"score": 1},
        "sequence": 1,
        "hash": news.hash,
        "critical": True,
        "final": True,
        "scraper_id": scraper(1),
        "update_latency_ms": 250,
        "data_source": "scraper",
        "scraped_at": 7_000,
    }
    feed = await rows.row()
    assert await last(rows) == (1, 1, news.hash)
    assert (feed["state"], feed["last_scraper_update"]) == ("break", 7_000)


async def test_updates_of_many_feeds_are_written_at_once_in_whatever_order(
    rows: LiveRows,
) -> None:
    for match_id in ("a", "b"):
        await rows.watch(match_id)
    many = [update(n, match_id) for n in range(1, 301) for match_id in ("b", "a")]

    assert await rows.write(*reversed(many)) == []

    for match_id in ("a", "b"):
        assert await stored(rows, match_id) == {n: n for n in range(1, 301)}
        assert (await last(rows, match_id))[:2] == (300, 300)


async def test_nothing_to_write_is_nothing_to_do(rows: LiveRows) -> None:
    assert await rows.write() == []
    assert await rows.note() == set()


async def test_what_is_replayed_twice_is_stored_once(rows: LiveRows) -> None:
    await rows.watch()
    batch = [update(n) for n in (1, 2, 3)]

    assert [await rows.write(*batch), await rows.write(*batch)] == [[], []]
    assert await rows.write(batch[0], batch[0]) == []

    assert await stored(rows) == {1: 1, 2: 2, 3: 3}
    assert (await last(rows))[:2] == (3, 3)


async def test_what_was_written_without_our_hearing_of_it_is_stored_once(
    rows: LiveRows, store: Store
) -> None:
    await rows.watch()
    lose_next_commit(store)

    assert await rows.write(update(1), update(2)) == []

    assert await stored(rows) == {1: 1, 2: 2}


async def test_a_number_that_was_dropped_leaves_a_gap_and_may_still_come(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(update(1), update(4))

    assert await rows.write(update(3)) == []

    assert await stored(rows) == {1: 1, 3: 3, 4: 4}
    assert (await last(rows))[:2] == (4, 4), "a feed never goes back"


async def test_a_number_stands_for_one_thing(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(update(1))

    assert await rows.write(update(1, payload={"score": 99}), update(2)) == [1]
    both = [update(3, payload={"score": n}, scraped_at=n) for n in (8, 7)]
    assert await rows.write(*both) == [3]

    assert await stored(rows) == {1: 1, 2: 2, 3: 7}, "the one that was read first has it"


async def test_updates_of_a_feed_that_is_gone_are_refused(rows: LiveRows) -> None:
    await rows.watch()
    await rows.watch("n")
    await rows.do(lambda unit: feeds.remove_feed(unit, "m"))

    assert await rows.write(update(1), update(1, "n")) == [1]

    assert await stored(rows, "n") == {1: 1}


async def test_a_journal_of_a_former_scraper_is_replayed_when_nobody_wrote_since(
    rows: LiveRows,
) -> None:
    await rows.watch()
    await rows.write(update(1))
    await rows.begin(by=2)

    assert await rows.write(update(1), update(2), update(3)) == []
    assert await rows.write(update(4, by=2)) == []

    assert await stored(rows) == {1: 1, 2: 2, 3: 3, 4: 4}
    assert (await last(rows))[:2] == (4, 4)


async def test_a_scraper_that_lost_its_feed_writes_nothing_it_read_since(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(update(1))
    await rows.begin(by=2)
    since = await rows.now() + 1

    assert await rows.write(update(2, scraped_at=since)) == [2]
    assert await rows.write(update(2, by=2, scraped_at=since)) == []

    assert (await rows.row())["last_sequence"] == 2


async def test_a_former_scraper_does_not_take_a_feed_back(rows: LiveRows) -> None:
    """Numbers that its successor has not used yet are none of its own any more."""
    await rows.watch()
    await rows.begin(by=2)
    await rows.write(update(1, by=2, scraped_at=900))

    assert await rows.write(*(update(n, payload={"score": -n}) for n in (1, 2))) == [1, 2]
    at_once = [update(2, by=2, scraped_at=950), update(3, payload={"score": -3}, scraped_at=940)]
    assert await rows.write(*at_once) == [3]

    assert await stored(rows) == {1: 1, 2: 2}


async def test_a_former_scraper_fills_no_gap(rows: LiveRows) -> None:
    await rows.watch()
    await rows.write(update(1), update(4))
    await rows.begin(by=2)

    assert await rows.write(update(3, scraped_at=10)) == [3]


async def test_a_number_that_was_read_by_both_scrapers_is_the_former_one_s(rows: LiveRows) -> None:
    """The present one can look again; it goes on from what is stored."""
    await rows.watch()
    await rows.begin(by=2)
    theirs = update(1, by=2, payload={"score": 9}, scraped_at=500)

    assert await rows.write(theirs, update(1, scraped_at=400)) == [1]

    assert await stored(rows) == {1: 1}
    saved = await rows.begin(by=2)
    assert saved is not None
    assert (saved.sequence, saved.payload) == (1, {"score": 1})


async def test_what_was_read_before_a_feed_was_changed_is_still_written(
    rows: LiveRows, stores: Stores
) -> None:
    await rows.watch()
    await stores.later(1)
    changed_at = (await rows.put(url=f"{URL}/2"))["updated_at"]
    before, after = update(1, scraped_at=changed_at), update(2, scraped_at=changed_at + 1)

    assert await rows.write(before, after) == [2]


async def test_the_last_update_arrives_though_its_feed_was_stopped(rows: LiveRows) -> None:
    await rows.watch()
    await rows.do(lambda unit: feeds.stop_feed(unit, "m", "by ann"))

    assert await rows.write(update(1)) == []

    row = await rows.row()
    assert (row["status"], row["payload"]) == ("stopped", {"score": 1})


async def test_two_processes_that_replay_the_same_journal_store_it_once(stores: Stores) -> None:
    both = [LiveRows(await stores.open()) for _ in range(2)]
    await both[0].watch()
    batches = [[update(n + k) for k in range(10)] for n in range(1, 101, 10)]

    async with asyncio.timeout(60):
        refused = await asyncio.gather(*(rows.write(*some) for some in batches for rows in both))

    # What comes behind a later number is of a scraper that has the feed, so it is taken, too.
    assert [each for some in refused for each in some] == []
    assert await stored(both[0]) == {n: n for n in range(1, 101)}
    assert (await last(both[1]))[:2] == (100, 100)


async def test_what_one_engine_refuses_is_kept_alike(rows: LiveRows, store: Store) -> None:
    await rows.watch("m\x00")
    payload = {"score": float("nan"), "who": "\ud800\x00", "big": 2**70}

    assert await rows.write(update(1, "m\x00", payload={}, hash="h", latency_ms=2**40)) == []
    odd = update(2**63 - 1, "m\x00", payload=payload, hash="h", scraped_at=1)
    assert await rows.write(odd) == []

    small, large = sorted(await rows_of(store, live_match_data), key=lambda row: row["sequence"])
    assert small["update_latency_ms"] == 2**31 - 1
    assert large["payload"] == {"score": None, "who": REPLACEMENT * 2, "big": str(2**70)}
    assert (await rows.row("m\x00"))["last_sequence"] == 2**63 - 1


async def test_looks_of_many_feeds_are_noted_at_once(rows: LiveRows) -> None:
    for match_id in ("a", "b"):
        await rows.watch(match_id)
    stale: dict[str, Any] = {
        "scraper_status": ScraperStatus.STALE,
        "data_age_seconds": 2.0**40,
        "at": None,
    }

    assert await rows.note(look("b", memory={"n": 1}), look("a", **stale)) == set()

    one, other = await rows.row("a"), await rows.row("b")
    assert (one["scraper_status"], one["data_freshness_seconds"]) == ("stale", 2**31 - 1)
    assert (one["last_scraper_update"], one["memory"]) == (None, {})
    assert (other["scraper_status"], other["data_freshness_seconds"]) == ("active", 1)
    assert (other["last_scraper_update"], other["memory"]) == (1_000, {"n": 1})


async def test_a_feed_was_never_seen_earlier_than_it_was(rows: LiveRows) -> None:
    await rows.watch()
    await rows.note(look(at=9_000))

    await rows.note(look(at=8_000))
    await rows.note(look(at=None))

    assert (await rows.row())["last_scraper_update"] == 9_000


async def test_who_lost_a_feed_is_told_and_notes_nothing(rows: LiveRows, store: Store) -> None:
    for match_id in ("a", "b", "c"):
        await rows.watch(match_id)
    await rows.begin("b", by=2)
    await rows.do(lambda unit: feeds.stop_feed(unit, "c", "by ann"))

    looks = [look(match_id, at=5) for match_id in ("a", "b", "c", "unheard of")]
    assert await rows.note(*looks) == {"b", "c", "unheard of"}

    seen = {row["match_id"]: row["last_scraper_update"] for row in await rows_of(store, matches)}
    assert seen == {"a": 5, "b": None, "c": None}
