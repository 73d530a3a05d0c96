"""The store's events in a real Kafka: at least once, in order per key, with their ids."""

import random
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from sqlalchemy import update

from penstock.events.kafka import KafkaSink, open_publisher
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.events.relay import Deliveries, Relay
from penstock.events.tables import deliveries
from penstock.store.store import Store
from tests.kafka_server import Kept, PrivateKafka, new_topic, read
from tests.stores import Stores, rows_of

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Post:
    """A log, Kafka and the relay between them; topics are made with the prefix before them."""

    def __init__(self, store: Store, sink: KafkaSink) -> None:
        self.store = store
        self.log = EventLog(store, [sink])
        self.relay = Relay(store, sink, max_attempts=5, chance=random.Random(1))

    async def announce(self, topic: str, key: str, *ids: str) -> None:
        messages = [Message(each, topic, key, {"n": each}, TRACE) for each in ids]
        await self.store.write(lambda unit: self.log.append(unit, messages))

    async def no_pause(self) -> None:
        statement = update(deliveries).values(next_at=0)
        await self.store.write(lambda unit: unit.run(statement) and None)


@pytest.fixture
async def post(in_sqlite: Stores, kafka: str) -> AsyncIterator[Post]:
    async with open_publisher(kafka) as publisher:
        yield Post(await in_sqlite.open(), KafkaSink(publisher, prefix="test-"))


def data_in(kept: list[Kept]) -> list[Any]:
    return [orjson.loads(each.value)["data"]["n"] for each in kept]


async def test_an_event_becomes_a_message_with_its_id(post: Post, kafka: str) -> None:
    topic = await new_topic(kafka)
    await post.announce(topic.removeprefix("test-"), "schlüssel", "a")

    assert await post.relay.deliver_due() == 1

    (event,) = await post.log.read()
    (kept,) = await read(kafka, topic)
    assert kept.key == "schlüssel".encode()
    assert orjson.loads(kept.value) == event.as_json()
    assert dict(kept.headers) == {"id": b"a", "traceparent": TRACE.encode()}
    assert await rows_of(post.store, deliveries) == []


async def test_events_of_a_key_stand_in_their_order(post: Post, kafka: str) -> None:
    topic = await new_topic(kafka)
    ids = {key: [f"{key}{number}" for number in range(50)] for key in "xyz"}
    for number in range(50):
        for key in ids:
            await post.announce(topic.removeprefix("test-"), key, ids[key][number])

    while await post.relay.deliver_due():
        pass

    kept = await read(kafka, topic)
    for key, wanted in ids.items():
        assert data_in([each for each in kept if each.key == key.encode()]) == wanted


async def test_events_wait_for_a_broker_that_is_away(
    in_sqlite: Stores, own_kafka: PrivateKafka
) -> None:
    topic = await new_topic(own_kafka.url)
    async with open_publisher(own_kafka.url, patience=0.5) as publisher:
        post = Post(await in_sqlite.open(), KafkaSink(publisher))
        await post.announce(topic, "k", "a", "b", "c")
        own_kafka.kill()

        assert await post.relay.deliver_due() == 0
        assert [row["events"] for row in await Deliveries(post.store).counts()] == [3]
        own_kafka.start()
        await post.no_pause()
        while await rows_of(post.store, deliveries):
            await post.relay.deliver_due()
            await post.no_pause()

    assert list(dict.fromkeys(data_in(await read(own_kafka.url, topic)))) == ["a", "b", "c"]
