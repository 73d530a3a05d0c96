"""Items that are carried out here: beside each other, without a visit, and given back in a stop."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform
from penstock.core.clock import SystemClock
from penstock.core.errors import BlobError
from penstock.kernel.model import Outcome, Page, Request
from penstock.queue.lanes import Lane, Result
from penstock.queue.ports import Bury, Claim, Done, Ending, Item
from penstock.queue.sources import Polling
from penstock.queue.sql import SqlQueue
from penstock.queue.station import LATER, Station, StationSettings
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.platforms import platform, site
from tests.shell import eventually
from tests.stores import Stores, enter_worker, lose_worker, row_of, sqlite_stores, states_of

__all__ = ["platform", "site"]


class Kitchen:
    """A lane whose items are cooked here."""

    name = "kitchen"

    def __init__(self) -> None:
        self.stove: dict[str, asyncio.Event] = {}
        self.begun: list[str] = []
        self.recorded: list[Result] = []
        self.wrong: dict[str, Exception] = {}

    def request(self, claim: Claim) -> Request:
        if "dish" not in claim.payload:
            raise ValueError("a dish is wanted")
        return Request("", id=claim.id)

    async def do(self, claim: Claim) -> Outcome:
        self.begun.append(claim.id)
        if waiting := self.stove.get(claim.id):
            await waiting.wait()
        if error := self.wrong.pop(claim.id, None):
            raise error
        return Outcome(self.request(claim), Page("", 200, {}, b"soup", 0.0), None, ())

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        return Bury(outcome.failure.as_json()) if outcome.failure else Done()

    def content(self, claim: Claim, outcome: Outcome) -> Any:
        return outcome.page.body if outcome.page else None

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        self.recorded += results


class Bench:
    """A station whose only lane is the kitchen."""

    def __init__(self, store: Store, queue: SqlQueue, station: Station, kitchen: Kitchen) -> None:
        self.store, self.queue, self.station, self.kitchen = store, queue, station, kitchen

    async def order(self, number: int, **payload: Any) -> list[str]:
        wanted = payload or {"dish": "soup"}
        ids = [f"{place:032}" for place in range(number)]
        await self.queue.put([Item(each, "kitchen", wanted, "home") for each in ids])
        return ids

    async def states(self, *wanted: str) -> None:
        """Wait until the items are in these states."""
        async with asyncio.timeout(20):
            while sorted((await states_of(self.store)).values()) != sorted(wanted):
                pass


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with sqlite_stores(tmp_path) as stores:
        yield stores


@asynccontextmanager
async def at_work(stores: Stores, platform: Platform) -> AsyncIterator[Bench]:
    clock = SystemClock()
    store = await stores.open(clock)
    await enter_worker(store, "w")
    queue, kitchen = SqlQueue(store, {}), Kitchen()
    lanes: dict[str, Lane] = {"kitchen": kitchen}
    station = Station(
        queue,
        Polling(queue, ["kitchen"], clock, 0.05),
        lanes,
        pipeline=platform.pipeline,
        clock=clock,
        settings=StationSettings(workers=2, capacity=100, claim_at_once=100, grace_seconds=0.2),
    )
    async with asyncio.TaskGroup() as tasks:
        work = tasks.create_task(station.run("w"))
        yield Bench(store, queue, station, kitchen)
        station.stop()
        await work


async def test_they_are_carried_out_beside_each_other(stores: Stores, platform: Platform) -> None:
    async with at_work(stores, platform) as bench:
        kept = bench.kitchen.stove
        ids = [f"{place:032}" for place in range(30)]
        kept |= {each: asyncio.Event() for each in ids[:20]}
        await bench.order(30)
        # More are under way than there are workers for visits.
        await eventually(lambda: len(bench.kitchen.begun) == 30)
        await bench.states(*["claimed"] * 20, *["done"] * 10)
        for event in kept.values():
            event.set()
        await bench.states(*["done"] * 30)
    assert {result.content for result in bench.kitchen.recorded} == {b"soup"}
    assert bench.station.progress.done["kitchen"] == 30


async def test_what_we_lack_at_the_moment_is_no_fault_of_an_item(
    stores: Stores, platform: Platform
) -> None:
    async with at_work(stores, platform) as bench:
        bench.kitchen.wrong[f"{0:032}"] = BlobError("the disk is away")
        [item] = await bench.order(1)
        await eventually(lambda: bench.kitchen.begun == [item])
        await bench.states("waiting")
        row = await row_of(bench.store, item)
    assert row["attempts"] == 0
    assert row["not_before"] - row["enqueued_at"] >= LATER * 1000
    assert bench.kitchen.recorded == []


async def test_a_fault_of_ours_is_what_the_lane_makes_of_it(
    stores: Stores, platform: Platform
) -> None:
    async with at_work(stores, platform) as bench:
        bench.kitchen.wrong[f"{0:032}"] = RuntimeError("burnt")
        await bench.order(2)
        await bench.states("dead", "done")
        row = await row_of(bench.store, f"{0:032}")
    assert row["failure"]["reason"] == "internal_error"
    assert "burnt" in row["failure"]["detail"]


async def test_an_item_that_cannot_be_read_is_not_begun(stores: Stores, platform: Platform) -> None:
    async with at_work(stores, platform) as bench:
        await bench.order(1, drink="tea")
        await bench.states("dead")
    assert bench.kitchen.begun == []


async def test_what_is_not_done_when_we_stop_is_given_back(
    stores: Stores, platform: Platform
) -> None:
    async with at_work(stores, platform) as bench:
        bench.kitchen.stove[f"{0:032}"] = asyncio.Event()
        [item] = await bench.order(1)
        await eventually(lambda: bench.kitchen.begun == [item])
    row = await row_of(bench.store, item)
    assert (row["state"], row["attempts"]) == ("waiting", 0)


async def test_what_became_of_a_claim_that_was_lost_is_of_no_account(
    stores: Stores, platform: Platform
) -> None:
    async with at_work(stores, platform) as bench:
        item = f"{0:032}"
        first, bench.kitchen.wrong[item] = asyncio.Event(), BlobError("the disk is away")
        bench.kitchen.stove[item] = first
        await bench.order(1)
        await eventually(lambda: bench.kitchen.begun == [item])
        await lose_worker(bench.store, "w")
        await bench.queue.rescue()
        await bench.station.forget()
        bench.kitchen.stove[item] = asyncio.Event()
        await enter_worker(bench.store, "w")
        await eventually(lambda: bench.kitchen.begun == [item, item])

        first.set()
        await eventually(lambda: not bench.kitchen.wrong)
        await bench.states("claimed")
        bench.kitchen.stove[item].set()
        await bench.states("done")
    assert (len(bench.kitchen.recorded), len(bench.kitchen.begun)) == (1, 2)
