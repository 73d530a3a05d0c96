"""One live page, followed without a store: what is seen goes to whoever asked."""

import asyncio
from dataclasses import dataclass
from uuid import uuid4

from penstock.app import Platform
from penstock.app.living import way_for
from penstock.extract.live.adapter import LiveAdapter
from penstock.extract.live.registry import open_live_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.web.errors import invalid
from penstock.workloads.live.desk import Desk
from penstock.workloads.live.model import Feed
from penstock.workloads.live.pace import Paces
from penstock.workloads.live.scraper import STOPPED, End, EndKind, Last, Rules, Scraper
from penstock.workloads.live.service import checked


@dataclass(slots=True)
class Follower:
    """Looks at a page by all rules of live pages, one scraper after the other."""

    feed: Feed
    adapter: LiveAdapter
    rules: Rules
    last: Last
    platform: Platform
    #: The present scraper, which says how it does and what it waits for.
    scraper: Scraper | None = None

    async def follow(self, desk: Desk, stopping: asyncio.Event) -> End:
        """Follow the page until it has ended, or somebody wants no more."""
        clock = self.platform.clock
        while True:
            end = await self._scrape(desk, stopping)
            if end.kind is not EndKind.ANEW:
                return end
            pause = self.rules.restarts.pause_after(end.reason)
            if pause is None:
                return End(EndKind.FAILED, f"it was started anew too often: {end.reason}")
            await clock.wait_for(stopping, pause)
            if stopping.is_set():
                return STOPPED

    async def _scrape(self, desk: Desk, stopping: asyncio.Event) -> End:
        settings, clock = self.platform.settings.live, self.platform.clock
        former = self.scraper.context if self.scraper else None
        scraper = self.scraper = Scraper.begin(
            self.feed,
            self.adapter,
            scraper_id=str(uuid4()),
            former=former,
            way=way_for(self.platform, self.feed, self.adapter),
            rules=self.rules,
            last=self.last,
            desk=desk,
            settings=settings,
            clock=clock,
        )
        try:
            return await scraper.run(stopping)
        finally:
            await scraper.way.close()


def open_follower(platform: Platform, draft: Feed) -> Follower:
    """Somebody who follows a page; `InvalidRequest` if that cannot be, or not so often."""
    settings, clock = platform.settings, platform.clock
    registry = open_live_registry(settings.live.adapters)
    feed, adapter = checked(draft, registry, Admission(settings.admission, SystemLookup(1)))
    paces = Paces(platform.policies, settings.live.polling_interval_seconds)
    if problem := paces.problem_with(feed, adapter, ()):
        raise invalid("interval", problem)
    rules = Rules.begin(feed, settings.live, clock, paces.floor_of(feed, adapter))
    return Follower(feed, adapter, rules, Last(changed_at=clock.monotonic()), platform)
