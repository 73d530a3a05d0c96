"""Looking back in the event log and at what is owed, on every engine."""

import pytest
from sqlalchemy import update

from penstock.events import log as log_module
from penstock.events.log import EventLog
from penstock.events.outbox import Outbox
from penstock.events.ports import Message
from penstock.events.tables import deliveries
from penstock.notify.webhooks import NAME, TOPICS, WebhookSubscription
from penstock.store.store import Store


def messages(number: int, topic: str = "scrape.task.finished") -> list[Message]:
    url = "http://backend.test/hook"
    return [
        Message(f"{topic}-{place}", topic, f"key-{place}", {"callback_url": url})
        for place in range(number)
    ]


async def append(log: EventLog, store: Store, *told: Message) -> None:
    await store.write(lambda unit: log.append(unit, told))


async def test_the_log_is_read_backwards_in_parts(store: Store) -> None:
    log = EventLog(store)
    await append(log, store, *messages(5))

    newest, place = await log.before(None, 2)
    older, further = await log.before(place, 2)
    oldest, end = await log.before(further, 2)

    keys = [event.message.key for event in (*newest, *older, *oldest)]
    assert keys == ["key-4", "key-3", "key-2", "key-1", "key-0"]
    assert end is None


async def test_events_of_one_topic_are_looked_for_in_a_part_of_the_log(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog(store)
    await append(log, store, *messages(1, "rare"), *messages(10, "common"))
    monkeypatch.setattr(log_module, "MOST_LOOKED_THROUGH", 6)

    found, place = await log.before(None, 5, ["rare"])
    assert (found, place is not None) == ([], True)

    found, place = await log.before(place, 5, ["rare"])
    assert [event.message.topic for event in found] == ["rare"]
    assert place is None


async def test_one_event_is_found_by_its_place(store: Store) -> None:
    log = EventLog(store)
    await append(log, store, *messages(1))
    ((event,), _) = await log.before(None, 1)

    assert await log.find(event.seq) == event
    assert await log.find(event.seq + 1) is None


async def test_what_is_parked_is_found_whatever_else_is_in_the_log(store: Store) -> None:
    subscription = WebhookSubscription()
    log, outbox = EventLog(store, [subscription]), Outbox(store, subscription, TOPICS)
    await append(log, store, *messages(3), *messages(20, "other"))
    given_up = update(deliveries).where(deliveries.c.sink == NAME)
    values = {"state": "parked", "error": "no answer", "attempts": 9}
    await store.write(lambda unit: unit.run(given_up.values(values)) and None)

    first = await outbox.owed("parked", limit=2)
    rest = await outbox.owed("parked", first[-1]["seq"], 2)

    assert [each["key"] for each in (*first, *rest)] == ["key-2", "key-1", "key-0"]
    assert {each["error"] for each in first} == {"no answer"}
    assert await outbox.owed("waiting") == []


async def test_sent_ones_are_looked_for_as_far_back_as_is_said(store: Store) -> None:
    log, outbox = EventLog(store), Outbox(store, WebhookSubscription(), TOPICS)
    await append(log, store, *messages(1), *messages(5, "other"))

    assert await outbox.entries("sent", reach=5) == []
    assert [each["key"] for each in await outbox.entries("sent", reach=6)] == ["key-0"]
