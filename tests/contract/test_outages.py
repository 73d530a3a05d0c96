"""Outages are noted in the store: by whoever sees them, and for who comes later."""

import asyncio

from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.circuits import Circuits, RuleSet
from penstock.kernel.model import Pass
from penstock.kernel.settings import BreakerSettings
from penstock.store import outages
from penstock.store.outages import Outages
from penstock.store.store import Store
from tests.clocks import HandClock
from tests.stores import Stores, rows_of

STREAM = "stream"


class Process:
    """A process with circuits of its own."""

    def __init__(self, store: Store) -> None:
        self.clock = HandClock()
        self.breaker = MemoryBreaker(BreakerSettings(), self.clock)
        self.circuits = Circuits(
            RuleSet("default", MemoryBreaker(BreakerSettings(), self.clock)),
            {"stream": RuleSet(STREAM, self.breaker)},
        )
        self.outages = Outages(store, self.circuits, self.clock)

    async def lose(self, domain: str) -> None:
        for _ in range(50):
            leave = await self.breaker.enter(domain)
            if isinstance(leave, Pass):
                await self.breaker.report(leave, well=False)
        await self.outages.look()

    async def find(self, domain: str) -> None:
        self.breaker.close(domain)
        await self.outages.look()

    async def look_later(self, stores: Stores, seconds: float) -> None:
        """Time passes, for the store too, and the process looks again."""
        await pass_time(stores, seconds)
        self.clock.move(seconds)
        await self.outages.look()


async def pass_time(stores: Stores, seconds: float) -> None:
    """As `Stores.later`, of outages."""
    if isinstance(stores.clock, HandClock):
        stores.clock.move(seconds)
        return
    its, ms = outages.outages.c, int(seconds * 1000)
    older = outages.outages.update().values(began_at=its.began_at - ms, seen_at=its.seen_at - ms)
    store = await stores.open()
    await store.write(lambda unit: unit.run(older) and None)


async def test_outage_lasts_from_when_a_circuit_opens_until_it_closes(stores: Stores) -> None:
    process = Process(await stores.open())
    await process.lose("down.test")

    (outage,) = await process.outages.open(STREAM)
    assert (outage.domain, outage.state, outage.ended_at) == ("down.test", "open", None)
    assert outage.failures > 0
    assert await process.outages.open("default") == []
    assert await process.outages.over(STREAM, 10) == []

    await process.look_later(stores, 20)
    await process.find("down.test")

    assert await process.outages.open() == []
    (over,) = await process.outages.over(STREAM, 10)
    assert over.state == "closed"
    assert over.ended_at is not None
    assert 20_000 <= over.ended_at - over.began_at < 25_000


async def test_outage_of_another_process_is_seen_and_not_ended(stores: Stores) -> None:
    worker, console = Process(await stores.open()), Process(await stores.open())
    await worker.lose("down.test")

    await console.outages.look()
    await console.outages.look()

    assert [each.domain for each in await console.outages.open()] == ["down.test"]


async def test_outage_that_several_processes_see_is_one(stores: Stores) -> None:
    processes = [Process(await stores.open()) for _ in range(3)]
    await asyncio.gather(*(process.lose("down.test") for process in processes))

    assert len(await processes[0].outages.open()) == 1

    for process in processes:
        await process.find("down.test")

    assert await processes[0].outages.open() == []
    assert len(await processes[0].outages.over(None, 10)) == 1


async def test_outage_is_remembered_when_its_process_is_gone_and_over(stores: Stores) -> None:
    await Process(await stores.open()).lose("down.test")
    await pass_time(stores, 60)

    restarted = Process(await stores.open())
    assert await restarted.outages.open() == []
    assert [each.domain for each in await restarted.outages.over(STREAM, 10)] == ["down.test"]

    await restarted.lose("down.test")

    assert len(await restarted.outages.open()) == 1
    assert len(await restarted.outages.over(STREAM, 10)) == 1


async def test_outage_goes_on_as_long_as_somebody_sees_it(stores: Stores) -> None:
    process = Process(await stores.open())
    await process.lose("down.test")
    for _ in range(4):
        await process.look_later(stores, 20)

    (outage,) = await process.outages.open()
    assert await process.outages.over(None, 10) == []
    (row,) = await rows_of(await stores.open(), outages.outages)
    assert row["seen_at"] - row["began_at"] >= 80_000
    assert outage.began_at == row["began_at"]


async def test_outages_of_long_ago_are_forgotten(stores: Stores) -> None:
    process = Process(await stores.open())
    await process.lose("old.test")
    await process.find("old.test")
    await pass_time(stores, 31 * 86_400)

    await process.lose("new.test")

    assert [row["domain"] for row in await rows_of(await stores.open(), outages.outages)] == [
        "new.test"
    ]
