"""Chores are done by who may, at their time, again and again."""

import asyncio

import pytest

from penstock.core.chores import FIRST_AFTER, HOUR, Chore, keep_doing
from tests.clocks import HandClock


class Enough(Exception):
    """Ends a loop that would go on for ever."""


async def test_a_chore_is_done_soon_after_the_start_and_then_every_hour() -> None:
    clock, times = HandClock(), list[float]()
    began = clock.monotonic()

    async def do() -> int:
        times.append(clock.monotonic() - began)
        if len(times) == 3:
            raise Enough
        return 1

    async def we_may() -> bool:
        return True

    with pytest.raises(Enough):
        await keep_doing(Chore("dishes", do), we_may, clock)
    assert times == [FIRST_AFTER, FIRST_AFTER + HOUR, FIRST_AFTER + 2 * HOUR]


async def test_a_chore_of_another_process_is_left_alone() -> None:
    async def do() -> int:
        raise AssertionError("not ours")

    answers = iter([False, False])

    async def may_we() -> bool:
        try:
            return next(answers)
        except StopIteration:
            raise Enough from None

    with pytest.raises(Enough):
        await asyncio.wait_for(keep_doing(Chore("dishes", do), may_we, HandClock()), 10)
