"""The arena: a site, a store, a submitter and workers, and everything a scenario does to them."""

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import func, select
from sqlalchemy.engine import make_url

from penstock.core.clock import SystemClock
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import items, lines, workers
from penstock.store import migrate
from penstock.store.settings import FILE_NAME, StoreSettings
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit
from tests import redis_server
from tests.chaos.engine.checker import Findings, Held, check, hold
from tests.chaos.engine.failpoints import is_written_to
from tests.chaos.engine.journal import Journal
from tests.chaos.engine.processes import PENSTOCK, Nursery, Running, open_nursery
from tests.chaos.engine.submitter import HOSTS, MISSING_EVERY, PATH, host_of, make_items, submit
from tests.postgres_server import PrivatePostgres
from tests.redis_server import PrivateRedis
from tests.site import Hit, Reply, Site
from tests.stores import run_sql

#: Recovery without help: DESIGN.md, Nothing is lost.
RECOVERY_SECONDS = 30.0
LOOK_EVERY = 0.05
BATCH = 20
#: A page takes so long at most, so that there is always something under way.
SLOWEST_PAGE = 0.15

FAST = {
    "PENSTOCK_POLICIES__SHIPPED": "false",
    "PENSTOCK_PACING__REQUESTS_PER_SECOND": "1000",
    "PENSTOCK_PACING__REQUEST_DELAY_MS": "0",
    "PENSTOCK_PACING__MAX_CONCURRENT": "4",
    "PENSTOCK_RETRY__INITIAL_DELAY_MS": "1",
    "PENSTOCK_ROBOTS__RETRY_SECONDS": "0.01",
    "PENSTOCK_FETCH__WORKERS": "64",
}
#: Of what waits, every worker shall get something.
FEW_EACH = {"PENSTOCK_QUEUE__CAPACITY": "32"}
QUICK_PULSE = {"PENSTOCK_QUEUE__BEAT_SECONDS": "0.2", "PENSTOCK_QUEUE__SILENCE_SECONDS": "2"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the store is: a folder, or a database on a server."""

    folder: Path
    url: str = ""

    @property
    def settings(self) -> StoreSettings:
        return StoreSettings(folder=self.folder, url=self.url)

    @property
    def environment(self) -> dict[str, str]:
        where = {"PENSTOCK_STORE__FOLDER": str(self.folder)}
        return {**where, "PENSTOCK_STORE__URL": self.url} if self.url else where


class Arena:
    """What one scenario plays in."""

    def __init__(
        self,
        folder: Path,
        site: Site,
        place: Place,
        *,
        undo: ExitStack,
        postgres: PrivatePostgres | None,
        redis: PrivateRedis,
        nursery: Nursery,
        chance: random.Random,
    ) -> None:
        self.folder = folder
        self.site = site
        self.place = place
        #: Undone after every process has ended.
        self.undo = undo
        self.postgres = postgres
        self.redis = redis
        self.nursery = nursery
        self.chance = chance
        self.pages = Pages(chance)
        self.journal = Journal(folder / "journal")
        self.submitted = 0
        self._workers = 0
        for number in range(HOSTS):
            site.reply(host_of(number), PATH, self.pages)

    @property
    def environment(self) -> dict[str, str]:
        """What every process is told."""
        known = ",".join(f"{name}={address}" for name, address in self.site.known_hosts.items())
        return {**FAST, **self.place.environment, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}

    # ── workers

    def as_worker(self, **extra: str) -> dict[str, str]:
        """The environment of one more worker.

        Several workers must share a Redis. Each has its own prefix there, unless told: the slots
        of one that is killed are free only after a while, and many are killed in that time.
        """
        self._workers += 1
        shared = {
            "PENSTOCK_SHARED__URL": self.redis.url,
            "PENSTOCK_SHARED__PREFIX": f"worker-{self._workers}:",
        }
        return {**self.environment, **QUICK_PULSE, **shared, **extra}

    async def start_worker(self, **extra: str) -> Running:
        """A worker at work; forked, so that it is there at once."""
        worker = await self.nursery.fork(["worker"], self.as_worker(**extra))
        await worker.is_up()
        return worker

    async def execute(self, *command: str | Path, **extra: str) -> Running:
        """`penstock worker` as anybody would start it, under another program if one is given."""
        worker = await self.nursery.execute([*command, PENSTOCK, "worker"], self.as_worker(**extra))
        await worker.is_up()
        return worker

    async def send_home(self, worker: Running) -> None:
        """End a worker gently."""
        worker.send(signal.SIGTERM)
        await worker.ended(RECOVERY_SECONDS)

    # ── the store

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store]:
        """The store, opened for the harness."""
        async with open_store(self.place.settings, SystemClock()) as store:
            yield store

    async def held(self) -> Held:
        async with self.store() as store:
            return await hold(store)

    async def claimed(self, store: Store, owner: str = "") -> int:
        """How many items are somebody's, or a certain worker's."""
        query = select(func.count()).where(items.c.state == "claimed")
        if owner:
            query = query.where(items.c.owner == owner)
        return await store.read(lambda unit: int(unit.run(query).scalar_one()))

    async def is_writable(self) -> bool:
        """Whether nobody is in the middle of a write."""
        return bool(self.place.url) or not is_written_to(self.place.folder / FILE_NAME)

    # ── load

    def reserve(self, count: int) -> int:
        """The first of so many numbers of items that nobody else uses."""
        first = self.submitted
        self.submitted += count
        return first

    @asynccontextmanager
    async def load(self, most: int, backlog: int = 200) -> AsyncIterator["Load"]:
        """Items are put for as long as the block lasts, but never too many at once."""
        async with self.store() as store:
            load = Load(self, store, most, backlog)
            task = asyncio.create_task(load.run())
            try:
                yield load
            finally:
                load.stop()
                await task

    async def drained(self, seconds: float = RECOVERY_SECONDS) -> float:
        """Wait until everything is over; how long that took, or the time that was allowed."""
        began = time.monotonic()
        async with self.store() as store:
            while time.monotonic() - began < seconds:
                if not await pending(store):
                    break
                await asyncio.sleep(LOOK_EVERY)
        return time.monotonic() - began

    async def unfinished(self, store: Store) -> str:
        """The items that are not over and the lines that they stand in, for whoever wonders why."""
        left = select(
            items.c.id, items.c.state, items.c.owner, items.c.group_key, items.c.not_before
        ).where(items.c.state.in_(("waiting", "claimed")))

        def look(unit: Unit) -> list[Any]:
            return [unit.now, *map(tuple, unit.run(left)), *map(tuple, unit.run(select(lines)))]

        return "\n".join(map(str, await store.read(look)))

    async def findings(self) -> Findings:
        hits = Counter(f"http://{hit.host}{hit.path}" for hit in self.site.hits)
        return check(self.journal.read(), await self.held(), hits)


@dataclass(slots=True)
class Load:
    """A submitter that keeps the workers busy."""

    arena: Arena
    store: Store
    most: int
    backlog: int
    _stopped: bool = field(default=False, init=False)

    def stop(self) -> None:
        self._stopped = True

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Nothing is put in the block."""
        backlog, self.backlog = self.backlog, -1
        try:
            yield
        finally:
            self.backlog = backlog

    @property
    def is_over(self) -> bool:
        """Whether everything there was to put is put."""
        return self.arena.submitted >= self.most

    async def run(self) -> None:
        queue = SqlQueue(self.store, {})
        while not self._stopped and not self.is_over:
            if await pending(self.store) > self.backlog:
                await asyncio.sleep(LOOK_EVERY / 2)
                continue
            number = min(BATCH, self.most - self.arena.submitted)
            some = make_items(self.arena.reserve(number), number)
            await submit(queue, self.arena.journal, some)

    async def flows(self, seconds: float = RECOVERY_SECONDS) -> None:
        """Wait until workers have something under way."""
        await until(self._some_claimed, seconds)

    async def _some_claimed(self) -> bool:
        return await self.arena.claimed(self.store) > 0


async def pending(store: Store) -> int:
    """How many items are not over, by their own rows."""
    query = select(func.count()).where(items.c.state.in_(("waiting", "claimed")))
    return await store.read(lambda unit: int(unit.run(query).scalar_one()))


async def workers_known(store: Store) -> set[str]:
    return set(await store.read(lambda unit: unit.run(select(workers.c.id)).scalars().all()))


async def until(condition: Callable[[], Awaitable[bool]], seconds: float) -> float:
    """Wait for a condition; how long it took."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while True:
            if await condition():
                return time.monotonic() - began
            await asyncio.sleep(LOOK_EVERY)


class Pages:
    """A page after a moment; one in some is not there."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._hang = 0.0

    def __call__(self, hit: Hit) -> Reply:
        missing = int(hit.number("item", 0)) % MISSING_EVERY == 1
        delay = self._hang or self._chance.uniform(0.0, SLOWEST_PAGE)
        return Reply(404 if missing else 200, "<p>here</p>", delay=delay)

    @contextmanager
    def hanging(self, seconds: float) -> Iterator[None]:
        """Who asks in the block waits for so long."""
        self._hang = seconds
        try:
            yield
        finally:
            self._hang = 0.0


@asynccontextmanager
async def open_place(folder: Path, server: PrivatePostgres | None) -> AsyncIterator[Place]:
    """A store with its tables: in the folder, or in a new database on a server."""
    name = f"chaos_{uuid4().hex}"
    if not server:
        yield await _made(Place(folder))
        return
    await run_sql(server.url, f"CREATE DATABASE {name}")
    try:
        url = make_url(server.url).set(database=name).render_as_string(hide_password=False)
        yield await _made(Place(folder, url))
    finally:
        await run_sql(server.url, f"DROP DATABASE {name} WITH (FORCE)")


async def _made(place: Place) -> Place:
    async with open_store(place.settings, SystemClock()) as store:
        await migrate.upgrade(store)
    return place


@asynccontextmanager
async def open_arena(
    folder: Path,
    postgres: PrivatePostgres | None,
    *,
    ground: Callable[[Path], AbstractContextManager[None]],
    seed: int,
) -> AsyncIterator[Arena]:
    """An arena on SQLite, or on a PostgreSQL server; left, nothing of it runs any more."""
    chance = random.Random(seed)
    async with AsyncExitStack() as stack:
        undo = stack.enter_context(ExitStack())
        undo.enter_context(ground(folder / "store"))
        site = await stack.enter_async_context(Site())
        place = await stack.enter_async_context(open_place(folder / "store", postgres))
        nursery = await stack.enter_async_context(open_nursery(folder))
        redis = PrivateRedis(redis_server.find_program(), folder)
        stack.callback(redis.kill)
        redis.start()
        yield Arena(
            folder,
            site,
            place,
            undo=undo,
            postgres=postgres,
            redis=redis,
            nursery=nursery,
            chance=chance,
        )
