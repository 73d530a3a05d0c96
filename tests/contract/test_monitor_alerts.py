"""Ops alerts: told once as long as they last, and again when they are news."""

import random
from typing import Any

import pytest
from sqlalchemy import update

from penstock.events.log import EventLog
from penstock.events.relay import Relay
from penstock.events.tables import deliveries
from penstock.notify.alerts import AlertChannel
from penstock.notify.ops import OpsAlert, OpsAlerts, resolve
from penstock.notify.tables import ops_alerts
from penstock.notify.topics import OPS_ALERT
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.alerts import ALL, AlertUpkeep, Kind, long_pause, rejection
from penstock.workloads.monitor.model import DAY_MS
from penstock.workloads.monitor.tables import scrape_adapter_status
from penstock.workloads.monitor.told import Told, Wanted
from tests.stores import Stores, rows_of
from tests.unit.products.offers import open_shop
from tests.unit.workloads.monitor.watched import add_status, add_target

FAILURES = OpsAlert("high_failure_rate", "product@shop", "P2", "60% of 20 pages")
DISABLED = OpsAlert("adapter_disabled", "product@shop", "P1", "two bad batches")


class Office:
    """Alerts over one store."""

    def __init__(self, store: Store, webhook_url: str = "") -> None:
        self.store = store
        self.log = EventLog(store)
        self.alerts = OpsAlerts(self.log, webhook_url)
        self.upkeep = AlertUpkeep(store, self.alerts, most_stale=2)

    async def tell(self, *alerts: OpsAlert) -> None:
        await self.store.write(lambda unit: self.alerts.tell(unit, alerts))

    async def told(self) -> list[dict[str, Any]]:
        return [dict(event.message.data) for event in await self.log.read(topics=[OPS_ALERT])]

    async def grow_older(self, ms: int) -> None:
        columns = ops_alerts.c
        older = {"first_at": columns.first_at - ms, "last_at": columns.last_at - ms}
        await self.store.write(lambda unit: unit.run(update(ops_alerts).values(older)) and None)

    async def open_kinds(self) -> set[str]:
        rows = await Told(self.store).list(Wanted(), is_open=True)
        return {row["kind"] for row in rows}


@pytest.fixture
async def office(stores: Stores) -> Office:
    return Office(await stores.open(), "https://ops.example/hook")


async def test_alert_that_lasts_is_told_once_and_counted(office: Office) -> None:
    for _ in range(3):
        await office.tell(FAILURES)

    (told,) = await office.told()
    (row,) = await rows_of(office.store, ops_alerts)
    assert (told["kind"], told["severity"], told["subject"]) == (
        "high_failure_rate",
        "P2",
        "product@shop",
    )
    assert told["callback_url"] == "https://ops.example/hook"
    assert row["count"] == 3


async def test_alert_is_told_again_after_a_day(office: Office) -> None:
    await office.tell(FAILURES)
    await office.grow_older(DAY_MS - 60_000)
    await office.tell(FAILURES)
    assert len(await office.told()) == 1

    await office.grow_older(120_000)
    await office.tell(FAILURES)
    await office.tell(FAILURES)

    assert [each["count"] for each in await office.told()] == [1, 3]


async def test_alert_that_was_resolved_is_news_when_it_comes_back(office: Office) -> None:
    await office.tell(FAILURES)
    assert await office.store.write(lambda unit: resolve(unit, FAILURES.kind, FAILURES.subject))

    await office.tell(FAILURES)

    assert len(await office.told()) == 2
    assert len(await rows_of(office.store, ops_alerts)) == 2


async def test_alerts_on_other_subjects_are_apart(office: Office) -> None:
    await office.tell(FAILURES, OpsAlert(FAILURES.kind, "product@other", "P2", "70%"))

    assert {each["subject"] for each in await office.told()} == {"product@shop", "product@other"}


async def test_disabled_adapter_is_an_alert_until_it_reads_again(office: Office) -> None:
    await office.store.write(lambda unit: add_status(unit, open_shop(unit), enabled=False))
    await office.tell(DISABLED)
    await office.grow_older(3 * DAY_MS)
    assert await office.upkeep.look() == 0

    enabled = update(scrape_adapter_status).values(enabled=True)
    await office.store.write(lambda unit: unit.run(enabled) and None)

    assert await office.upkeep.look() == 1
    assert await office.open_kinds() == set()


async def test_alert_that_nothing_raises_for_a_day_is_over(office: Office) -> None:
    await office.tell(FAILURES)
    assert await office.upkeep.look() == 0

    await office.grow_older(DAY_MS + 60_000)

    assert await office.upkeep.look() == 1


async def test_alert_reaches_the_channels_that_are_set_up(stores: Stores) -> None:
    store, sent = await stores.open(), []
    refusals = [True]

    def send(title: str, body: str, kind: str) -> bool:
        sent.append((title, body, kind))
        return not (refusals and refusals.pop())

    channel = AlertChannel("alerts 1 json", send, "P2", 5.0)
    log = EventLog(store, [channel])
    relay = Relay(store, channel, max_attempts=5, chance=random.Random(1))
    minor = OpsAlert("stale_targets", ALL, "P3", "too many")
    await store.write(lambda unit: OpsAlerts(log).tell(unit, [DISABLED, minor]))

    assert await relay.deliver_due() == 0
    again = update(deliveries).values(next_at=0)
    await store.write(lambda unit: unit.run(again) and None)
    assert await relay.deliver_due() == 1

    assert (
        sent == [("Penstock P1: adapter disabled", "product@shop: two bad batches", "failure")] * 2
    )


async def test_stale_targets_are_told_of_while_there_are_many(office: Office) -> None:
    def add(unit: Unit) -> None:
        shop = open_shop(unit)
        for name in ("t1", "t2", "t3"):
            add_target(unit, shop, name, status="STALE")

    await office.store.write(add)
    await office.upkeep.look()

    (told,) = await office.told()
    assert (told["kind"], told["severity"], told["subject"]) == (Kind.STALE_TARGETS, "P3", ALL)

    office.upkeep = AlertUpkeep(office.store, office.alerts, most_stale=3)
    await office.upkeep.look()
    assert await office.open_kinds() == set()


async def test_rejections_and_a_long_pause_are_told_once_as_long_as_they_last(
    office: Office,
) -> None:
    for _ in range(5):
        await office.tell(rejection("queue_full", 100), long_pause(1800))

    rejected, paused = await office.told()
    assert (rejected["kind"], rejected["severity"]) == ("queue_rejections", "P2")
    assert "100 targets" in rejected["message"]
    assert (paused["kind"], paused["subject"]) == ("scheduler_paused", ALL)
    assert "30 minutes" in paused["message"]
