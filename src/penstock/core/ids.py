"""Ids that sort by the time they were made."""

import os
import random
import time

#: Ids need not be secret, only different; a source of our own costs no system call each.
_chance = random.Random(os.urandom(32))
os.register_at_fork(after_in_child=lambda: _chance.seed(os.urandom(32)))


def chance_of(bits: int) -> int:
    """A random number of so many bits, different in every process."""
    return _chance.getrandbits(bits)


def first_id_at(milliseconds: int) -> str:
    """What sorts before every id that was made at this time or later."""
    return f"{milliseconds:012x}"


def new_id() -> str:
    """32 hexadecimal digits: milliseconds first, then chance (the layout of UUID version 7)."""
    milliseconds = time.time_ns() // 1_000_000
    chance = chance_of(80) & ~(0xF << 76) & ~(0x3 << 62)
    return f"{milliseconds << 80 | 0x7 << 76 | 0x2 << 62 | chance:032x}"
