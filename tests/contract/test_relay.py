"""Deliveries to a sink: at least once, in order per key, patient, and parked in the end."""

import random
from collections.abc import Sequence

import pytest
from sqlalchemy import update

from penstock.core.errors import SettingsError
from penstock.events.log import EventLog
from penstock.events.ports import Event, Message
from penstock.events.relay import Deliveries, Relay
from penstock.events.tables import deliveries
from penstock.store.store import Store
from tests.stores import Stores, rows_of


class Listener:
    """A sink that refuses what it is told to refuse."""

    name = "listener"

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.refuses: set[str] = set()

    def wants(self, topic: str) -> bool:
        return topic != "private"

    def line_of(self, message: Message) -> str:
        return message.key

    async def deliver(self, events: Sequence[Event]) -> None:
        if any(event.message.id in self.refuses for event in events):
            raise ConnectionError("nobody there")
        self.heard += [event.message.id for event in events]


class Post:
    """A log, a listener and the relay between them."""

    def __init__(self, store: Store, attempts: int = 3) -> None:
        self.store = store
        self.listener = Listener()
        self.log = EventLog(store, [self.listener])
        self.relay = Relay(store, self.listener, max_attempts=attempts, chance=random.Random(1))

    async def announce(self, *ids: str, key: str = "k", topic: str = "t") -> None:
        messages = [Message(each, topic, key, {"n": each}) for each in ids]
        await self.store.write(lambda unit: self.log.append(unit, messages))

    async def wait(self) -> None:
        statement = update(deliveries).values(next_at=0)
        await self.store.write(lambda unit: unit.run(statement) and None)


async def test_events_are_delivered_in_order_and_then_owed_no_more(stores: Stores) -> None:
    post = Post(await stores.open())
    await post.announce("a", "b", "c")
    await post.announce("secret", topic="private")
    assert await post.relay.deliver_due() == 3
    assert post.listener.heard == ["a", "b", "c"]
    assert await post.relay.deliver_due() == 0
    assert await rows_of(post.store, deliveries) == []


async def test_an_event_written_twice_is_one_event(stores: Stores) -> None:
    post = Post(await stores.open())
    await post.announce("a")
    await post.relay.deliver_due()
    await post.announce("b")
    await post.announce("b")
    await post.relay.deliver_due()
    assert post.listener.heard == ["a", "b"]
    assert [event.message.id for event in await post.log.read()] == ["a", "b"]


async def test_a_refused_event_holds_up_its_own_key_only(stores: Stores) -> None:
    post = Post(await stores.open())
    post.listener.refuses = {"b"}
    await post.announce("a", "b", "c", key="slow")
    await post.announce("x", "y", key="quick")
    for _ in range(4):
        await post.relay.deliver_due()
    assert sorted(post.listener.heard) == ["a", "x", "y"]
    post.listener.refuses = set()
    await post.wait()
    await post.relay.deliver_due()
    assert [each for each in post.listener.heard if each in "abc"] == ["a", "b", "c"]


async def test_what_keeps_failing_is_parked_shown_and_tried_again_on_demand(
    stores: Stores,
) -> None:
    post = Post(await stores.open(), attempts=3)
    post.listener.refuses = {"a"}
    await post.announce("a", "b")
    for _ in range(3):
        await post.wait()
        await post.relay.deliver_due()
    (parked,) = await Deliveries(post.store).parked()
    assert (parked["attempts"], "nobody there" in parked["error"]) == (3, True)
    await post.relay.deliver_due()
    assert post.listener.heard == ["b"], "what was parked makes way"
    post.listener.refuses = set()
    assert await Deliveries(post.store).retry_parked() == 1
    await post.relay.deliver_due()
    assert post.listener.heard == ["b", "a"]


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (SettingsError("the webhook has no address"), "the webhook has no address"),
        (KeyError("address"), "KeyError('address')"),
    ],
)
async def test_a_parked_event_shows_a_sentence_of_ours_or_the_kind_of_what_is_not_ours(
    stores: Stores, error: Exception, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_events: Sequence[Event]) -> None:
        raise error

    post = Post(await stores.open(), attempts=1)
    monkeypatch.setattr(post.listener, "deliver", fail)
    await post.announce("a")
    await post.relay.deliver_due()
    assert [each["error"] for each in await Deliveries(post.store).parked()] == [shown]


async def test_old_events_are_forgotten_unless_they_are_owed(stores: Stores) -> None:
    post = Post(await stores.open())
    await post.announce("a")
    await post.relay.deliver_due()
    await post.announce("b")
    assert await post.log.forget(older_than=-1) == 1
    assert [event.message.id for event in await post.log.read()] == ["b"]


async def test_what_is_owed_is_counted_per_sink_and_no_further_than_wanted(stores: Stores) -> None:
    store = await stores.open()
    owed = [("b", "waiting", 5), ("a", "parked", 3), ("a", "waiting", 1)]
    rows = [
        {"sink": sink, "seq": seq, "key": "k", "state": state, "attempts": 0, "next_at": 0}
        for place, (sink, state, number) in enumerate(owed)
        for seq in range(place * 100, place * 100 + number)
    ]
    await store.write(lambda unit: unit.insert_all(deliveries, rows))

    counted = [tuple(row.values()) for row in await Deliveries(store).counts()]
    some = [tuple(row.values()) for row in await Deliveries(store).counts(2)]

    assert counted == [("a", "parked", 3), ("a", "waiting", 1), ("b", "waiting", 5)]
    assert some == [("a", "parked", 3), ("a", "waiting", 1), ("b", "waiting", 3)]
