"""A wall clock that is set: an hour forward, and back again."""

import asyncio
from pathlib import Path

from tests.chaos.engine import wall_clock
from tests.chaos.engine.arena import Arena
from tests.chaos.engine.processes import Running
from tests.chaos.engine.scenarios import Played, Size

HOUR = 3600
#: By how much the clock is wrong, one after another.
OFFSETS = (HOUR, 0, -HOUR, 0)


async def set_the_clock(arena: Arena, size: Size) -> Played:
    """The clock is set while workers run: nothing is early, late or taken for dead."""
    workers = [await _start(arena, 0) for _ in range(2)]
    async with arena.load(size.items) as load:
        for number in range(size.faults):
            await load.flows()
            wall_clock.set_to(_file(arena), OFFSETS[number % len(OFFSETS)])
            await asyncio.sleep(arena.chance.uniform(0.3, 1.0))
    recovery = await arena.drained()
    assert not any("taken for dead" in worker.said for worker in workers)
    return Played(size.faults, recovery)


async def set_the_clock_between_starts(arena: Arena, size: Size) -> Played:
    """Every worker starts, and ends, in another hour than the one before it."""
    async with arena.load(size.items) as load:
        for number in range(size.faults):
            worker = await _start(arena, OFFSETS[number % len(OFFSETS)])
            await load.flows()
            await asyncio.sleep(arena.chance.uniform(0.0, 0.5))
            await (worker.kill() if number % 2 else arena.send_home(worker))
    await _start(arena, 0)
    return Played(size.faults, await arena.drained())


async def _start(arena: Arena, offset: int) -> Running:
    wall_clock.set_to(_file(arena), offset)
    return await arena.start_worker(**{wall_clock.VARIABLE: str(_file(arena))})


def _file(arena: Arena) -> Path:
    return arena.folder / "clock"
