"""The clock of the machine keeps the promises that the rest of Penstock builds on."""

import asyncio
from datetime import UTC

from penstock.core.clock import SystemClock


def test_dates_are_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


def test_durations_never_go_back() -> None:
    clock = SystemClock()
    moments = [clock.monotonic() for _ in range(100)]

    assert moments == sorted(moments)


async def test_sleeping_for_less_than_nothing_gives_others_a_turn() -> None:
    turns: list[str] = []

    async def other() -> None:
        turns.append("other")

    task = asyncio.create_task(other())
    await SystemClock().sleep(-1)
    turns.append("sleeper")
    await task

    assert turns == ["other", "sleeper"]


async def test_waiting_ends_when_the_event_is_set() -> None:
    event = asyncio.Event()
    waiting = asyncio.create_task(SystemClock().wait_for(event, 3600))
    await asyncio.sleep(0)

    event.set()

    async with asyncio.timeout(5):
        await waiting


async def test_waiting_ends_when_the_time_is_over() -> None:
    event = asyncio.Event()

    await SystemClock().wait_for(event, 0.001)
    await SystemClock().wait_for(event, -1)

    assert not event.is_set()
