"""Where chaos is watched from: a site with matches, and `penstock live run` that watches them."""

import asyncio
import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from penstock.core.clock import SystemClock
from penstock.store import migrate
from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store
from penstock.workloads.live.reading import updates_after
from penstock.workloads.live.tables import Row
from tests.browsers import Place, chromiums, named, new_place, processes_below
from tests.chaos.engine.processes import PENSTOCK, Nursery, Running, open_nursery
from tests.chaos.live.truth import Findings, Played, Span, compare
from tests.postgres_server import PrivatePostgres
from tests.private_server import is_alive
from tests.shell import eventually
from tests.site import Site
from tests.site.settings import SiteSettings
from tools.provision.processes import free_port

KEY = "a-key-for-chaos"
MINUTES = 60.0
#: A page asks its site so often, and what is late on a busy machine is so by this much.
PAGE_SECONDS, LATE_SECONDS = 1.0, 1.2
START_SECONDS, FRESH_SECONDS, GONE_SECONDS = 40.0, 60.0, 15.0
LOOK_SECONDS = 0.2
MOST_UPDATES = 10_000
Settings = Mapping[str, Any]
#: As live pages are shipped.
QUICK: Mapping[str, Any] = {
    "POLICIES__SHIPPED": "false",
    "ROBOTS__RETRY_SECONDS": "0.01",
    "API__SERVICE_KEY": KEY,
    "LOG__LEVEL": "WARNING",
}
#: A turn of a site for every look.
PACE = {"tokens_per_interval": 4, "interval_seconds": 1, "request_delay_ms": 0}


@dataclass(frozen=True, slots=True)
class Tempo:
    """How often pages are looked at, and how fast matches pass: a ball is five seconds of one."""

    interval: float
    speed: float

    @property
    def enough(self) -> float:
        """What can be seen for so many seconds must be stored."""
        return PAGE_SECONDS + self.interval + LATE_SECONDS


@dataclass(frozen=True, slots=True)
class Watched:
    """A feed, where its match is shown, and how it is read."""

    host: str
    adapter: str
    number: int
    #: Megabytes a second that its page takes when it leaks.
    leaks: int = 0

    def url(self, tempo: Tempo) -> str:
        query = f"minutes={MINUTES:g}&speed={tempo.speed:g}&mb={self.leaks}"
        return f"http://{self.host}/match/{self.number}?{query}"

    @property
    def is_page(self) -> bool:
        return self.adapter == "cricket"


def some_feeds(pages: int, calls: int, leaks: Sequence[int] = ()) -> list[Watched]:
    """Feeds in pages that stay open, some of which can leak, and feeds that are asked for."""
    found = []
    for number in range(1, pages + calls + 1):
        adapter = "cricket" if number <= pages else "cricket-data"
        leak = leaks[number - 1] if number <= len(leaks) else 0
        found.append(Watched(f"live{number:02}.test", adapter, number, leak))
    return found


