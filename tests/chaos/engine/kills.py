"""Workers that end at once, gently, or not at all for a while."""

import asyncio
import signal
import time
from collections.abc import Mapping
from functools import partial

from penstock.store.store import Store
from tests.chaos.engine.arena import (
    FEW_EACH,
    RECOVERY_SECONDS,
    Arena,
    Load,
    pending,
    until,
    workers_known,
)
from tests.chaos.engine.failpoints import VARIABLE
from tests.chaos.engine.processes import Running
from tests.chaos.engine.scenarios import Played, Size

WORKERS = 3
SECOND_SIGNAL_SECONDS = 2.0
FOR_EVER = 25.0
SHIPPED_PULSE = {"PENSTOCK_QUEUE__BEAT_SECONDS": "5", "PENSTOCK_QUEUE__SILENCE_SECONDS": "20"}
ONE_LEDGER = {"PENSTOCK_SHARED__PREFIX": "all:"}
MOST_TRIES = 100
#: While a worker thaws, the pages are slow: what it had is under way elsewhere.
HANG_SECONDS = 2.0
#: So much waits that others are soon done with it, and idle when the frozen one's items come.
LITTLE = 30
#: As many pages hang as one site has slots, or more.
SLOTS = 8


async def kill_at_random(arena: Arena, size: Size) -> Played:
    """`kill -9` of one of several workers at any moment; another is started in its place."""
    workers = [await arena.start_worker() for _ in range(WORKERS)]
    async with arena.load(size.items) as load:
        await load.flows()
        for _ in range(size.faults):
            await asyncio.sleep(arena.chance.uniform(0.02, 0.4))
            victim = arena.chance.randrange(WORKERS)
            await workers[victim].kill()
            workers[victim] = await arena.nursery.fork(["worker"], arena.as_worker())
    return Played(size.faults, await arena.drained())


async def kill_with_slots(arena: Arena, size: Size) -> Played:
    """`kill -9` of a worker that holds every slot of its sites, which another waits for."""
    longest = 0.0
    async with arena.load(size.items, LITTLE) as load:
        for _ in range(size.faults):
            with arena.pages.hanging(FOR_EVER):
                hits = len(arena.site.hits)
                victim = await arena.start_worker(**ONE_LEDGER)
                await load.flows()
                await until(partial(_is_hit, arena, hits + SLOTS), RECOVERY_SECONDS)
                await victim.kill()
            with load.pausing():
                heir = await arena.start_worker(**ONE_LEDGER)
                longest = max(longest, await arena.drained())
            await arena.send_home(heir)
    await arena.start_worker(**ONE_LEDGER)
    return Played(size.faults, max(longest, await arena.drained()))


async def _is_hit(arena: Arena, times: int) -> bool:
    return len(arena.site.hits) >= times


async def end_gently(arena: Arena, size: Size) -> Played:
    """SIGTERM under load: what is under way is finished, the rest given back untouched."""
    async with arena.load(size.items) as load:
        for number in range(size.faults):
            is_first = not number and not arena.place.url
            worker = await (arena.execute() if is_first else arena.start_worker())
            await load.flows()
            await asyncio.sleep(arena.chance.uniform(0.0, 0.3))
            worker.send(signal.SIGTERM)
            assert await worker.ended(RECOVERY_SECONDS) == 0, worker.said
            assert not await arena.claimed(load.store)
            assert not await workers_known(load.store)
            held = await arena.held()
            tried = [item for item, number in held.attempts.items() if number]
            assert all(held.states[item] in ("done", "dead") for item in tried)
    await arena.start_worker()
    return Played(size.faults, await arena.drained())


async def end_at_once(arena: Arena, size: Size) -> Played:
    """A second SIGTERM: nothing is waited for, everything is given back."""
    with arena.pages.hanging(FOR_EVER):
        async with arena.load(size.items) as load:
            for _ in range(size.faults):
                worker = await arena.start_worker()
                await load.flows()
                await _end_twice(worker)
                assert not await arena.claimed(load.store)
                assert not await workers_known(load.store)
    await arena.start_worker()
    return Played(size.faults, await arena.drained())


