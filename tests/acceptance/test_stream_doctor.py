"""What the doctor says of the page fetcher's servers, with real ones."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli.doctor_stream import examine_stream
from penstock.cli.findings import Finding
from penstock.events.kafka import create_topic
from penstock.settings import load_settings
from tests import durable_redis, redis_server
from tests.kafka_server import plays, unused_name
from tools.provision.processes import free_port


@pytest.fixture
def forgetful_redis(tmp_path: Path) -> Iterator[str]:
    server = redis_server.PrivateRedis(redis_server.find_program(), tmp_path)
    server.start()
    yield server.url
    server.kill()


@pytest.fixture
def careful_redis() -> Iterator[str]:
    server = durable_redis.DurableRedis(durable_redis.find_program())
    server.start()
    yield server.url
    server.stop()


def findings(**stream: object) -> dict[str, Finding]:
    """What is found, by what was looked at."""
    return {each.subject: each for each in examine_stream(load_settings(stream=stream))}


def nowhere() -> str:
    return f"127.0.0.1:{free_port()}"


def test_without_servers_there_is_nothing_to_reach() -> None:
    assert findings()["stream"].state == "ok"


def test_servers_that_do_not_answer_are_problems_with_their_settings_named() -> None:
    found = findings(redis_url=f"redis://{nowhere()}/0", kafka_bootstrap_servers=nowhere())

    assert {each.state for each in found.values()} == {"problem"}
    assert "PENSTOCK_STREAM__REDIS_URL" in found["stream: Redis"].do
    assert "PENSTOCK_STREAM__KAFKA_BOOTSTRAP_SERVERS" in found["stream: Kafka"].do


def test_a_redis_that_forgets_is_worth_a_note(forgetful_redis: str) -> None:
    found = findings(redis_url=forgetful_redis, kafka_bootstrap_servers=nowhere())

    assert found["stream: Redis"].state == "note"
    assert "does not persist" in found["stream: Redis"].says
    assert found["stream: Redis"].do


def test_a_redis_that_keeps_everything_is_well(careful_redis: str) -> None:
    found = findings(redis_url=careful_redis, kafka_bootstrap_servers=nowhere())

    assert found["stream: Redis"].state == "ok"


@pytest.mark.skipif(plays(), reason="a mock cluster makes topics as it likes")
def test_a_topic_that_is_missing_is_made_by_stream_init(kafka: str) -> None:
    topic = unused_name()
    where = {"redis_url": f"redis://{nowhere()}/0", "kafka_bootstrap_servers": kafka}
    missing = findings(**where, webpage_log_topic=topic)["stream: Kafka"]
    asyncio.run(create_topic(kafka, topic, partitions=5))
    there = findings(**where, webpage_log_topic=topic)["stream: Kafka"]

    assert (missing.state, missing.says) == ("problem", f"has no topic {topic}")
    assert "penstock stream init" in missing.do
    assert (there.state, there.says) == ("ok", f"brokers: 1; partitions of {topic}: 5")
