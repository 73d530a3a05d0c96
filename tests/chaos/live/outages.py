"""The store is away for a while: frozen, killed or locked."""

import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path

from penstock.store.settings import FILE_NAME
from penstock.workloads.live.supervising import MEASURE_SECONDS
from tests.chaos.live.model import Ground, Result
from tests.chaos.live.stand import Stand
from tests.postgres_server import PrivatePostgres

DROPPED = "scraper_dropped_updates_total"
MANY = 10**6
Away = Callable[[], AbstractAsyncContextManager[None]]


async def freeze_the_server(ground: Ground, to: Result) -> None:
    """PostgreSQL answers nobody for a while."""
    await _lose_store(ground, to, partial(_frozen, _server(ground)), ground.size.frozen)


async def kill_the_server(ground: Ground, to: Result) -> None:
    """PostgreSQL is killed, and started again after a while."""
    await _lose_store(ground, to, partial(_killed, _server(ground)), ground.size.locked)


async def lock_the_file(ground: Ground, to: Result) -> None:
    """Another process writes to SQLite, and does not come to its end for a while."""
    file = ground.stand.store_settings.folder / FILE_NAME
    await _lose_store(ground, to, partial(_locked, file), ground.size.locked)


async def _lose_store(ground: Ground, to: Result, lost: Away, seconds: float) -> None:
    """Everything that must not be missed waits, and is there when the store is back."""
    before = await ground.stand.metric(DROPPED)
    async with lost():
        slowest = await ground.stand.slowest_health(seconds)
    # The pages were there to be seen all the time: nobody was blind.
    to.recoveries.append(await ground.stand.fresh_again(time.time()))
    dropped = await _dropped_since(ground.stand, before)
    ground.stand.dropped += dropped
    to.note = (
        f"{seconds:.0f} s; {dropped} uncritical dropped; /health within {slowest * 1000:.0f} ms"
    )


async def _dropped_since(stand: Stand, before: float) -> int:
    """How many updates were dropped; that is shown with the next measurement only."""
    await asyncio.sleep(MEASURE_SECONDS)
    return int(await stand.metric(DROPPED) - before)


async def die_without_the_store(ground: Ground, to: Result) -> None:
    """The service is killed while the store is away: what it had journalled is not lost."""
    stand = ground.stand
    async with _frozen(_server(ground)):
        await asyncio.sleep(ground.size.locked)
        begun = time.time()
        await stand.kill_service()
    # What was uncritical and waited in memory is gone, and so is who counted it.
    stand.dropped += MANY
    await stand.start()
    to.recoveries.append(await stand.fresh_again(time.time(), begun, stand.feeds))


def _server(ground: Ground) -> PrivatePostgres:
    assert ground.postgres
    return ground.postgres


@asynccontextmanager
async def _frozen(server: PrivatePostgres) -> AsyncIterator[None]:
    frozen = server.processes()
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def _killed(server: PrivatePostgres) -> AsyncIterator[None]:
    await asyncio.to_thread(server.kill)
    try:
        yield
    finally:
        await asyncio.to_thread(server.start)


@asynccontextmanager
async def _locked(file: Path) -> AsyncIterator[None]:
    with closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")
