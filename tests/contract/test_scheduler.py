"""The scheduler and the seat it needs, on both engines; time is the store's or moved by hand."""

import random
from typing import Any

import pytest
from sqlalchemy import update

from penstock.queue.heartbeat import Heartbeat, Pulse
from penstock.queue.ports import LaneLimit, State
from penstock.queue.scheduler import Schedule, Scheduler, Schedules
from penstock.queue.seats import Seat
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import items, schedules
from penstock.queue.timing import Timing
from penstock.queue.upkeep import Upkeep
from penstock.store.store import Store
from tests.clocks import HandClock
from tests.stores import Stores, all_of, enter_worker, lose_worker, rows_of

HOUR = 3600.0


def every(seconds: float, name: str = "s", **traits: Any) -> Schedule:
    payload = {"url": f"http://{name}.test/"}
    return Schedule(name, "fetch", Timing(every=seconds, **traits), payload, f"{name}.test", 5)


class Office:
    """A scheduler with its store; `pass_time` makes every schedule older."""

    def __init__(self, store: Store, limit: int = 1_000_000, retry_after: float = 60.0) -> None:
        self.store = store
        self.clock = HandClock()
        self.queue = SqlQueue(store, {"fetch": LaneLimit(limit, retry_after=retry_after)})
        self.schedules = Schedules(store, random.Random(1))
        heartbeat = self.heartbeat(self.queue)
        seat = Seat(store, heartbeat, "scheduler")
        self.scheduler = Scheduler(store, self.queue.put_in, seat, self.clock, random.Random(1))

    def heartbeat(self, queue: SqlQueue) -> Heartbeat:
        return Heartbeat(
            self.store, queue, self.clock, kind="scheduler", lanes=[], pulse=Pulse(5, 20)
        )

    async def pass_time(self, seconds: float) -> None:
        earlier = schedules.c.next_at - int(seconds * 1000)
        statement = update(schedules).values(next_at=earlier)
        await self.store.write(lambda unit: unit.run(statement) and None)


async def test_due_schedules_are_put_once_and_come_again(stores: Stores) -> None:
    office = Office(await stores.open())
    await office.schedules.add(every(60))
    assert not await office.scheduler.tick()
    assert await rows_of(office.store, items) == []
    await office.pass_time(61)
    await office.scheduler.tick()
    await office.scheduler.tick()
    assert len(await rows_of(office.store, items)) == 1
    await office.pass_time(62)
    await office.scheduler.tick()
    found = await rows_of(office.store, items)
    assert len(found) == 2
    assert {row["payload"]["url"] for row in found} == {"http://s.test/"}
    assert all(row["traceparent"] for row in found)


async def test_a_long_stop_gives_one_run_each_and_not_all_at_once(stores: Stores) -> None:
    office = Office(await stores.open())
    for number in range(40):
        await office.schedules.add(every(HOUR, f"s{number}"))
    await office.pass_time(50 * HOUR)
    await office.scheduler.tick()
    found = await rows_of(office.store, items)
    assert len(found) == 40
    delays = sorted((row["not_before"] - row["enqueued_at"]) / 1000 for row in found)
    assert delays[0] < 600
    assert 1800 < delays[-1] <= HOUR
    claimed = await office.queue.claim("w", ["fetch"], 100, all_of)
    assert len(claimed) < 10


async def test_rejected_schedules_stay_due_and_the_scheduler_backs_off(stores: Stores) -> None:
    office = Office(await stores.open(), limit=1)
    for number in range(10):
        await office.schedules.add(every(HOUR, f"s{number}"))
    await office.pass_time(HOUR + 1)
    pauses = []
    for _ in range(9):
        await office.scheduler.tick()
        pauses.append(office.scheduler.backoff_until - office.clock.monotonic())
        assert not await office.scheduler.tick(), "it does not even look while it pauses"
        office.clock.move(pauses[-1])
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert len(await rows_of(office.store, items)) == 1
    await Upkeep(office.store).purge([State.WAITING])
    await office.scheduler.tick()
    assert len(await rows_of(office.store, items)) == 1, "one more, as soon as there is room"


async def test_an_alert_is_raised_when_the_queue_stays_full(
    in_sqlite: Stores, capsys: pytest.CaptureFixture[str]
) -> None:
    office = Office(await in_sqlite.open(), limit=1)
    for number in range(4):
        await office.schedules.add(every(HOUR, f"s{number}"))
    await office.pass_time(HOUR + 1)
    said = []
    for _ in range(7):
        await office.scheduler.tick()
        office.clock.move(office.scheduler.backoff_until - office.clock.monotonic())
        said.append("ALERT" in "".join(capsys.readouterr()))
    assert said[0] is False
    assert said[-1] is True


async def test_a_schedule_can_be_changed_and_removed(stores: Stores) -> None:
    office = Office(await stores.open())
    await office.schedules.add(every(60))
    await office.schedules.add(every(HOUR))
    (only,) = await office.schedules.all()
    assert only["timing"] == {"every": HOUR, "zone": "UTC"}
    assert await office.schedules.remove("s")
    assert not await office.schedules.remove("s")


async def test_a_seat_has_one_holder_and_falls_free_with_it(stores: Stores) -> None:
    office = Office(await stores.open())
    first, second = office.heartbeat(office.queue), office.heartbeat(office.queue)
    await enter_worker(office.store, first.id)
    await enter_worker(office.store, second.id)
    ours, theirs = Seat(office.store, first, "one"), Seat(office.store, second, "one")
    assert await ours.is_ours()
    assert not await theirs.is_ours()
    assert await Seat(office.store, second, "another").is_ours()
    await lose_worker(office.store, first.id)
    assert await theirs.is_ours()
    assert not await ours.is_ours()
