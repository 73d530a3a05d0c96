"""Partitions that are shared out anew: what is handed out no more, and what cannot be committed."""

from datetime import UTC, datetime

import pytest
from aiokafka import TopicPartition

from penstock.client.retrying import Retrying
from penstock.client.stream_kafka import KafkaSource
from penstock.client.stream_models import WebpageEvent
from penstock.client.stream_redis import RedisPages
from penstock.client.stream_sources import Arrival, PartitionLost, Place

EVENT = WebpageEvent(
    url="http://shop.example/",
    cache_key="webpage:0",
    status_code=200,
    content_type=None,
    content_length=0,
    content_hash="",
    fetched_at=datetime(2026, 3, 4, tzinfo=UTC),
)
ONE, TWO = TopicPartition("t", 1), TopicPartition("t", 2)


class Committing:
    """The part of a consumer that commits."""

    def __init__(self) -> None:
        self.offsets: list[dict[TopicPartition, int]] = []

    async def commit(self, offsets: dict[TopicPartition, int]) -> None:
        self.offsets.append(offsets)


class Group:
    """A member of a group whose partitions the test shares out."""

    def __init__(self) -> None:
        pages = RedisPages("redis://127.0.0.1:9", "q", retrying=Retrying())
        self.source = KafkaSource("127.0.0.1:9", "t", "g", pages, options={})
        self.consumer = Committing()
        self.source._consumer = self.consumer
        self._has: set[TopicPartition] = set()

    def share_out(self, *partitions: TopicPartition) -> None:
        self.source._assignments.on_partitions_revoked(self._has)
        self._has = set(partitions)
        self.source._assignments.on_partitions_assigned(self._has)

    def arrival(self, partition: TopicPartition, offset: int) -> Arrival:
        place = Place(partition.topic, partition.partition, offset)
        return Arrival(place, EVENT, self.source._assignments.number)


@pytest.fixture
def group() -> Group:
    group = Group()
    group.share_out(ONE, TWO)
    return group


async def test_after_a_rebalance_nothing_from_before_is_handed_out(group: Group) -> None:
    early = group.arrival(ONE, 5)
    group.share_out(ONE, TWO)

    assert not group.source.is_current(early)
    assert group.source.is_current(group.arrival(ONE, 5))


async def test_what_is_in_hand_can_be_committed_if_the_partition_stayed(group: Group) -> None:
    early = group.arrival(ONE, 5)
    group.share_out(ONE)

    await group.source.commit([early])

    assert group.consumer.offsets == [{ONE: 6}]


async def test_a_lost_partition_does_not_keep_others_from_being_committed(group: Group) -> None:
    arrivals = [group.arrival(ONE, 5), group.arrival(TWO, 9)]
    group.share_out(ONE)

    with pytest.raises(PartitionLost, match="partition 2"):
        await group.source.commit(arrivals)

    assert group.consumer.offsets == [{ONE: 6}]


async def test_a_partition_that_came_back_is_not_set_back_by_an_old_page(group: Group) -> None:
    early = group.arrival(TWO, 9)
    group.share_out(ONE)
    group.share_out(ONE, TWO)

    with pytest.raises(PartitionLost):
        await group.source.commit([early])
    await group.source.commit([group.arrival(TWO, 40)])

    assert group.consumer.offsets == [{TWO: 41}]
