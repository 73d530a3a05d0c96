"""What makes progress and what does not, in one screen."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.console.charts import sparkline
from penstock.console.events import MOST_COUNTED
from penstock.console.kept import Kept
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.recent import FAILURE, LANE, PAGES, Recent
from penstock.console.services import Services
from penstock.core.errors import UrlError
from penstock.core.urls import bare_host, registrable_domain
from penstock.events.relay import Deliveries
from penstock.kernel.fetchers.browser.processes import free_memory, memory_of, total_memory
from penstock.kernel.ports import Slowed
from penstock.kernel.switches import EVERYTHING
from penstock.queue.glance import Crowds, Glance, glance, largest_crowds
from penstock.queue.health import judge, longest_held
from penstock.queue.upkeep import Upkeep
from penstock.web.errors import invalid
from penstock.workloads.live.model import FeedStatus, ScraperStatus

#: So many of each kind of trouble are shown.
SHOWN = 5
MOST_FEEDS = 200
#: Where what is done in a lane is looked at.
PLACES: Mapping[str, str] = {
    "scrape": "/scrape",
    "monitor": "/monitor",
    "stream": "/stream",
    "catalog": "/catalog",
    "catalog_parse": "/catalog",
}
PAUSED = "Stop all contact: what is under way is broken off and done later, what comes in waits."


class Work(NamedTuple):
    """What the queue holds; for how many seconds the oldest claim of each lane is held."""

    glance: Glance
    crowds: Crowds
    held: Mapping[str, float]


class Memory(NamedTuple):
    """Bytes: of this process with its browsers; free on the machine, and all of it."""

    own: int
    free: int
    total: int


class Stale(NamedTuple):
    """A feed without fresh data; for how many seconds, if there ever was some."""

    match_id: str
    status: str
    age_seconds: int | None


@dataclass(frozen=True, slots=True)
class Owed:
    """Deliveries that wait, and those that were given up, by who is to get them.

    Of each no more than a number are counted; whether there are more of some.
    """

    waiting: int
    parked: Mapping[str, int]
    has_more: bool


@dataclass(frozen=True, slots=True)
class LaneView:
    """A lane of the queue with what it did lately."""

    name: str
    to: str
    numbers: Mapping[str, Any]
    per_minute: float | None
    line: str


class Overview:
    """Everything that the first page shows; what costs something is looked up now and then."""

    def __init__(self, services: Services) -> None:
        self._of = services
        clock = services.clock
        self._work = Kept(self._look_at_work, clock)
        self._feeds = Kept(self._look_at_feeds, clock)
        self._owed = Kept(self._look_at_deliveries, clock)
        self._memory = Kept(_look_at_memory, clock)

    async def show(self) -> dict[str, Any]:
        """The values of the page."""
        recent = self._of.recent
        await self._of.outages.look()
        paused = await self._of.switches.paused()
        work = await self._work.get()
        workers = await Upkeep(self._of.store).workers()
        health = judge(work.glance.depths, workers, paused, work.held)
        return {
            "health": health,
            "paused": paused,
            "lanes": [_lane(name, lane, recent) for name, lane in health.lanes.items()],
            "uncounted": work.glance.uncounted,
            "crowds": work.crowds,
            "looks_since": recent.began_at,
            "pages": recent.per_minute(PAGES),
            "pages_line": _line(recent, "pages per minute", PAGES),
            "failed": recent.per_minute(FAILURE),
            "failed_line": _line(recent, "failures per minute", FAILURE),
            "failures": recent.failures()[:SHOWN],
            "outages": await self._of.outages.open(),
            "slowed": sorted(await self._of.pacing.slowed(), key=_by_end),
            "disabled": await self._disabled(),
            "stale": await self._feeds.get(),
            "live": await self._of.live_health(),
            "owed": await self._owed.get(),
            "pool": self._of.browsers(),
            "memory": await self._memory.get(),
            "shown": SHOWN,
            "pausing": PAUSED,
        }

    async def _look_at_work(self) -> Work:
        store = self._of.store
        return Work(
            await glance(store),
            await largest_crowds(store, SHOWN),
            await longest_held(store, await self._of.switches.paused()),
        )

    async def _disabled(self) -> list[Any]:
        return [each for each in await self._of.monitor.adapters.all() if not each.enabled]

    async def _look_at_feeds(self) -> list[Stale]:
        """Feeds that are to be watched and are not fresh."""
        live, found = self._of.live, []
        for status in (FeedStatus.WATCHING, FeedStatus.WAITING):
            for row in await live.list_feeds(status, limit=MOST_FEEDS):
                fresh = live.freshness(row)
                if fresh.scraper_status != ScraperStatus.ACTIVE:
                    found.append(Stale(row["match_id"], fresh.scraper_status, fresh.age_seconds))
        return found

    async def _look_at_deliveries(self) -> Owed:
        rows = await Deliveries(self._of.store).counts(MOST_COUNTED)
        parked = {row["sink"]: row["events"] for row in rows if row["state"] == "parked"}
        waiting = sum(row["events"] for row in rows if row["state"] == "waiting")
        return Owed(waiting, parked, any(row["events"] > MOST_COUNTED for row in rows))


def add(console: Console, services: Services) -> None:
    """Show how everything does; pause and resume contact."""
    overview = Overview(services)

    @console.page("")
    async def show(_ask: Ask) -> View:
        return View("overview.html", {"title": "Overview", **await overview.show()})

    @console.action("/pause")
    async def pause(form: Form) -> Done:
        name = EVERYTHING if form.get("everything") else _domain(form.get("domain"))
        reason = form.get("reason")
        await services.switches.pause(name, reason)
        what = name or "All contact"
        detail = {"reason": reason} if reason else {}
        return Done(ROOT, f"{what} is paused", "pause", name or "everything", detail)

    @console.action("/resume")
    async def resume(form: Form) -> Done:
        name = form.get("domain")
        was_paused = await services.switches.resume(name)
        what = name or "All contact"
        says = f"{what} goes on" if was_paused else f"{what} was not paused"
        return Done(ROOT, says, "resume", name or "everything")


def _domain(text: str) -> str:
    if not text:
        raise invalid("domain", "name the domain that is to be paused")
    try:
        return registrable_domain(bare_host(text))
    except UrlError as error:
        raise invalid("domain", str(error)) from error


def _lane(name: str, numbers: Mapping[str, Any], recent: Recent) -> LaneView:
    line = _line(recent, f"{name}: over per minute", LANE, name)
    return LaneView(name, PLACES.get(name, ""), numbers, recent.per_minute(LANE, name), line)


def _line(recent: Recent, label: str, *name: str) -> str:
    values = recent.line(*name)
    return sparkline(values, label) if len(values) > 1 and any(values) else ""


def _by_end(slowed: Slowed) -> float:
    return -slowed.seconds


async def _look_at_memory() -> Memory:
    own = await asyncio.to_thread(memory_of, os.getpid())
    return Memory(own, free_memory(), total_memory())
