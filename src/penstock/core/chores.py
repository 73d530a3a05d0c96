"""Chores: small things that have to be done every hour or so, by one process for all."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from penstock.core.clock import Clock
from penstock.core.log import get_logger

HOUR = 3600.0
#: After a start, so that one that is restarted often still comes to its chores.
FIRST_AFTER = 60.0


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do from time to time; says how many things it dealt with."""

    name: str
    do: Callable[[], Awaitable[int]]
    every: float = HOUR


async def keep_doing(chore: Chore, may_we: Callable[[], Awaitable[bool]], clock: Clock) -> None:
    """Do a chore again and again, whenever it is ours to do."""
    pause = FIRST_AFTER
    while True:
        await clock.sleep(pause)
        pause = chore.every
        if await may_we() and (number := await chore.do()):
            get_logger().warning("chore done", chore=chore.name, number=number)
