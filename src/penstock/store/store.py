"""The store: runs units of work, many small ones in one transaction, and rides out trouble.

A write is acknowledged after the commit that made it durable. Writes that are asked for while
another transaction is under way wait and then share the next one: the cost of a commit is
paid once for all of them. One that fails is run again alone, so that it harms no other.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError, SettingsError, StoreError, StoreLost
from penstock.core.log import get_logger
from penstock.store.dialect import Dialect, first_line
from penstock.store.postgres import Postgres, is_shared_connection
from penstock.store.settings import StoreSettings
from penstock.store.sqlite import Sqlite
from penstock.store.unit import Unit

T = TypeVar("T")
Work = Callable[[Unit], T]
Transact = Callable[[Callable[[Connection], list[Any]]], Awaitable[list[Any]]]

MOST_IN_ONE_COMMIT = 512
#: Channels of writes that take milliseconds, however large the store is.
QUICK = frozenset({"put", "claim", "settle"})
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0


@dataclass(slots=True)
class _Job:
    """A write that somebody waits for."""

    work: Work[Any]
    done: asyncio.Future[Any]
    quick: bool

    def end(self, result: Any) -> None:
        if not self.done.done():
            self.done.set_result(result)

    def fail(self, error: BaseException) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class Store:
    """A database that is open."""

    def __init__(self, dialect: Dialect, settings: StoreSettings, clock: Clock) -> None:
        self._dialect = dialect
        self._settings = settings
        self._clock = clock
        self._channels: dict[str, asyncio.Queue[_Job]] = {}
        self._writers: list[asyncio.Task[None]] = []
        self._is_closed = False

    @property
    def engine(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._dialect.name

    async def write(self, work: Work[T], channel: str = "") -> T:
        """Run a unit of work; returns what it returned, after it was committed.

        Writes of one channel are carried out in order; an engine that can, works on several
        channels at the same time.
        """
        if self._is_closed:
            raise StoreError("the store is closed: nothing can be written any more")
        done = asyncio.get_running_loop().create_future()
        job = _Job(work, done, quick=channel in QUICK)
        await self._channel(channel).put(job)
        result: T = await job.done
        return result

    async def read(self, work: Work[T]) -> T:
        """Run a unit of work that changes nothing."""
        (result,) = await self._ride_out([work], self._dialect.read)
        found: T = result
        return found

    def _channel(self, name: str) -> asyncio.Queue[_Job]:
        name = name if self._dialect.has_channels else ""
        if name not in self._channels:
            jobs = self._channels[name] = asyncio.Queue(self._settings.max_queued_writes)
            self._writers.append(asyncio.create_task(self._keep_writing(jobs)))
        return self._channels[name]

    async def _keep_writing(self, jobs: asyncio.Queue[_Job]) -> None:
        while True:
            group = [await jobs.get()]
            while len(group) < MOST_IN_ONE_COMMIT and not jobs.empty():
                group.append(jobs.get_nowait())
            try:
                await self._carry_out(group)
            finally:
                _cut_off(group, jobs)

    async def _carry_out(self, group: list[_Job]) -> None:
        """All in one transaction; if one of them fails, each on its own."""
        try:
            transact = partial(self._dialect.write, quick=all(job.quick for job in group))
            results = await self._ride_out([job.work for job in group], transact)
        except StoreLost as error:
            for job in group:
                job.fail(error)
        except Exception as error:
            # Whatever it is, it belongs to who asked for it.
            if len(group) == 1:
                group[0].fail(error)
                return
            for job in group:
                await self._carry_out([job])
        else:
            for job, result in zip(group, results, strict=True):
                job.end(result)

    async def _ride_out(self, works: list[Work[Any]], transact: Transact) -> list[Any]:
        """Run works in one transaction; again and again while the trouble is one that passes."""
        give_up_at = self._clock.monotonic() + self._settings.ride_out_seconds
        pause = FIRST_PAUSE
        while True:
            try:
                return await self._transact(works, transact)
            except (SQLAlchemyError, OSError, TimeoutError) as error:
                if not (isinstance(error, NoFreeConnection) or self._dialect.passes(error)):
                    raise _explained(error) from error
                if self._clock.monotonic() >= give_up_at:
                    raise StoreLost(f"the store is out of reach: {first_line(error)}") from error
                get_logger().warning("store: trying again", error=first_line(error))
            await self._clock.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _transact(self, works: list[Work[Any]], transact: Transact) -> list[Any]:
        def run(connection: Connection) -> list[Any]:
            unit = Unit(connection, self._dialect)
            results = [work(unit) for work in works]
            unit.close()
            return results

        return await transact(run)

    async def sweep(self) -> bool:
        """Leave nothing of what was deleted in our files; False if that cannot be done now."""
        return await self._dialect.sweep()

    async def flush(self) -> None:
        """Wait until everything that was asked for is written."""
        await asyncio.gather(*(jobs.join() for jobs in self._channels.values()))

    async def close(self) -> None:
        """Give up all connections, and what was not flushed."""
        self._is_closed = True
        for writer in self._writers:
            writer.cancel()
        await asyncio.gather(*self._writers, return_exceptions=True)
        for jobs in self._channels.values():
            while not jobs.empty():
                _cut_off([jobs.get_nowait()], jobs)
                await asyncio.sleep(0)  # whoever waited for room in the queue comes now
        await self._dialect.close()


def open_dialect(settings: StoreSettings, clock: Clock) -> Dialect:
    """The engine that the settings name."""
    url = settings.url.get_secret_value()
    if not url:
        return Sqlite(settings, clock)
    if url.partition("://")[0] not in ("postgresql", "postgres", "postgresql+asyncpg"):
        raise SettingsError("PENSTOCK_STORE__URL must begin with postgresql://")
    return Postgres(settings)


@asynccontextmanager
async def open_store(settings: StoreSettings, clock: Clock) -> AsyncIterator[Store]:
    """Open the store that the settings name; left, it finishes what was asked of it."""
    store = Store(open_dialect(settings, clock), settings, clock)
    try:
        yield store
        await store.flush()
    finally:
        await store.close()


def _cut_off(group: list[_Job], jobs: asyncio.Queue[_Job]) -> None:
    """Jobs leave the queue; those that are not over by now never will be."""
    for job in group:
        job.fail(StoreError("the store was closed before this was written"))
        jobs.task_done()


def _explained(error: Exception) -> PenstockError:
    said = first_line(error)
    if is_shared_connection(error):
        return SettingsError(
            "PENSTOCK_STORE__URL is that of a pgbouncer in transaction mode: "
            f"set PENSTOCK_STORE__PGBOUNCER=true ({said})"
        )
    if "no such table" in said or "UndefinedTable" in said or "does not exist" in said:
        return StoreError(f"the store has not been set up: run `penstock db upgrade` ({said})")
    return StoreError(f"the store refused: {said}")