async def _end_twice(worker: Running) -> None:
    worker.send(signal.SIGTERM)
    await until(lambda: _said(worker, "finishing"), 5.0)
    worker.send(signal.SIGTERM)
    assert await worker.ended(SECOND_SIGNAL_SECONDS) == 0, worker.said


async def freeze(arena: Arena, size: Size) -> Played:
    """SIGSTOP at any moment until the claims are another's, then SIGCONT."""
    return await _freeze_in_turn(arena, size, FEW_EACH)


async def freeze_with_defaults(arena: Arena, size: Size) -> Played:
    """The same with the pulse as it is shipped: nobody's help, and less than 30 seconds."""
    return await _freeze_in_turn(arena, size, {**SHIPPED_PULSE, **FEW_EACH})


async def _freeze_in_turn(arena: Arena, size: Size, extra: Mapping[str, str]) -> Played:
    workers = [await arena.start_worker(**extra) for _ in range(2)]
    longest = 0.0
    async with arena.load(size.items, LITTLE) as load:
        for number in range(size.faults):
            frozen = workers[number % 2]
            await _stop_with_claims(arena, load.store, frozen)
            longest = max(longest, await _thaw_when_lost(arena, load, frozen))
            await arena.send_home(frozen)
            workers[number % 2] = await arena.start_worker(**extra)
    return Played(size.faults, max(longest, await arena.drained()))


async def write_late(arena: Arena, size: Size) -> Played:
    """A worker that freezes on the way to the store and writes when all is another's."""
    await arena.start_worker(**FEW_EACH)
    longest = 0.0
    async with arena.load(size.items, LITTLE) as load:
        for _ in range(size.faults):
            point = f"before the settling:{arena.chance.randint(1, 5)}:freeze"
            frozen = await arena.start_worker(**FEW_EACH, **{VARIABLE: point})
            await until(partial(_is_frozen, frozen), RECOVERY_SECONDS)
            longest = max(longest, await _thaw_when_lost(arena, load, frozen))
            await arena.send_home(frozen)
    return Played(size.faults, max(longest, await arena.drained()))


async def _thaw_when_lost(arena: Arena, load: Load, frozen: Running) -> float:
    """Thaw it while others work on what it had; how long it took them to take that."""
    began = time.monotonic()
    with load.pausing():
        try:
            await until(partial(_others_have_none, arena, load.store, frozen), RECOVERY_SECONDS)
        except TimeoutError:
            raise AssertionError(await arena.unfinished(load.store)) from None
        with arena.pages.hanging(HANG_SECONDS):
            await until(partial(_has_none, arena, load.store, frozen), 2 * RECOVERY_SECONDS)
            waited = time.monotonic() - began
            await until(partial(_is_taken_up, arena, load.store), RECOVERY_SECONDS)
            frozen.send(signal.SIGCONT)
            await until(partial(_said, frozen, "taken for dead"), RECOVERY_SECONDS)
    return waited


async def _is_taken_up(arena: Arena, store: Store) -> bool:
    """Somebody works on what is left; on a slow machine it may be over by now."""
    return await arena.claimed(store) > 0 or not await pending(store)


async def _is_frozen(worker: Running) -> bool:
    return worker.is_frozen


async def _others_have_none(arena: Arena, store: Store, frozen: Running) -> bool:
    return await pending(store) == await arena.claimed(store, frozen.worker)


async def _stop_with_claims(arena: Arena, store: Store, worker: Running) -> None:
    """Stop a worker that has claims, but not in the middle of a write: SQLite has one writer."""
    for _ in range(MOST_TRIES):
        await until(lambda: _has_some(arena, store, worker), RECOVERY_SECONDS)
        worker.send(signal.SIGSTOP)
        if await _has_some(arena, store, worker) and await arena.is_writable():
            return
        worker.send(signal.SIGCONT)
        await asyncio.sleep(arena.chance.uniform(0.0, 0.05))
    raise AssertionError("the worker never had claims while it did not write")


async def _has_some(arena: Arena, store: Store, worker: Running) -> bool:
    return await arena.claimed(store, worker.worker) > 0


async def _has_none(arena: Arena, store: Store, worker: Running) -> bool:
    return not await arena.claimed(store, worker.worker)


async def _said(worker: Running, words: str) -> bool:
    return words in worker.said
