"""Keys go where every other client of Kafka sends them."""

import random

import pytest
from aiokafka.partitioner import DefaultPartitioner

from penstock.events.kafka.partitions import partition_of

KEYS = [random.Random(size).randbytes(size) for size in range(70)]


@pytest.mark.parametrize("partitions", [[0], [0, 1, 2, 3, 4, 5], list(range(97))])
def test_a_key_goes_where_other_clients_send_it(partitions: list[int]) -> None:
    theirs = DefaultPartitioner()

    places = [partition_of(key, partitions) for key in KEYS]

    assert places == [theirs(key, partitions, partitions) for key in KEYS]


def test_messages_without_a_key_are_spread() -> None:
    assert {partition_of(None, [0, 1, 2]) for _ in range(200)} == {0, 1, 2}
