"""Topics: made if they are not there, and looked at."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from penstock.core.errors import SettingsError
from penstock.events.kafka.cluster import PAUSE_SECONDS, TROUBLE, reach

PATIENCE_SECONDS = 10.0
#: What is wrong with the topic that is asked for, not with the brokers.
_REFUSALS = (
    errors.InvalidConfigurationError,
    errors.InvalidPartitionsError,
    errors.InvalidReplicationFactorError,
    errors.InvalidRequestError,
    errors.InvalidTopicError,
    errors.PolicyViolationError,
)


class Topic(NamedTuple):
    """A topic with its partitions, and whether it was made just now."""

    name: str
    partitions: int
    created: bool


class Standing(NamedTuple):
    """How many brokers there are, and partitions of a topic; None if it is not there."""

    brokers: int
    partitions: int | None


async def create_topic(
    servers: str,
    topic: str,
    partitions: int = 6,
    replication: int = 1,
    config: Mapping[str, str] | None = None,
    **options: Any,
) -> Topic:
    """Make a topic; one that is there stays as it is."""
    wanted = NewTopic(topic, partitions, replication, topic_configs=dict(config or {}))
    async with _administration(servers, options) as admin:
        answer = await admin.create_topics([wanted])
        _, code, *words = answer.topic_errors[0]
        problem = errors.for_code(code)
        if problem in _REFUSALS:
            why = next(filter(None, words), problem.__name__)
            raise SettingsError(f"Kafka ({servers}) does not make the topic {topic}: {why}")
        if problem not in (errors.NoError, errors.TopicAlreadyExistsError):
            raise problem
        found = await _ready_partitions(admin, topic)
    return Topic(topic, found, created=problem is errors.NoError)


async def check(servers: str, topic: str, **options: Any) -> Standing:
    """Whether the brokers answer, and what they know of a topic; `EventsLost` if they do not."""
    async with _administration(servers, options) as admin:
        cluster = await admin.describe_cluster()
        return Standing(len(cluster["brokers"]), await _partitions(admin, topic))


async def _ready_partitions(admin: Any, topic: str) -> int:
    """How many partitions a topic has, as soon as all of them can be written to."""
    while True:
        found = await _partitions(admin, topic)
        if found is not None:
            return found
        await asyncio.sleep(PAUSE_SECONDS)


async def _partitions(admin: Any, topic: str) -> int | None:
    (found,) = await admin.describe_topics([topic])
    ready = [each for each in found["partitions"] if each["leader"] >= 0]
    return len(ready) if ready and len(ready) == len(found["partitions"]) else None


@asynccontextmanager
async def _administration(servers: str, options: Mapping[str, Any]) -> AsyncIterator[Any]:
    cluster = reach(servers, options)
    try:
        admin = AIOKafkaAdminClient(**cluster.connection)
    except (TypeError, ValueError, AssertionError) as error:
        raise SettingsError(f"Kafka cannot be reached with these settings: {error}") from error
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await admin.start()
            yield admin
    except TROUBLE as error:
        raise cluster.meaning_of(error) from error
    finally:
        await admin.close()
