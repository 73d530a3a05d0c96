"""Workers share feeds: each feed is one worker's at a time, and one scraper's."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live import feeds
from penstock.workloads.live.model import FeedStatus, Saved
from penstock.workloads.live.tables import matches
from tests.live_rows import LiveRows, look, scraper, update
from tests.stores import Stores, lose_next_commit, run_sql

End = Callable[[Unit], bool]


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


async def test_a_worker_takes_what_is_important_first_then_what_waits_longest(
    rows: LiveRows,
) -> None:
    await rows.enter("w")
    for at, (match_id, priority) in enumerate((("c", 5), ("b", 5), ("a", 9), ("d", 1))):
        await rows.put(match_id, priority=priority)
        is_it = matches.c.match_id == match_id
        older = matches.update().where(is_it).values(created_at=at)
        await rows.do(partial(Unit.run, statement=older))

    assert await rows.claim(most=3) == ["d", "c", "b"]


async def test_a_worker_gets_all_that_is_its_and_no_more_than_it_may_have(rows: LiveRows) -> None:
    await rows.enter("v", "w")
    for priority, match_id in enumerate(("a", "b", "c", "d")):
        await rows.put(match_id, priority=priority)

    assert await rows.claim(most=2) == ["a", "b"]
    assert await rows.claim(most=3) == ["a", "b", "c"]
    assert await rows.claim(most=1) == ["a", "b", "c"], "nothing is taken away"
    assert await rows.claim("v") == ["d"]


async def test_only_a_worker_among_the_living_has_feeds(rows: LiveRows) -> None:
    await rows.put()
    assert await rows.claim() == []
    await rows.enter("w")
    assert await rows.claim() == ["m"]
    await rows.lose("w")

    assert await rows.claim() == []


async def test_what_a_dead_worker_had_is_another_s(rows: LiveRows) -> None:
    await rows.watch(worker="w")
    await rows.enter("v")
    assert await rows.claim("v") == []

    await rows.lose("w")

    assert await rows.claim("v") == ["m"]
    assert (await rows.row())["status"] == "waiting"
    assert await rows.begin(worker="w", by=2) is None
    assert await rows.begin(worker="v", by=3) == Saved()


async def test_what_nobody_wants_is_not_claimed(rows: LiveRows) -> None:
    await rows.enter("w")
    await rows.put()
    await rows.do(lambda unit: feeds.stop_feed(unit, "m", "by ann"))

    assert await rows.claim() == []
    assert (await rows.row())["worker"] is None


async def test_what_was_put_off_is_nobody_s_until_its_time(rows: LiveRows, stores: Stores) -> None:
    await rows.watch()
    later = await rows.now() + 30_000

    def put_off(unit: Unit, at: int) -> bool:
        status, reason = FeedStatus.REFUSED, "memory is short"
        return feeds.put_off(unit, "m", "w", status, reason=reason, retry_at=at)

    assert await rows.do(lambda unit: put_off(unit, later)) is True
    row = await rows.row()
    assert (row["status"], row["reason"], row["wanted"]) == ("refused", "memory is short", True)
    assert await rows.claim() == []
    if stores.engine == "sqlite":
        await stores.later(30)
    else:
        await rows.put()
        await rows.claim()
        soon = await rows.now()
        await rows.do(lambda unit: put_off(unit, soon))

    assert await rows.claim() == ["m"]
    assert await rows.begin(by=2) is not None
    assert (await rows.row())["reason"] is None


async def test_what_is_given_back_waits_for_anybody(rows: LiveRows) -> None:
    for match_id in ("a", "b", "c"):
        await rows.watch(match_id)
    await rows.enter("v")

    assert await rows.do(lambda unit: feeds.release_feeds(unit, "w", ["a", "unheard of"])) == 1
    assert await rows.claim("v") == ["a"]
    assert await rows.do(lambda unit: feeds.release_feeds(unit, "w")) == 2
    assert await rows.do(lambda unit: feeds.release_feeds(unit, "w")) == 0

    row = await rows.row("b")
    assert (row["status"], row["scraper_status"], row["worker"]) == ("waiting", "stopped", None)
    assert sorted(await rows.claim("v")) == ["a", "b", "c"]


async def test_a_scraper_goes_on_where_the_last_one_was(rows: LiveRows) -> None:
    assert await rows.watch() == Saved()
    await rows.write(update(1), update(2, state="break"))
    await rows.note(look(memory={"streak": 3}))

    saved = await rows.begin(by=2)

    assert saved == Saved(2, update(2, state="break").hash, {"score": 2}, "break", {"streak": 3})
    row = await rows.row()
    assert (row["status"], row["scraper_id"], row["restarts"]) == ("watching", scraper(2), 1)


async def test_a_beginning_whose_commit_was_not_heard_of_counts_once(
    rows: LiveRows, store: Store
) -> None:
    await rows.watch()
    lose_next_commit(store)

    assert await rows.begin(by=2) is not None

    assert (await rows.row())["restarts"] == 1


async def test_nobody_begins_to_watch_what_is_not_wanted(rows: LiveRows) -> None:
    """Also where it was made so by other means."""
    await rows.watch()
    await rows.do(lambda unit: unit.run(matches.update().values(wanted=False)) and None)

    assert await rows.begin(by=2) is None
    assert await rows.claim() == []


@pytest.mark.parametrize(
    ("end", "status", "told"),
    [
        (lambda unit: feeds.complete_feed(unit, "m", scraper(1), "why"), "completed", "stopped"),
        (lambda unit: feeds.fail_feed(unit, "m", scraper(1), "why"), "failed", "error"),
        (lambda unit: feeds.refuse_feed(unit, "m", "w", "why"), "refused", "stopped"),
    ],
)
async def test_a_feed_ends_once_and_says_why(
    rows: LiveRows, end: End, status: str, told: str
) -> None:
    await rows.watch()

    assert [await rows.do(end), await rows.do(end)] == [True, False]

    row = await rows.row()
    assert (row["status"], row["scraper_status"], row["reason"]) == (status, told, "why")
    assert (row["wanted"], row["worker"]) == (False, None)
    assert (row["completed_at"] is not None) == (status == "completed")
    assert await rows.claim() == []


@pytest.mark.parametrize(
    "end",
    [
        lambda unit: feeds.complete_feed(unit, "m", scraper(2), "why"),
        lambda unit: feeds.fail_feed(unit, "m", scraper(2), "why"),
        lambda unit: feeds.refuse_feed(unit, "m", "v", "why"),
        lambda unit: feeds.put_off(
            unit, "m", "v", FeedStatus.WAITING, reason="why", retry_at=unit.now
        ),
    ],
)
async def test_who_does_not_have_a_feed_cannot_end_it(rows: LiveRows, end: End) -> None:
    await rows.watch()

    assert await rows.do(end) is False

    assert (await rows.row())["status"] == "watching"


async def test_a_crowd_of_workers_never_has_the_same_feed(stores: Stores, eye: Store) -> None:
    crowd = [LiveRows(await stores.open()) for _ in range(4)]
    seen = LiveRows(eye)
    for number in range(60):
        await seen.put(f"m{number:02}", priority=number % 3 + 1)
    await seen.enter(*(f"w{number}" for number in range(8)))

    async def work(number: int) -> set[str]:
        mine: list[str] = []
        for most in range(1, 8):
            mine = await crowd[number % 4].claim(f"w{number}", most)
        return set(mine)

    async with asyncio.timeout(60):
        taken = await asyncio.gather(*map(work, range(8)))

    assert sum(map(len, taken)) == len(set.union(*taken))
    assert all(len(some) == 7 for some in taken)


async def test_claiming_noting_and_giving_back_at_once_never_waits_in_a_circle(
    in_postgres: Stores,
) -> None:
    crowd = [LiveRows(await in_postgres.open()) for _ in range(4)]
    for number in range(20):
        await crowd[0].put(f"m{number:02}")
    await crowd[0].enter(*(f"w{number}" for number in range(4)))

    async def work(number: int) -> None:
        rows, worker = crowd[number], f"w{number}"
        for turn in range(10):
            mine = await rows.claim(worker, 10)
            for match_id in mine:
                await rows.begin(match_id, worker, by=number)
            await rows.note(*(look(match_id, by=number) for match_id in reversed(mine)))
            await rows.write(*(update(turn + 1, match_id, by=number) for match_id in mine))
            await rows.do(lambda unit: feeds.release_feeds(unit, worker))

    async with asyncio.timeout(60):
        await asyncio.gather(*map(work, range(4)))

    for rows in crowd:
        await rows.store.close()  # only then the server's own count is complete
    query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert await run_sql(in_postgres.server_url, query) == [(0,)]
