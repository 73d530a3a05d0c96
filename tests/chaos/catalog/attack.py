"""Twenty shops are crawled while workers, RabbitMQ, PostgreSQL and a shop fail."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Select, func, select

from penstock.events.tables import deliveries
from penstock.products.images import PENDING
from penstock.products.tables import images
from penstock.queue.tables import items
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import OVER
from penstock.workloads.catalog.tables import crawl_tasks
from tests.catalogs import HOSTS, all_urls
from tests.chaos.catalog.findings import Findings, examine, expected_at
from tests.chaos.catalog.fleet import Fleet, open_fleet
from tests.chaos.catalog.servers import Servers, open_servers
from tests.private_server import PrivateServer
from tests.shell import eventually
from tests.site import Site
from tests.site.settings import SiteSettings
from tests.site.shopkeeper import Shopkeeper

WORKERS = 2
#: A shop whose pages have no pictures: those would wait for a minute after it is back.
DOWN = "goods14.test"
#: Its robots forbid nothing, but ask for a second between requests.
SLOW = "goods03.test"
LONGEST_ABSENCE = 1.5
#: A shop is down for longer than all retries of a page take together.
DOWN_SECONDS = 5.0
DRAIN_SECONDS = 240.0
Fault = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Size:
    """Pages of every shop, how many of them a shop gives in a second, and how often things fail."""

    pages: int
    pace: int
    kills: int
    restarts: int


SMALL, LONG = Size(12, 6, 2, 1), Size(100, 12, 10, 3)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it, and how many seconds the rest took after the last fault."""

    found: Findings
    seconds: float
    recovery: float


class Attack:
    """A scheduler and two workers under attack."""

    def __init__(
        self, fleet: Fleet, servers: Servers, keeper: Shopkeeper, chance: random.Random
    ) -> None:
        self._fleet = fleet
        self._servers = servers
        self._keeper = keeper
        self._chance = chance
        self._workers = [fleet.begin("worker") for _ in range(WORKERS)]
        fleet.begin("scheduler")

    def faults(self, size: Size) -> list[Fault]:
        """What is done, in this order: one thing after the other, spread over the whole crawl."""
        chosen: list[Fault] = [self._kill] * (size.kills - 1)
        servers: Sequence[PrivateServer] = (self._servers.rabbitmq, self._servers.postgres)
        chosen += [partial(self._restart, server) for server in servers] * size.restarts
        self._chance.shuffle(chosen)
        return [self._kill, *chosen]

    async def wreck(self, size: Size, total: int) -> None:
        faults = self.faults(size)
        await eventually(lambda: self._keeper.hits(DOWN), DRAIN_SECONDS)
        down = asyncio.create_task(self._be_down())
        for place, fault in enumerate(faults, start=1):
            wanted = total * place // (len(faults) + 2)
            await eventually(partial(self._have_ended, wanted), DRAIN_SECONDS)
            await fault()
        await down

    async def _have_ended(self, wanted: int) -> bool:
        return await self._fleet.store.read(count_ended) >= wanted

    async def _be_down(self) -> None:
        self._keeper.take_down(DOWN)
        await asyncio.sleep(DOWN_SECONDS)
        self._keeper.bring_up(DOWN)

    async def _kill(self) -> None:
        """`kill -9` of a worker that is at work; another is started in its place."""
        place = self._chance.randrange(WORKERS)
        await self._workers[place].is_up()
        await asyncio.sleep(self._chance.uniform(0.0, 0.5))
        await self._workers[place].kill()
        self._workers[place] = self._fleet.begin("worker")

    async def _restart(self, server: PrivateServer) -> None:
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(self._chance.uniform(0.1, LONGEST_ABSENCE))
        await asyncio.to_thread(server.start)


async def play(folder: Path, *, size: Size, seed: int) -> Played:
    """Hand all pages in, break, and see what came of it."""
    urls = all_urls(HOSTS, size.pages)
    with open_servers(folder) as servers:
        settings = SiteSettings(catalog_pages=size.pages)
        async with Site(settings=settings) as site, open_fleet(folder, site, servers) as fleet:
            site.robots[SLOW] = ""
            keeper = Shopkeeper(site)
            await fleet.submit(urls, size.pace)
            began = time.monotonic()
            attack = Attack(fleet, servers, keeper, random.Random(seed))
            await attack.wreck(size, sum(1 + len(expected_at(url).images) for url in urls))
            last = time.monotonic()
            await drained(fleet)
            ended = time.monotonic()
            found = await examine(fleet, urls, keeper.asked())
            return Played(found, ended - began, ended - last)


async def drained(fleet: Fleet) -> None:
    """Wait until every task, picture and event is over."""

    async def is_over() -> bool:
        return not await fleet.store.read(count_open)

    await eventually(is_over, DRAIN_SECONDS)


def count_ended(unit: Unit) -> int:
    """How many tasks and pictures are over."""
    over = crawl_tasks.c.status.in_([status.value for status in OVER])
    queries = (
        select(func.count()).where(over),
        select(func.count()).where(images.c.status != PENDING),
    )
    return sum(int(unit.run(query).scalar_one()) for query in queries)


def count_open(unit: Unit) -> int:
    over = [status.value for status in OVER]
    queries: list[Select[int]] = [
        select(func.count()).where(crawl_tasks.c.status.not_in(over)),
        select(func.count()).where(images.c.status == PENDING),
        select(func.count()).where(items.c.state.in_(("waiting", "claimed"))),
        select(func.count()).select_from(deliveries),
    ]
    return sum(int(unit.run(query).scalar_one()) for query in queries)
