"""Kafka for tests: a broker that all share, and ones of their own that can be killed."""

import os
import signal
from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from penstock.events.kafka import create_topic
from tests import private_server
from tools.provision import programs
from tools.provision.kafka import KAFKA
from tools.provision.maven import JAVA


class PrivateKafka(private_server.PrivateServer):
    """Makes no topic unasked, and keeps what it confirmed; `url` is what clients take."""

    def __init__(self, java: str) -> None:
        super().__init__(KAFKA, java)

    def freeze(self) -> None:
        """Let it keep its connections and answer nobody."""
        for pid in self.processes():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGCONT)


class Kept(NamedTuple):
    """A message as a reader gets it."""

    partition: int
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


def find_program() -> str:
    """The path of `java`; without one the test is skipped, in CI it fails."""
    return private_server.find_program(JAVA)


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """The servers of a broker that tests share, each with topics of its own."""
    if servers := os.environ.get(KAFKA.variable):
        yield servers
        return
    server = PrivateKafka(find_program())
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="module")
def own_kafka() -> Iterator[PrivateKafka]:
    """A broker of one file's tests; each leaves it running."""
    server = PrivateKafka(find_program())
    server.start()
    yield server
    server.stop()


def unused_name() -> str:
    return f"test-{uuid4().hex}"


async def new_topic(servers: str, partitions: int = 3, **config: str) -> str:
    """The name of a topic that nobody else uses; an underscore in a setting stands for a dot."""
    name = unused_name()
    settings = {key.replace("_", "."): value for key, value in config.items()}
    if settings or not plays():
        await create_topic(servers, name, partitions, config=settings)
    return name


def plays() -> bool:
    """Whether there is only a mock cluster: it makes topics, but not when it is asked to."""
    return not (os.environ.get(JAVA.variable) or programs.find(JAVA))


async def read(servers: str, topic: str) -> list[Kept]:
    """Everything that a topic keeps now, partition by partition."""
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    await consumer.start()
    try:
        places = [TopicPartition(topic, each) for each in await _partitions(consumer, topic)]
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        found: list[Kept] = []
        for place in places:
            while await consumer.position(place) < ends[place]:
                some = await consumer.getmany(place, timeout_ms=1000)
                found += [_kept(record) for record in some.get(place, [])]
        return found
    finally:
        await consumer.stop()


async def _partitions(consumer: Any, topic: str) -> list[int]:
    await consumer._client._wait_on_metadata(topic)
    return sorted(consumer.partitions_for_topic(topic))


def _kept(record: Any) -> Kept:
    return Kept(record.partition, record.key, record.value, record.headers)
