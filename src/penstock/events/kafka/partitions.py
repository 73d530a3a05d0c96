"""Which partition a message goes to: by its key, as every client of Kafka has it."""

import random
from collections.abc import Sequence
from struct import unpack_from

_SEED, _FACTOR, _ALL_BITS = 0x9747B28C, 0x5BD1E995, 0xFFFFFFFF
_NO_SIGN = 0x7FFFFFFF


def partition_of(key: bytes | None, partitions: Sequence[int]) -> int:
    """The partition of a key; any, if there is none."""
    if key is None:
        return random.choice(partitions)
    return partitions[(murmur2(key) & _NO_SIGN) % len(partitions)]


def murmur2(data: bytes) -> int:
    """The hash of the Java client; aiokafka's own goes byte by byte and takes twice as long."""
    size = len(data)
    found = _SEED ^ size
    for word in unpack_from(f"<{size // 4}I", data):
        mixed = word * _FACTOR & _ALL_BITS
        mixed = (mixed ^ mixed >> 24) * _FACTOR & _ALL_BITS
        found = (found * _FACTOR & _ALL_BITS) ^ mixed
    if rest := data[size & ~3 :]:
        found = (found ^ int.from_bytes(rest, "little")) * _FACTOR & _ALL_BITS
    found = (found ^ found >> 13) * _FACTOR & _ALL_BITS
    return found ^ found >> 15
