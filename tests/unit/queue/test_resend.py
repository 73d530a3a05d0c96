"""The resender names what waits and is due, when nobody was told of it or too long ago."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.queue.broker import BrokerSettings, Nudge
from penstock.queue.ports import Bury, Done, Item, Release, Retry
from penstock.queue.resend import GRACE, REST, Resender
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from tests.clocks import HandClock
from tests.stores import (
    all_of,
    enter_worker,
    ids_of,
    lose_worker,
    make_items,
    row_of,
    sqlite_stores,
)
from tests.unit.queue.nudgers import Ear

RESEND = 60.0


@dataclass
class Bench:
    """A queue, its resender, and who hears of it."""

    queue: SqlQueue
    store: Store
    resender: Resender
    ear: Ear
    clock: HandClock

    async def named_after(self, seconds: float) -> list[str]:
        """What is named when some time has passed."""
        self.clock.move(seconds)
        self.ear.forget()
        await self.resender.look()
        return sorted(self.ear.ids)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with sqlite_stores(tmp_path) as stores:
        store, ear, clock = await stores.open(), Ear(), stores.clock
        assert isinstance(clock, HandClock)
        settings = BrokerSettings(resend_seconds=RESEND, resend_batch=100)
        resender = Resender(store, ear, clock, settings, ["fetch", "crawl"])
        yield Bench(SqlQueue(store, {}), store, resender, ear, clock)


async def test_an_item_that_nobody_was_told_of_is_named_after_a_moment(bench: Bench) -> None:
    await bench.queue.put([Item("a", "fetch", {}, traceparent="00-1"), Item("b", "crawl", {})])

    at_once = await bench.named_after(0)
    soon = await bench.named_after(GRACE)

    assert at_once == []
    assert soon == ["a", "b"]
    assert Nudge("fetch", "a", "00-1") in bench.ear.heard


async def test_what_was_named_is_named_again_when_it_still_waits_after_long(bench: Bench) -> None:
    await bench.queue.put(make_items(1))
    first = await bench.named_after(GRACE)

    times = [await bench.named_after(seconds) for seconds in (1, RESEND - 2, 1)]

    assert times == [[], [], first]


async def test_a_delayed_item_is_named_when_it_is_due(bench: Bench) -> None:
    await bench.queue.put(make_items(1, delay=10))

    assert await bench.named_after(9) == []
    assert await bench.named_after(1) == ["fetch--00000"]


@pytest.mark.parametrize("ending", [Retry(10, {}), Release(10)])
async def test_what_waits_again_is_named_when_it_is_due(
    bench: Bench, ending: Retry | Release
) -> None:
    await bench.queue.put(make_items(1))
    await bench.named_after(GRACE)
    claims = await bench.queue.claim_ids("w", ["fetch--00000"])
    await bench.queue.settle([(claim, ending) for claim in claims])

    assert await bench.named_after(9) == []
    assert await bench.named_after(1) == ["fetch--00000"]


async def test_what_a_lost_worker_had_is_named_at_once(bench: Bench) -> None:
    await enter_worker(bench.store, "w")
    await bench.queue.put(make_items(1))
    await bench.named_after(GRACE)
    await bench.queue.claim_ids("w", ["fetch--00000"])
    await lose_worker(bench.store, "w")
    bench.clock.move(1)
    await bench.queue.rescue()

    assert await bench.named_after(0) == ["fetch--00000"]


async def test_what_is_revived_is_named_at_once(bench: Bench) -> None:
    await bench.queue.put(make_items(1))
    await bench.named_after(GRACE)
    (claim,) = await bench.queue.claim_ids("w", ["fetch--00000"])
    await bench.queue.settle([(claim, Bury({}))])
    bench.clock.move(1)
    await bench.queue.revive(lane="fetch")

    assert await bench.named_after(0) == ["fetch--00000"]


async def test_what_is_claimed_or_over_is_not_named(bench: Bench) -> None:
    await bench.queue.put(make_items(3))
    claimed, done, dead = await bench.queue.claim("w", ["fetch"], 3, all_of)
    await bench.queue.settle([(done, Done()), (dead, Bury({}))])

    assert await bench.named_after(RESEND) == []
    assert (await row_of(bench.store, claimed.id))["state"] == "claimed"


async def test_a_long_line_is_named_as_it_moves(bench: Bench) -> None:
    items = make_items(300, group="big.test")
    await bench.queue.put(items)

    first = await bench.named_after(GRACE)
    meanwhile = [await bench.named_after(REST) for _ in range(3)]
    claims = await bench.queue.claim_ids("w", first[:40])
    moved = await bench.named_after(REST)

    assert first == ids_of(items[:100])
    assert meanwhile == [[], [], []]
    assert len(claims) == 40
    assert moved == ids_of(items[100:140])


async def test_a_long_line_is_not_in_the_way_of_others(bench: Bench) -> None:
    await bench.queue.put(make_items(300, group="big.test"))
    small = [item for place in range(9) for item in make_items(1, group=f"small{place}.test")]
    await bench.queue.put(small)

    named = await bench.named_after(GRACE)

    assert set(ids_of(small)) <= set(named)
    assert len(named) == len(small) + 10


async def test_a_line_that_is_parked_is_left_alone(bench: Bench) -> None:
    await bench.queue.put(make_items(5, group="closed.test"))
    (claim,) = await bench.queue.claim_ids("w", ["fetch-closed.test-00000"])
    await bench.queue.settle([(claim, Release(30, park=True))])

    assert await bench.named_after(29) == []
    assert len(await bench.named_after(1)) == 5


async def test_while_the_broker_is_away_nothing_is_taken_for_named(bench: Bench) -> None:
    await bench.queue.put(make_items(2))
    bench.ear.is_ready = False

    away = await bench.named_after(GRACE)
    bench.ear.is_ready = True
    back = await bench.named_after(0)

    assert away == []
    assert back == ["fetch--00000", "fetch--00001"]


async def test_it_looks_again_and_again(bench: Bench) -> None:
    await bench.queue.put(make_items(1, delay=20))
    began = bench.clock.monotonic()

    looking = asyncio.create_task(bench.resender.run())
    await asyncio.wait_for(bench.ear.told.wait(), 20)
    looking.cancel()

    assert bench.ear.ids == ["fetch--00000"]
    assert 20 <= bench.clock.monotonic() - began <= 22
