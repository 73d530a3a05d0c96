"""Ids that sort by the time they were made."""

import os
import time


def first_id_at(milliseconds: int) -> str:
    """What sorts before every id that was made at this time or later."""
    return f"{milliseconds:012x}"


def new_id() -> str:
    """32 hexadecimal digits: milliseconds first, then chance (the layout of UUID version 7)."""
    milliseconds = time.time_ns() // 1_000_000
    chance = int.from_bytes(os.urandom(10)) & ~(0xF << 76) & ~(0x3 << 62)
    return f"{milliseconds << 80 | 0x7 << 76 | 0x2 << 62 | chance:032x}"
