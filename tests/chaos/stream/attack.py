"""Thousands of URLs while everything fails: sites, page fetchers, Kafka and Redis."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.chaos.stream.crawl import SITES, Absence, Crawl, Findings, examine, pace_of
from tests.chaos.stream.fleet import Fleet, open_fleet
from tests.durable_redis import DurableRedis
from tests.kafka_server import PrivateKafka
from tests.page_fetchers import Servers
from tests.private_server import PrivateServer
from tests.shell import eventually
from tests.site import Answer, Reply, Reset, Site

FETCHERS = 2
#: What sites that are down answer, one after the other.
OUTAGES: Sequence[Answer] = (Reset(), Reply(503, "down"))
LONGEST_ABSENCE = 2.0
#: So many pages of a fetcher may be told of and not settled at any moment: a quarter of a second's.
UNDER_WAY = 32
DRAIN_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Size:
    """How many URLs there are in all, and how often a page fetcher is killed.

    `rate` is how many a site gives in a second; all sites together then ask for little of the
    machine. For `calm` seconds sites are well, and then down, while nothing else fails.
    """

    urls: int
    kills: int
    rate: float
    calm: float


#: Without any trouble they would take 25 seconds, and 4 minutes.
SMALL, LONG = Size(10_000, 9, rate=10.0, calm=4.0), Size(60_000, 200, rate=6.25, calm=6.0)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it: what sites that were well had per second, before others went down and then.

    `recovery` is how many seconds the rest took after the last fault.
    """

    found: Findings
    kills: int
    before: float
    meanwhile: float
    recovery: float

    @property
    def is_well(self) -> bool:
        """Nothing is wrong, a kill repeats little, and sites that were well had half their pace."""
        few = self.kills * UNDER_WAY
        return (
            self.found.is_clean and self.found.refetched <= few and self.meanwhile > self.before / 2
        )


class Attack:
    """Two page fetchers under attack."""

    def __init__(
        self,
        site: Site,
        fleet: Fleet,
        servers: tuple[PrivateServer, PrivateServer],
        chance: random.Random,
    ) -> None:
        self._site = site
        self._fleet = fleet
        self._kafka, self._redis = servers
        self._chance = chance
        self.absences: list[Absence] = []

    async def hold_off(
        self, healthy: list[str], down: list[str], calm: float
    ) -> tuple[float, float]:
        """Let two sites go down while nothing else fails; the pace of the others, twice."""
        before = await self._pace_of(healthy, calm)
        for host, answer in zip(down, OUTAGES, strict=True):
            self._site.take_down(host, answer)
        return before, await self._pace_of(healthy, calm)

    async def wreck(self, kills: int, down: list[str]) -> None:
        """Kill fetchers all the time; in the middle of it sites come back, and servers restart."""
        await self._kill(kills // 3)
        for host in down:
            self._site.bring_up(host)
        await asyncio.gather(self._restart(self._kafka), self._kill(kills // 3))
        await asyncio.gather(self._restart(self._redis), self._kill(kills - 2 * (kills // 3)))

    async def _pace_of(self, hosts: list[str], seconds: float) -> float:
        clock = asyncio.get_running_loop().time
        began = clock()
        await asyncio.sleep(seconds)
        return pace_of(self._site, hosts, began, clock())

    async def _kill(self, times: int) -> None:
        """`kill -9` of a fetcher at any moment; another is started in its place."""
        for _ in range(times):
            await asyncio.sleep(self._chance.uniform(0.3, 1.5))
            alive = [each for each in self._fleet.all if each.is_alive]
            if alive:
                await self._chance.choice(alive).kill()
            self._fleet.begin()

    async def _restart(self, server: PrivateServer) -> None:
        since = datetime.now(UTC)
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(self._chance.uniform(0.5, LONGEST_ABSENCE))
        await asyncio.to_thread(server.start)
        self.absences.append(Absence(since, datetime.now(UTC)))


async def play(
    folder: Path, kafka: PrivateKafka, redis: DurableRedis, *, size: Size, seed: int
) -> Played:
    """Push, break, and see what came of it."""
    crawl = Crawl(size.urls // SITES)
    stream: dict[str, Any] = {
        "rate_limit_per_second": size.rate,
        "circuit_breaker_failure_threshold": 5,
        "circuit_breaker_initial_backoff_seconds": 0.5,
        "circuit_breaker_max_backoff_seconds": 2,
    }
    servers = await Servers.clean(redis.url, kafka.url)
    try:
        async with Site() as site, open_fleet(folder, site, servers, **stream) as fleet:
            crawl.stand_up(site)
            attack = Attack(site, fleet, (kafka, redis), random.Random(seed))
            for _ in range(FETCHERS):
                await fleet.start()
            await servers.push(*crawl.urls())
            await eventually(lambda: _has_begun(site, crawl))
            down, healthy = crawl.hosts[: len(OUTAGES)], crawl.hosts[len(OUTAGES) :]
            before, meanwhile = await attack.hold_off(healthy, down, size.calm)
            await attack.wreck(size.kills, down)
            recovery = await _drained(servers, fleet)
            found = await examine(crawl, site, servers, attack.absences)
            return Played(found, size.kills, before, meanwhile, recovery)
    finally:
        await servers.close()


def _has_begun(site: Site, crawl: Crawl) -> bool:
    """Every site was asked for something but its robots."""
    return {hit.host for hit in site.hits if hit.route == "/page"} == set(crawl.hosts)


async def _drained(servers: Servers, fleet: Fleet) -> float:
    """Wait until all is over, and send everybody home; how many seconds it took."""
    began = time.monotonic()
    for fetcher in fleet.all:
        if fetcher.is_alive:
            await fetcher.is_up()
    alive = [fetcher for fetcher in fleet.all if fetcher.is_alive]
    while len(alive) < FETCHERS:
        alive.append(await fleet.start())
    await eventually(servers.is_empty, DRAIN_SECONDS)
    took = time.monotonic() - began
    for fetcher in alive:
        await fetcher.end()
    return took
