"""A feed for tests: looks that are scripted, a desk that remembers, and a clock moved by hand."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from penstock.extract.live.adapter import LiveAdapter, Snapshot, Source, Unreadable
from penstock.kernel.model import Failure, Page, SiteWide, UrlSpecific, Wait
from penstock.kernel.records import ExtractReason
from penstock.notify.ops import OpsAlert
from penstock.store.unit import Unit
from penstock.workloads.live.context import ScraperContext
from penstock.workloads.live.desk import Trouble
from penstock.workloads.live.model import Feed, Resolution, Update
from penstock.workloads.live.scraper import End, Last, Rules, Scraper
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.ways import Look
from tests.clocks import HandClock

URL = "http://live.test/match/1"
REFUSED_CONNECTION = SiteWide("connect", "the site refuses connections")
NOT_FOUND = UrlSpecific("http_404", "not found", 404)


def page(state: str = "in_play", **payload: Any) -> Page:
    """A page that says so."""
    body = orjson.dumps({"state": state, "payload": payload})
    return Page(URL, 200, {"Content-Type": "application/json"}, body, 0.1)


UNREADABLE = Page(URL, 200, {"Content-Type": "text/html"}, b"<p>new look", 0.1)


def _read(source: Source) -> Snapshot | Unreadable:
    if not isinstance(source.json, dict):
        return Unreadable(ExtractReason.SELECTOR_NOT_FOUND, "tried .score")
    return Snapshot(source.json["payload"], source.json["state"])


ADAPTER = LiveAdapter("scripted", "1.0.0", _read, critical=frozenset({"score"}))


@dataclass
class ScriptedWay:
    """Shows one thing after the other; the last one for ever."""

    shows: list[Page | Failure | Wait]
    seconds: float = 0.1
    is_worn_out: bool = False
    usage: None = None
    looks: int = 0
    anew: list[int] = field(default_factory=list)
    is_closed: bool = False
    error: Exception | None = None

    async def look(self, seconds: float) -> Look:
        del seconds
        if self.error:
            raise self.error
        seen = self.shows[min(self.looks, len(self.shows) - 1)]
        self.looks += 1
        return Look(seen, self.seconds)

    async def look_anew(self, seconds: float) -> Look:
        self.anew.append(self.looks)
        return await self.look(seconds)

    async def shoot(self) -> bytes | None:
        return b"picture"

    async def close(self) -> None:
        self.is_closed = True


@dataclass
class MemoryDesk:
    """Keeps what it is handed."""

    updates: list[Update] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    settled: list[Resolution] = field(default_factory=list)
    alerts: list[OpsAlert] = field(default_factory=list)
    calmed: list[str] = field(default_factory=list)
    looks: list[bool] = field(default_factory=list)
    notes: list[Callable[[Unit], object]] = field(default_factory=list)
    lacking: set[str] = field(default_factory=set)
    fails: Exception | None = None

    def take(self, update: Update) -> None:
        if self.fails:
            raise self.fails
        self.updates.append(update)

    def lacks(self, match_id: str) -> bool:
        return match_id in self.lacking

    def last_of(self, match_id: str) -> Update | None:
        del match_id
        return None

    def looked(self, match_id: str, seconds: float, *, changed: bool) -> None:
        del match_id, seconds
        self.looks.append(changed)

    def trouble(self, trouble: Trouble) -> None:
        self.troubles.append(trouble)

    def settle(self, match_id: str, method: Resolution) -> None:
        del match_id
        self.settled.append(method)

    def alert(self, alert: OpsAlert) -> None:
        self.alerts.append(alert)

    def calm(self, kind: str, match_id: str) -> None:
        del match_id
        self.calmed.append(kind)

    def note(self, work: Callable[[Unit], object], *, first: bool = False) -> Awaitable[None]:
        del first
        self.notes.append(work)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


class StopClock(HandClock):
    """Ends whatever runs after so many pauses."""

    def __init__(self, pauses: int, stopping: asyncio.Event) -> None:
        super().__init__()
        self.left = pauses
        self._stopping = stopping
        self.pauses: list[float] = []

    async def wait_for(self, event: asyncio.Event, seconds: float) -> None:
        self.pauses.append(seconds)
        self.left -= 1
        if self.left <= 0:
            self._stopping.set()
        await super().wait_for(event, seconds)


@dataclass
class Watch:
    """A scraper at work on a script."""

    scraper: Scraper
    way: ScriptedWay
    desk: MemoryDesk
    clock: StopClock
    stopping: asyncio.Event

    async def run(self) -> End:
        return await self.scraper.run(self.stopping)

    def start_anew(self) -> None:
        """As the next scraper does: only the rules know of the last one."""
        settings, former = self.scraper.settings, self.scraper.context
        self.scraper.context = ScraperContext.begin(
            "the-next", "m1", URL, settings, self.clock, former=former
        )


def watch(
    shows: Iterable[Page | Failure | Wait],
    cycles: int = 1,
    *,
    options: Mapping[str, Any] | None = None,
    last: Last | None = None,
    **changes: Any,
) -> Watch:
    """A scraper that will look so often at what is scripted."""
    settings, stopping = LiveSettings(**changes), asyncio.Event()
    clock, desk, way = StopClock(cycles, stopping), MemoryDesk(), ScriptedWay(list(shows))
    feed = Feed("m1", URL, "scripted", options or {})
    scraper = Scraper(
        feed=feed,
        adapter=ADAPTER,
        way=way,
        rules=Rules.begin(feed, settings, clock),
        context=ScraperContext.begin("a-scraper", "m1", URL, settings, clock),
        last=last or Last(changed_at=clock.monotonic()),
        desk=desk,
        settings=settings,
        clock=clock,
    )
    return Watch(scraper, way, desk, clock, stopping)
