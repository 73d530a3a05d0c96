"""Deliveries to a sink with many receivers: apart from each other, patient, parked in the end."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import update

from penstock.events.dispatch import Dispatcher, Dispatching
from penstock.events.log import EventLog
from penstock.events.outbox import Outbox
from penstock.events.ports import Event, Message
from penstock.events.tables import deliveries
from penstock.store.store import Store
from tests.clocks import HandClock
from tests.shell import eventually
from tests.stores import Stores, lose_next_commit, rows_of

PAUSES = (2.0, 4.0, 8.0)


class Receivers:
    """A sink whose receivers refuse, or do not answer until they are let go."""

    name = "receivers"

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.tried: list[str] = []
        self.refuses: set[str] = set()
        self.slow: dict[str, asyncio.Event] = {}
        self.in_hand = 0
        self.most_in_hand = 0

    def wants(self, topic: str) -> bool:
        return topic == "t"

    def line_of(self, message: Message) -> str | None:
        receiver: str | None = message.data["to"]
        return receiver

    async def deliver(self, events: Sequence[Event]) -> None:
        (event,) = events
        self.tried.append(event.message.id)
        self.in_hand += 1
        self.most_in_hand = max(self.most_in_hand, self.in_hand)
        try:
            if gate := self.slow.get(event.message.data["to"]):
                await gate.wait()
        finally:
            self.in_hand -= 1
        if event.message.id in self.refuses:
            raise ConnectionError("nobody there")
        self.heard.append(event.message.id)


class Office:
    """A log, receivers and the dispatcher between them."""

    def __init__(self, store: Store, at_once: int = 16, per_line: int = 2) -> None:
        self.store = store
        self.receivers = Receivers()
        self.log = EventLog(store, [self.receivers])
        self.dispatcher = Dispatcher(
            store, self.receivers, Dispatching(PAUSES, at_once, per_line), random.Random(1)
        )
        self.outbox = Outbox(store, self.receivers, ["t"])

    async def announce(self, *ids: str, to: str | None = "a") -> None:
        messages = [Message(each, "t", each, {"to": to}) for each in ids]
        await self.store.write(lambda unit: self.log.append(unit, messages))

    async def wait(self) -> None:
        statement = update(deliveries).values(next_at=0)
        await self.store.write(lambda unit: unit.run(statement) and None)


async def test_everything_is_delivered_once_and_then_owed_no_more(stores: Stores) -> None:
    office = Office(await stores.open())
    await office.announce("1", "2", to="a")
    await office.announce("3", to="b")
    await office.announce("nobody's", to=None)

    assert await office.dispatcher.deliver_due() == 3
    assert await office.dispatcher.deliver_due() == 0

    assert sorted(office.receivers.heard) == ["1", "2", "3"]
    assert await rows_of(office.store, deliveries) == []


async def test_a_slow_receiver_delays_no_other(stores: Stores) -> None:
    office = Office(await stores.open(), at_once=8, per_line=2)
    office.receivers.slow["slow"] = asyncio.Event()
    await office.announce(*(f"s{n}" for n in range(20)), to="slow")
    await office.announce(*(f"q{n}" for n in range(20)), to="quick")
    clock = EagerClock()

    running = asyncio.create_task(office.dispatcher.run(always, clock))
    await eventually(lambda: len(office.receivers.heard) == 20)
    assert {each[0] for each in office.receivers.heard} == {"q"}
    await office.announce("late", to="another")
    await eventually(lambda: "late" in office.receivers.heard)
    assert sum(each.startswith("s") for each in office.receivers.tried) == 2

    office.receivers.slow["slow"].set()
    await eventually(lambda: len(office.receivers.heard) == 41)
    await settled(office)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert len(set(office.receivers.heard)) == 41
    assert office.receivers.most_in_hand <= 8


async def test_what_fails_holds_up_nothing_else_of_its_receiver(stores: Stores) -> None:
    office = Office(await stores.open())
    office.receivers.refuses = {"1"}
    await office.announce("1", "2", "3", to="a")

    for _ in range(3):
        await office.dispatcher.deliver_due()

    assert sorted(office.receivers.heard) == ["2", "3"]
    assert office.receivers.tried.count("1") == 1


async def test_retries_come_after_the_pauses_of_the_sink_and_then_it_is_parked(
    in_sqlite: Stores,
) -> None:
    office = Office(await in_sqlite.open())
    office.receivers.refuses = {"1"}
    await office.announce("1")
    clock = in_sqlite.clock
    assert isinstance(clock, HandClock)

    for pause in PAUSES:
        await office.dispatcher.deliver_due()
        tried = len(office.receivers.tried)
        clock.move(pause - 0.01)
        await office.dispatcher.deliver_due()
        assert len(office.receivers.tried) == tried, "not before its time"
        clock.move(pause * 0.1 + 0.02)
    await office.dispatcher.deliver_due()

    assert len(office.receivers.tried) == 4
    (entry,) = await office.outbox.entries("parked")
    assert (entry["id"], entry["attempts"]) == ("1", 4)
    assert "nobody there" in entry["error"]
    clock.move(3600)
    assert await office.dispatcher.deliver_due() == 0


async def test_what_is_taken_while_somebody_looks_is_not_due(
    in_sqlite: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    office, gate = Office(await in_sqlite.open()), asyncio.Event()
    loop, look = asyncio.get_running_loop(), office.dispatcher._due_in
    office.receivers.slow["a"] = gate
    await office.announce("1")
    delivery = asyncio.create_task(office.dispatcher.deliver_due())
    await eventually(lambda: office.receivers.tried == ["1"])

    def look_late(*arguments: Any) -> Any:
        """It is delivered when the line was found and before its events are read."""
        loop.call_soon_threadsafe(gate.set)
        asyncio.run_coroutine_threadsafe(asyncio.wait({delivery}), loop).result(20)
        return look(*arguments)

    monkeypatch.setattr(office.dispatcher, "_due_in", look_late)
    await office.dispatcher.deliver_due()

    assert office.receivers.heard == ["1"]


async def test_a_crash_before_the_commit_means_the_same_again(stores: Stores) -> None:
    office = Office(await stores.open())
    office.receivers.slow["a"] = asyncio.Event()
    await office.announce("1")
    lost = asyncio.create_task(office.dispatcher.deliver_due())
    await eventually(lambda: office.receivers.in_hand == 1)
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)
    office.receivers.slow.clear()

    assert await office.dispatcher.deliver_due() == 1
    assert office.receivers.tried == ["1", "1"]


async def test_a_commit_whose_answer_is_lost_is_no_second_delivery(stores: Stores) -> None:
    office = Office(await stores.open())
    await office.announce("1")
    lose_next_commit(office.store)

    await office.dispatcher.deliver_due()
    await office.dispatcher.deliver_due()

    assert office.receivers.tried == ["1"]


async def test_anything_can_be_sent_again(stores: Stores) -> None:
    office = Office(await stores.open())
    office.receivers.refuses = {"2"}
    await office.announce("1", "2")
    await office.announce("nobody's", to=None)
    for _ in range(4):
        await office.wait()
        await office.dispatcher.deliver_due()
    assert [entry["state"] for entry in await office.outbox.entries()] == ["parked", "sent"]

    office.receivers.refuses = set()
    assert await office.outbox.resend(["1", "nobody's", "unknown"]) == 1
    assert await office.outbox.resend_parked() == 1
    assert [entry["state"] for entry in await office.outbox.entries()] == ["waiting", "waiting"]
    assert await office.dispatcher.deliver_due() == 2

    assert sorted(office.receivers.heard) == ["1", "1", "2"]
    assert {entry["state"] for entry in await office.outbox.entries()} == {"sent"}


async def test_one_that_waits_is_sent_at_once_when_somebody_says_so(stores: Stores) -> None:
    office = Office(await stores.open())
    office.receivers.refuses = {"1"}
    await office.announce("1")
    await office.dispatcher.deliver_due()
    office.receivers.refuses = set()

    assert await office.dispatcher.deliver_due() == 0
    assert await office.outbox.resend(["1"]) == 1
    assert await office.dispatcher.deliver_due() == 1


async def test_the_outbox_shows_the_newest_first_however_many_are_nobodys(stores: Stores) -> None:
    office = Office(await stores.open())
    await office.announce("old")
    await office.announce(*(f"n{n}" for n in range(450)), to=None)
    await office.announce("new")

    assert [entry["id"] for entry in await office.outbox.entries()] == ["new", "old"]
    assert [entry["id"] for entry in await office.outbox.entries(limit=1)] == ["new"]


class EagerClock(HandClock):
    """Lets others work instead of sleeping."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0.001)


async def always() -> bool:
    return True


async def settled(office: Office) -> None:
    async with asyncio.timeout(20):
        while True:
            if not await rows_of(office.store, deliveries):
                return
            await asyncio.sleep(0.001)