@dataclass(slots=True)
class Stand:
    """A running service, its site and its feeds; and when it could not see what happened."""

    site: Site
    feeds: Sequence[Watched]
    tempo: Tempo
    nursery: Nursery
    place: Place
    settings: Mapping[str, str]
    store_settings: StoreSettings
    http: httpx.AsyncClient
    port: int
    service: Running | None = None
    began: float = 0.0
    blind: dict[str, list[Span]] = field(default_factory=dict)
    family: set[int] = field(default_factory=set)
    #: Updates that are known to be dropped for want of room.
    dropped: int = 0

    # ── the service

    async def start(self) -> None:
        """Start the service; it answers soon."""
        command: list[str | Path] = [PENSTOCK, "live", "run", "--port", str(self.port)]
        self.service = await self.nursery.execute(command, self.settings)
        await self.service.is_up(START_SECONDS)

    @property
    def pid(self) -> int:
        assert self.service
        return self.service.pid

    @property
    def said(self) -> str:
        """The end of its log."""
        return self.service.said[-3000:] if self.service else ""

    async def stop(self) -> int | None:
        """End it in good order; the code that it ended with."""
        assert self.service
        self.note_family()
        # Not its group: whoever else is in it has to be ended by the service itself.
        os.kill(self.pid, signal.SIGTERM)
        return await self.service.ended(START_SECONDS)

    async def kill_service(self) -> None:
        """`kill -9` of the service alone."""
        assert self.service
        self.note_family()
        os.kill(self.pid, signal.SIGKILL)
        await self.service.ended(GONE_SECONDS)

    def note_family(self) -> None:
        """Remember who runs: in the end nobody of them may."""
        self.family.update(processes_below(self.pid))

    def find(self, part: str) -> list[int]:
        """Processes below the service with something in their command."""
        self.note_family()
        return named(processes_below(self.pid), part)

    @property
    def browsers(self) -> list[int]:
        self.note_family()
        return chromiums(self.pid)

    async def nothing_is_left(self) -> None:
        """Every process that ever was below the service is gone, and its files with it."""
        left = sorted(self.family | {self.pid})
        await eventually(lambda: not any(map(is_alive, left)), GONE_SECONDS)
        await eventually(lambda: self.place.files_left() == [], GONE_SECONDS)

    # ── feeds

    async def watch_all(self) -> None:
        """Start all feeds, and wait until each is fresh."""
        for feed in self.feeds:
            body = {"match_id": feed.host, "url": feed.url(self.tempo), "adapter": feed.adapter}
            answer = await self.http.post("/api/v1/live/feeds", json=body)
            assert answer.status_code == 201, answer.text
        for feed in self.feeds:
            await eventually(partial(self._reading, feed), FRESH_SECONDS)
        self.began = time.time()

    def played(self, feed: Watched) -> Played:
        start = self.site.ground.start_of(feed.host, feed.number)
        return Played(feed.number, MINUTES, self.tempo.speed, start.timestamp())

    async def fresh_again(
        self, since: float, blind_from: float | None = None, blind: Sequence[Watched] = ()
    ) -> float:
        """Wait until all feeds show what has been seen since a time; how long after it that is.

        Those that were blind from a time on are so until they are fresh.
        """
        took = await asyncio.gather(*(self._fresh_again(feed, since) for feed in self.feeds))
        for feed, seconds in zip(self.feeds, took, strict=True):
            if blind_from is not None and feed in blind:
                self.blind.setdefault(feed.host, []).append((blind_from, since + seconds))
        return max(took)

    async def _fresh_again(self, feed: Watched, since: float) -> float:
        wanted = self.played(feed).place_at(since)
        async with asyncio.timeout(FRESH_SECONDS):
            while True:
                if await self._is_fresh(feed, since, wanted):
                    return time.time() - since
                await asyncio.sleep(LOOK_SECONDS)

    async def _is_fresh(self, feed: Watched, since: float, wanted: int) -> bool:
        """Whether a feed was looked at since a time, and shows no less than was so then."""
        reading = await self._reading(feed)
        if reading is None:
            return False
        seen, metadata = _seen_at(reading), reading.pop("_metadata")
        place = self.played(feed).place_of(reading)
        is_there = place is not None and place >= wanted
        return is_there and seen >= since and metadata["source"] == "scraper"

    async def _reading(self, feed: Watched) -> dict[str, Any] | None:
        with suppress(httpx.TransportError):
            answer = await self.http.get(f"/api/v1/live/{feed.host}")
            if answer.status_code == 200:
                found: dict[str, Any] = answer.json()["data"]
                return found
        return None

    async def health(self) -> dict[str, Any]:
        """As a monitor has it, on a connection that is used once."""
        answer = await self.http.get("/health", headers={"Connection": "close"})
        found: dict[str, Any] = answer.json()
        return found

    async def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        text = (await self.http.get("/metrics")).text
        found = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found))

    # ── faults

    async def suffer(
        self, fault: Callable[[], Awaitable[None]], blind: Sequence[Watched] | None = None
    ) -> float:
        """Let a fault happen that blinds all feeds, or some, and see how soon all are fresh."""
        begun = time.time()
        await fault()
        return await self.fresh_again(time.time(), begun, self.feeds if blind is None else blind)

    async def watch_gaps(self, gaps: dict[str, float], feeds: Sequence[Watched]) -> None:
        """Note the longest time between two looks at feeds, until cancelled."""
        last = dict.fromkeys([feed.host for feed in feeds], time.time())
        while True:
            for feed in feeds:
                reading = await self._reading(feed)
                now, host = time.time(), feed.host
                seen = _seen_at(reading) if reading else 0.0
                if now - last[host] > PAGE_SECONDS + self.tempo.interval:
                    self.blind.setdefault(host, []).append((last[host], now))
                gaps[host] = max(gaps.get(host, 0.0), now - last[host])
                last[host] = max(last[host], seen)
            await asyncio.sleep(LOOK_SECONDS)

    async def slowest_health(self, seconds: float) -> float:
        """Ask for /health for a while; the longest that an answer took."""
        until, slowest = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < until:
            await self.health()
            slowest = max(slowest, time.monotonic() - now)
            await asyncio.sleep(LOOK_SECONDS)
        return slowest

    # ── what came of it

    async def settle(self) -> None:
        """Wait until what could be seen has been, in a service that is well."""
        await self.fresh_again(time.time())

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store]:
        async with open_store(self.store_settings, SystemClock()) as store:
            yield store

    async def findings(self, enough: float) -> Findings:
        """Compare what is stored with what could be seen for `enough` seconds on end."""
        until = time.time()
        found = Findings()
        async with self.store() as store:
            for feed in self.feeds:
                updates = await _updates_of(store, feed)
                one = compare(
                    self.played(feed),
                    updates,
                    (self.began, until - enough),
                    blind=self.blind.get(feed.host, ()),
                    enough=enough,
                    dropped=self.dropped,
                )
                found = found.plus(one)
        return found


