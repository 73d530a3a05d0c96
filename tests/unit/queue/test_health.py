"""Health tells progress from mere life."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.queue.health import Backlog, judge, largest_backlogs, longest_held
from penstock.queue.ports import Depth, Release, State
from penstock.queue.tables import items
from tests.stores import Stores, all_of, enter_worker, make_items, sqlite_stores


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with sqlite_stores(tmp_path) as stores:
        await enter_worker(await stores.open(), "w")
        yield stores


def worker(age: float | None = None, **status: Any) -> dict[str, Any]:
    ages = {} if age is None else {"fetch": age}
    return {
        "id": "w",
        "kind": "worker",
        "silent_ms": 1000,
        "status": {"last_success_age": ages, **status},
    }


def trying(in_vain: int, last_try: float, age: float | None = None) -> dict[str, Any]:
    return worker(age, in_vain={"fetch": in_vain}, last_try_age={"fetch": last_try})


def lane(due: float | None) -> Depth:
    return Depth("fetch", {State.WAITING: 5}, due)


def test_work_that_moves_is_healthy() -> None:
    health = judge([lane(due=500.0)], [worker(age=3.0)], {})
    assert (health.status, list(health.problems)) == ("ok", [])
    assert health.lanes["fetch"]["last_success_age"] == 4.0


def test_due_work_without_any_success_is_a_failure_though_a_worker_lives() -> None:
    health = judge([lane(due=500.0)], [worker(age=900.0)], {})
    assert health.status == "failing"
    assert "makes no progress" in health.problems[0]


def test_nothing_to_do_is_healthy() -> None:
    assert judge([lane(due=None)], [worker()], {}).status == "ok"


def test_no_worker_is_a_failure_that_says_what_to_start() -> None:
    health = judge([], [{**worker(), "kind": "scheduler"}], {})
    assert health.status == "failing"
    assert "penstock up" in health.problems[0]


def test_a_pause_is_a_reason_not_a_failure() -> None:
    health = judge([lane(due=500.0)], [worker()], {"": "maintenance"})
    assert health.status == "degraded"
    assert list(health.problems) == ["all contact is paused: maintenance"]


def test_a_pause_of_one_domain_does_not_hide_that_nothing_moves() -> None:
    health = judge([lane(due=500.0)], [worker()], {"unrelated.test": ""})
    assert health.status == "failing"
    assert "makes no progress: 500 s overdue" in health.problems[0]
    assert "unrelated.test is paused" in health.problems


def test_work_that_was_begun_long_ago_and_hangs_is_a_failure_unless_others_succeed() -> None:
    hung = judge([lane(due=None)], [worker(age=900.0)], {}, {"fetch": 700.0})
    assert list(hung.problems) == ["lane fetch makes no progress: begun 700 s ago, not over"]
    assert judge([lane(due=None)], [worker(age=3.0)], {}, {"fetch": 700.0}).status == "ok"
    assert judge([lane(due=None)], [worker(age=900.0)], {}, {"fetch": 60.0}).status == "ok"


def test_a_lane_that_is_looked_at_and_in_which_nothing_succeeds_is_named() -> None:
    health = judge([lane(due=None)], [trying(7, 20.0, age=900.0), trying(5, 3.0)], {})
    assert health.status == "degraded"
    assert list(health.problems) == [
        "lane fetch: 12 tries came to nothing, and none succeeded lately"
    ]


@pytest.mark.parametrize(
    "workers",
    [
        [trying(500, 3.0, age=200.0)],
        [trying(500, 3.0), worker(age=200.0)],
        [trying(500, 900.0)],
        [trying(3, 3.0)],
        [worker(age=3600.0)],
    ],
    ids=["late success", "success of another", "idle since", "a few bad URLs", "idle"],
)
def test_no_alarm_is_raised_of_a_lane(workers: list[dict[str, Any]]) -> None:
    assert judge([lane(due=None)], workers, {}).status == "ok"


def test_nothing_succeeds_while_all_is_paused() -> None:
    health = judge([lane(due=None)], [trying(500, 3.0)], {"": "maintenance"})
    assert list(health.problems) == ["all contact is paused: maintenance"]


def test_a_duty_that_keeps_failing_is_named() -> None:
    duty = {"state": "waiting", "restarts": 3, "last_error": "OSError()"}
    health = judge([], [worker(duties={"relay file": duty})], {})
    assert health.status == "degraded"
    assert "relay file of w fails: OSError()" in health.problems


async def test_a_domain_that_has_to_wait_is_not_due(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    await queue.put(make_items(3, group="closed.test"))
    claims = await queue.claim("w", ["fetch"], 1, lambda _: (1, 0.0))
    await queue.settle([(claim, Release(3600.0, park=True)) for claim in claims])
    await stores.later(500)
    [depth] = await queue.depth()
    assert (depth.oldest_due, depth.counts[State.WAITING]) == (None, 3)
    opening = int(stores.clock.now().timestamp() * 1000) + 3100_000
    assert await largest_backlogs(store, 5) == [Backlog("fetch", "closed.test", 3, 0, opening)]
    await stores.later(3200)
    [depth] = await queue.depth()
    assert depth.oldest_due == 100
    [backlog] = await largest_backlogs(store, 5)
    assert backlog.due == 3


async def test_a_line_without_items_is_not_due(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    await queue.put(make_items(1, group="gone.test"))
    await store.write(lambda unit: unit.run(items.delete()) and None)
    await queue.put(make_items(1, group="later.test", delay=60.0))
    await stores.later(50)
    assert [depth.oldest_due for depth in await queue.depth()] == [None]


async def test_backlogs_are_the_largest_and_count_all_priorities(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    await queue.put(make_items(2, group="small.test"))
    await queue.put(make_items(3, group="large.test"))
    await queue.put(make_items(2, first=10, group="large.test", priority=0, delay=90.0))
    await queue.put(make_items(1, group="tiny.test"))
    found = await largest_backlogs(store, 2)
    assert [(each.group, each.waiting, each.due) for each in found] == [
        ("large.test", 5, 3),
        ("small.test", 2, 2),
    ]


@pytest.mark.parametrize("group", ["paused.test", "group:shops", "www.paused.test"])
async def test_claims_of_domains_on_pause_are_not_held_too_long(stores: Stores, group: str) -> None:
    queue, store = await stores.queue(), await stores.open()
    for number, url in enumerate(("https://www.paused.test/a", "https://hung.test/a", "no URL")):
        [item] = make_items(1, first=number, group=group)
        await queue.put([item._replace(payload={"url": url})])
        await queue.claim("w", ["fetch"], 1, all_of)
        await stores.later(50)
    await stores.later(700)
    assert await longest_held(store, {}) == {"fetch": 850}
    assert await longest_held(store, {"paused.test": ""}) == {"fetch": 800}
