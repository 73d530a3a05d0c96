"""Messages to a real Kafka: confirmed means kept, whatever befalls the broker."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

import pytest

from penstock.core.errors import EventRefused, EventsLost, PenstockError, SettingsError
from penstock.events.kafka import KafkaPublisher, create_topic, open_publisher
from penstock.events.kafka.producers import Record
from tests.kafka_server import PrivateKafka, new_topic, plays, read, unused_name
from tools.provision.processes import free_port

SMALL = {"max_message_bytes": "10000"}


@pytest.fixture
def broker(own_kafka: PrivateKafka) -> Iterator[PrivateKafka]:
    """A broker that may be killed; it runs again when the test is over."""
    yield own_kafka
    own_kafka.thaw()
    if not own_kafka.processes():
        own_kafka.start()


async def publish_all(
    publisher: KafkaPublisher, topic: str, values: Sequence[bytes]
) -> list[PenstockError | None]:
    """Publish everything at once; for each what went wrong, if something did."""

    async def one(value: bytes) -> PenstockError | None:
        try:
            await publisher.publish(topic, value[:4], value)
        except PenstockError as error:
            return error
        return None

    return await asyncio.gather(*map(one, values))


def numbers(count: int) -> list[bytes]:
    return [str(number).encode() for number in range(count)]


async def test_a_published_message_is_kept_byte_for_byte(kafka: str) -> None:
    topic = await new_topic(kafka)
    key, value = bytes(range(256)), b"\0\xff\xfe" * 1000
    headers = [("id", b"\0\xff"), ("id", b"again")]

    async with open_publisher(kafka) as publisher:
        await publisher.publish(topic, key, value, headers)

    (kept,) = await read(kafka, topic)
    assert (kept.key, kept.value, list(kept.headers)) == (key, value, headers)


async def test_messages_of_one_key_stand_in_their_order(kafka: str) -> None:
    topic = await new_topic(kafka)
    keys = [b"a", b"b", b"c", b"d"]
    records = [Record(keys[number % 4], str(number).encode()) for number in range(400)]

    async with open_publisher(kafka) as publisher:
        await publisher.publish_in_order(topic, records)

    kept = await read(kafka, topic)
    for key in keys:
        found = [int(each.value) for each in kept if each.key == key]
        assert found == sorted(found)
        assert len(found) == 100


async def test_callers_at_the_same_time_travel_together(kafka: str) -> None:
    topic = await new_topic(kafka, partitions=1)

    async with open_publisher(kafka) as publisher:
        await publisher.publish(topic, b"", b"first")
        began = time.monotonic()
        assert not any(await publish_all(publisher, topic, numbers(5000)))
        together = time.monotonic() - began

    assert len(await read(kafka, topic)) == 5001
    assert together < 5000 * 0.001, "each on its own would wait for others, and for an answer"


async def test_a_message_that_is_too_large_is_refused_and_troubles_no_other(kafka: str) -> None:
    _require_admin()
    topic = await new_topic(kafka, partitions=1, **SMALL)
    values = [*numbers(20), b"x" * 50_000, *numbers(20)]

    async with open_publisher(kafka) as publisher:
        ends = await publish_all(publisher, topic, values)
        assert not any(await publish_all(publisher, topic, [b"afterwards"]))

    refused = [value for value, end in zip(values, ends, strict=True) if end]
    assert [len(value) for value in refused] == [50_000]
    assert isinstance(ends[20], EventRefused)
    assert {each.value for each in await read(kafka, topic)} == {*numbers(20), b"afterwards"}


async def test_many_small_messages_go_where_one_large_may_not(kafka: str) -> None:
    _require_admin()
    topic = await new_topic(kafka, partitions=1, **SMALL)
    values = [bytes([65 + number]) * 1000 for number in range(40)]

    async with open_publisher(kafka) as publisher:
        assert not any(await publish_all(publisher, topic, values))

    assert {each.value for each in await read(kafka, topic)} == set(values)


async def test_what_is_larger_than_any_broker_takes_is_refused(kafka: str) -> None:
    topic = await new_topic(kafka)
    async with open_publisher(kafka) as publisher:
        with pytest.raises(EventRefused, match="refused"):
            await publisher.publish(topic, b"k", bytes(17 * 1024 * 1024))


async def test_a_topic_that_is_not_there_is_named_as_the_trouble_until_it_is(kafka: str) -> None:
    _require_admin()
    topic = unused_name()
    async with open_publisher(kafka, patience=6.0) as publisher:
        with pytest.raises(EventsLost, match="create it"):
            await publisher.publish(topic, b"k", b"v")
        assert publisher.trouble
        assert "create it" in publisher.trouble

        await create_topic(kafka, topic)
        await publisher.publish(topic, b"k", b"v")

        assert publisher.trouble is None


async def test_what_was_confirmed_survives_a_broker_that_is_killed_in_the_middle(
    broker: PrivateKafka,
) -> None:
    topic = await new_topic(broker.url)
    values = numbers(500)
    todo, ends = iter(values), dict[bytes, PenstockError | None]()

    def befall() -> None:
        lost = sum(map(bool, ends.values()))
        if len(ends) == 150 and not lost:
            broker.kill()
        elif lost >= 60 and not broker.processes():
            broker.start()

    async def work(publisher: KafkaPublisher) -> None:
        for value in todo:
            (ends[value],) = await publish_all(publisher, topic, [value])
            befall()

    async with open_publisher(broker.url, patience=1.0) as publisher:
        await asyncio.gather(*(work(publisher) for _ in range(20)))

    kept = {each.value for each in await read(broker.url, topic)}
    confirmed = {value for value, end in ends.items() if end is None}
    assert len(ends) == 500
    assert {type(end) for end in ends.values() if end} == {EventsLost}
    assert ends[values[-1]] is None, "it goes on by itself"
    assert confirmed <= kept


async def test_a_broker_that_is_away_for_a_moment_is_waited_for(broker: PrivateKafka) -> None:
    topic = await new_topic(broker.url)
    async with open_publisher(broker.url, patience=60.0) as publisher:
        await publisher.publish(topic, b"k", b"before")
        broker.kill()
        ends = asyncio.create_task(publish_all(publisher, topic, numbers(500)))
        await asyncio.to_thread(broker.start)
        assert not any(await ends)

    assert {each.value for each in await read(broker.url, topic)} == {b"before", *numbers(500)}


async def test_a_broker_that_does_not_answer_is_lost_and_found(broker: PrivateKafka) -> None:
    topic = await new_topic(broker.url)
    async with open_publisher(broker.url, patience=1.0) as publisher:
        await publisher.publish(topic, b"k", b"before")
        broker.freeze()
        ends = await publish_all(publisher, topic, numbers(50))
        assert {type(end) for end in ends} == {EventsLost}
        broker.thaw()

        while any(await publish_all(publisher, topic, [b"after"])):
            pass

    assert b"after" in {each.value for each in await read(broker.url, topic)}


async def test_brokers_that_moved_are_found_where_it_was_told_to_look(
    broker: PrivateKafka, kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "shuffle", lambda _hosts: None)
    topic = await new_topic(broker.url)
    await create_topic(kafka, topic)

    async with open_publisher(f"{broker.url},{kafka}", patience=1.0) as publisher:
        await publisher.publish(topic, b"k", b"here")
        broker.kill()
        while any(await publish_all(publisher, topic, [b"there"])):
            pass

    assert {each.value for each in await read(kafka, topic)} == {b"there"}


async def test_opening_and_closing_need_no_broker() -> None:
    began = time.monotonic()
    async with open_publisher(f"127.0.0.1:{free_port()}", patience=0.5) as publisher:
        with pytest.raises(EventsLost, match="is it running"):
            await publisher.publish("topic", b"k", b"v")
    assert time.monotonic() - began < 5


async def test_closing_does_not_wait_for_a_broker_that_is_gone(broker: PrivateKafka) -> None:
    topic = await new_topic(broker.url)
    async with open_publisher(broker.url) as publisher:
        await publisher.publish(topic, b"k", b"v")
        broker.kill()
        waiting = asyncio.create_task(publisher.publish(topic, b"k", b"never"))
        await asyncio.sleep(0)
        waiting.cancel()
        began = time.monotonic()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "options",
    [
        {"security_protocol": "SHOUTING"},
        {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"},
        {"security_protocol": "SSL", "ssl_cafile": f"/no/such/{uuid4().hex}"},
        {"no_such_option": "1"},
    ],
)
async def test_settings_that_cannot_be_used_are_told_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="Kafka"):
        async with open_publisher("127.0.0.1:1", **options):
            pass


def _require_admin() -> None:
    if plays():
        pytest.skip("a mock cluster makes topics as it likes")
