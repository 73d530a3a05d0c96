"""The end of a topic in a real Kafka."""

import pytest
from aiokafka import AIOKafkaProducer

from penstock.core.errors import EventsLost, SettingsError
from penstock.events.kafka import open_tail
from tests.kafka_server import new_topic, plays, unused_name
from tools.provision.processes import free_port

BEGIN_MS = 1_700_000_000_000


async def write(servers: str, topic: str, numbers: range) -> None:
    """To all partitions, each a millisecond after the last."""
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        for number in numbers:
            key, at = str(number).encode(), BEGIN_MS + number
            await producer.send_and_wait(topic, b"%d" % number, key, timestamp_ms=at)


@pytest.mark.parametrize(
    ("number", "expected"), [(4, range(8, 12)), (0, range(0)), (20, range(12))]
)
async def test_the_last_messages_of_all_partitions_come_in_their_order(
    kafka: str, number: int, expected: range
) -> None:
    topic = await new_topic(kafka)
    await write(kafka, topic, range(12))

    async with open_tail(kafka, topic) as tail:
        found = [int(each.value) for each in await tail.last(number)]

    assert found == list(expected)


async def test_what_comes_later_follows_once(kafka: str) -> None:
    topic = await new_topic(kafka)
    await write(kafka, topic, range(5))
    found: list[int] = []
    async with open_tail(kafka, topic) as tail:
        found += [int(each.value) for each in await tail.last(2)]
        await write(kafka, topic, range(5, 10))
        while len(found) < 7:
            found += [int(each.value) for each in await tail.more()]

    assert sorted(found) == list(range(3, 10))


async def test_an_empty_topic_has_no_last_messages(kafka: str) -> None:
    async with open_tail(kafka, await new_topic(kafka)) as tail:
        assert await tail.last(10) == []


@pytest.mark.skipif(plays(), reason="a mock cluster makes topics as it likes")
async def test_a_topic_that_is_missing_is_made_by_stream_init(kafka: str) -> None:
    with pytest.raises(SettingsError, match="penstock stream init"):
        async with open_tail(kafka, unused_name()):
            pass


async def test_brokers_that_are_away_are_lost() -> None:
    with pytest.raises(EventsLost, match="is it running"):
        async with open_tail(f"127.0.0.1:{free_port()}", "topic"):
            pass
