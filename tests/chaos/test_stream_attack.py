"""Ten thousand URLs while sites, page fetchers, Kafka and Redis fail: none is lost, none waits."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import durable_redis
from tests.chaos.stream.attack import SMALL, play
from tests.durable_redis import DurableRedis
from tests.kafka_server import PrivateKafka, own_kafka

__all__ = ["own_kafka"]

SEED = int(os.environ.get("PENSTOCK_CHAOS_SEED", "1"))

#: More than any of its own waits, so that the one that is too long says which it was.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def redis() -> Iterator[DurableRedis]:
    server = DurableRedis(durable_redis.find_program())
    server.start()
    yield server
    server.stop()


async def test_every_url_is_fetched_skipped_or_dead_whatever_fails(
    tmp_path: Path, own_kafka: PrivateKafka, redis: DurableRedis
) -> None:
    played = await play(tmp_path, own_kafka, redis, size=SMALL, seed=SEED)

    assert played.is_well, played
    assert played.found.urls == SMALL.urls
