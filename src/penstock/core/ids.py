"""Ids that sort by the time they were made."""

import os
import random
import time

#: Ids need not be secret, only different; a source of our own costs no system call each.
_chance = random.Random(os.urandom(32))
#: Of an id, chance is this much; the next one of a millisecond is larger by so much at most.
CHANCE_BITS, STEP_BITS = 74, 40
os.register_at_fork(after_in_child=lambda: _chance.seed(os.urandom(32)))


def chance_of(bits: int) -> int:
    """A random number of so many bits, different in every process."""
    return _chance.getrandbits(bits)


def first_id_at(milliseconds: int) -> str:
    """What sorts before every id that was made at this time or later."""
    return f"{milliseconds:012x}"


def new_id() -> str:
    """32 hexadecimal digits: milliseconds first, then chance (the layout of UUID version 7).

    Each is larger than the one made before it in this process, unless the clock was set back.
    """
    return _ids.next()


class _Ids:
    """Chance is drawn once a millisecond; who comes later in it gets a little more."""

    def __init__(self) -> None:
        self._milliseconds = 0
        self._chance = 0

    def next(self) -> str:
        milliseconds = time.time_ns() // 1_000_000
        if milliseconds == self._milliseconds:
            self._chance += 1 + chance_of(STEP_BITS)
        else:
            self._milliseconds, self._chance = milliseconds, chance_of(CHANCE_BITS - 1)
        upper, lower = divmod(self._chance, 1 << 62)
        return f"{milliseconds << 80 | 0x7 << 76 | upper << 64 | 0x2 << 62 | lower:032x}"


_ids = _Ids()