async def _updates_of(store: Store, feed: Watched) -> list[Row]:
    return await store.read(lambda unit: updates_after(unit, feed.host, 0, MOST_UPDATES))


def _seen_at(reading: dict[str, Any]) -> float:
    """When a page was last seen, to the second."""
    return datetime.fromisoformat(reading["_metadata"]["scraped_at"]).timestamp()


@asynccontextmanager
async def open_stand(
    folder: Path,
    feeds: Sequence[Watched],
    tempo: Tempo,
    *,
    postgres: PrivatePostgres | None = None,
    **live: Any,
) -> AsyncIterator[Stand]:
    """A service that watches feeds; left, nothing of it runs any more."""
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(Site(settings=SiteSettings(keep_hits=1000)))
        place = stack.enter_context(new_place())
        nursery = await stack.enter_async_context(open_nursery(folder))
        port = free_port()
        http = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", headers={"X-Service-Key": KEY}, timeout=10
            )
        )
        url = postgres.url if postgres else ""
        store = StoreSettings(folder=folder / "store", url=url)
        live = {"polling_interval_seconds": tempo.interval, **live}
        settings = _settings(site, place, store, feeds=feeds, live=live)
        stand = Stand(site, feeds, tempo, nursery, place, settings, store, http, port)
        async with stand.store() as tables:
            await migrate.upgrade(tables)
        await stand.start()
        await stand.watch_all()
        yield stand


def _settings(
    site: Site,
    place: Place,
    store: StoreSettings,
    *,
    feeds: Sequence[Watched],
    live: Mapping[str, Any],
) -> dict[str, str]:
    folder = store.folder.parent
    policies = folder / "policies.yaml"
    policies.write_text(json.dumps({"domains": {feed.host: PACE for feed in feeds}}))
    said: dict[str, Any] = {
        **QUICK,
        "ADMISSION__KNOWN_HOSTS": ",".join(f"{k}={v}" for k, v in site.known_hosts.items()),
        "POLICIES__FILES": policies,
        "STORE__FOLDER": store.folder,
        "SHARED__LOCK_FILE": folder / "lock",
        **({"STORE__URL": store.url.get_secret_value()} if store.url else {}),
        **{f"BROWSER__{name.upper()}": value for name, value in place.settings().items()},
        **{f"LIVE__{name.upper()}": value for name, value in live.items()},
    }
    return {f"PENSTOCK_{name}": str(value) for name, value in said.items()}
