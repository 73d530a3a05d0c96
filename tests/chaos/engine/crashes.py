"""Processes that die at every step of an item's life."""

from tests.chaos.engine.arena import FEW_EACH, RECOVERY_SECONDS, Arena
from tests.chaos.engine.failpoints import IN_SUBMITTERS, IN_WORKERS, VARIABLE
from tests.chaos.engine.scenarios import Played, Size

#: A failpoint goes off the first to so many-th time it is come by.
LATEST = 5


async def die_at_every_step(arena: Arena, size: Size) -> Played:
    """Each failpoint in turn, in workers and in submitters; `size.faults` is how many rounds."""
    await arena.start_worker(**FEW_EACH)
    faults = 0
    for _ in range(size.faults):
        async with arena.load(arena.submitted + size.items):
            for name in IN_WORKERS:
                await _lose_worker(arena, name)
                faults += 1
            for name in IN_SUBMITTERS:
                await _lose_submitter(arena, name)
                faults += 1
    return Played(faults, await arena.drained())


async def _lose_worker(arena: Arena, failpoint: str) -> None:
    environment = arena.as_worker(**FEW_EACH, **_planted(arena, failpoint))
    worker = await arena.nursery.fork(["worker"], environment)
    assert await worker.ended(RECOVERY_SECONDS) is None, f"{failpoint}: {worker.said}"


async def _lose_submitter(arena: Arena, failpoint: str) -> None:
    """Of what it had no receipt for, any part may be in the queue."""
    environment = {**arena.environment, **_planted(arena, failpoint)}
    command = ["submitter", str(arena.journal.path), "--first", str(arena.reserve(10 * LATEST))]
    submitter = await arena.nursery.fork([*command, "--count", str(10 * LATEST)], environment)
    assert await submitter.ended(RECOVERY_SECONDS) is None, f"{failpoint}: {submitter.said}"


def _planted(arena: Arena, failpoint: str) -> dict[str, str]:
    return {VARIABLE: f"{failpoint}:{arena.chance.randint(1, LATEST)}:death"}
