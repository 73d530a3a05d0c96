"""Keeps one feed watched: one scraper after the other, for as long as somebody wants it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from penstock.core.clock import Clock
from penstock.core.errors import JournalFailed, PenstockError
from penstock.core.log import get_logger
from penstock.extract.live.adapter import LiveAdapter
from penstock.notify.ops import OpsAlert
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live.context import MIB, ScraperContext
from penstock.workloads.live.desk import Desk
from penstock.workloads.live.feeds import (
    begin_scraper,
    complete_feed,
    put_off,
    refuse_feed,
)
from penstock.workloads.live.model import Feed, FeedStatus, Resolution, Saved, Update
from penstock.workloads.live.scraper import (
    CEILING_ALERT,
    JOURNAL_ALERT,
    End,
    EndKind,
    Last,
    Rules,
    Scraper,
)
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.ways import Way

#: A feed whose scrapers fail again and again rests for so long.
REST_SECONDS = 3600.0
#: While memory is short, it is looked again after so long.
SHORT_SECONDS = 30.0
CRASH = "crash"


class Noting(Desk, Protocol):
    """A desk that writes other things down, too."""

    def note(self, work: Callable[[Unit], object], *, first: bool = False) -> Awaitable[None]:
        """Have something small written; to be awaited by who must know that it is."""
        ...

    def last_of(self, match_id: str) -> Update | None:
        """The latest update of a feed that is not written yet."""
        ...


@dataclass(frozen=True, slots=True)
class Hands:
    """What all watchers of a process work with."""

    settings: LiveSettings
    store: Store
    desk: Noting
    clock: Clock
    #: Hears why a scraper starts anew.
    restarted: Callable[[str], None]
    way_for: Callable[[Feed, LiveAdapter], Way]
    free_memory: Callable[[], int]
    #: The shortest interval that the domain's policy allows.
    floor_of: Callable[[Feed, LiveAdapter], float]
    #: This process among all that watch feeds.
    worker: Callable[[], str]

    @property
    def memory_shortage(self) -> str | None:
        """Why no scraper may start now, if memory is short."""
        least = self.settings.min_free_memory_mb
        left = self.free_memory() // MIB
        if left >= least:
            return None
        return f"memory is short: {left} MB are left, and {least} MB must be (min_free_memory_mb)"


class Watcher:
    """Watches one feed; ends when the feed is over, put off or no longer ours."""

    def __init__(self, feed: Feed, adapter: LiveAdapter, hands: Hands) -> None:
        self.feed = feed
        self.adapter = adapter
        self._hands = hands
        floor = hands.floor_of(feed, adapter)
        self.rules = Rules.begin(feed, hands.settings, hands.clock, floor)
        self._stopping = asyncio.Event()
        self._anew = ""
        self._former: ScraperContext | None = None
        self.scraper_id = str(uuid4())
        #: The scraper that the store knows as the one that watches the feed.
        self.known_id = ""
        self.scraper: Scraper | None = None

    @property
    def context(self) -> ScraperContext | None:
        """How the present scraper does."""
        return self.scraper.context if self.scraper else None

    def stop(self) -> None:
        """End after the present cycle, whatever else was to be."""
        self._anew = ""
        self._stopping.set()

    def restart(self, reason: str) -> None:
        """Start anew after the present cycle."""
        self._anew = reason
        self._stopping.set()

    async def run(self) -> None:
        """Watch until there is nothing more to watch."""
        last = await self._begin()
        while last is not None:
            end = await self._scrape(last)
            if not await self._shall_go_on(end):
                return

    async def _begin(self) -> Last | None:
        """Where the feed stands; None if it cannot be watched now, or is another's."""
        hands = self._hands
        if shortage := hands.memory_shortage:
            await self._put_off(FeedStatus.WAITING, shortage, SHORT_SECONDS)
            return None
        saved = await hands.store.write(self._claim(), "live")
        if saved is None:
            return None
        self.known_id = self.scraper_id
        self.rules.polling.recall(saved.memory)
        last = Last.of(saved, hands.clock.monotonic())
        last.go_on_from(hands.desk.last_of(self.feed.match_id))
        return last

    def _claim(self) -> Callable[[Unit], Saved | None]:
        """Says that the present scraper is the one that watches the feed."""
        match_id, worker, identity = self.feed.match_id, self._hands.worker(), self.scraper_id
        return lambda unit: begin_scraper(unit, match_id, worker, identity)

    async def _scrape(self, last: Last) -> End:
        """Run a scraper to its end; a fault of our own ends it, too."""
        scraper = self.scraper = self._scraper(last)
        try:
            end = await scraper.run(self._stopping)
        except JournalFailed as error:
            end = End(EndKind.FAILED, str(error))
            self._alert(
                JOURNAL_ALERT, f"updates can be kept nowhere, so it is not watched: {error}"
            )
        except PenstockError as error:
            end = End(EndKind.ANEW, CRASH)
            get_logger().error("live: a scraper failed", feed=self.feed.match_id, error=str(error))
        except Exception:
            end = End(EndKind.ANEW, CRASH)
            get_logger().exception("live: a scraper broke", feed=self.feed.match_id)
        finally:
            await scraper.way.close()
            self._former, self.scraper = scraper.context, None
        if end.kind is EndKind.STOPPED and self._anew:
            self._stopping.clear()
            end, self._anew = End(EndKind.ANEW, self._anew), ""
        return end

    def _succeed(self) -> None:
        """Another scraper takes over; the store hears of it before it hears of what that sees."""
        self.scraper_id = identity = str(uuid4())
        noted = asyncio.ensure_future(self._hands.desk.note(self._claim(), first=True))
        noted.add_done_callback(lambda _done: self._know(identity))

    def _know(self, identity: str) -> None:
        self.known_id = identity

    async def _shall_go_on(self, end: End) -> bool:
        """See to what the end of a scraper means; whether another one follows."""
        hands, match_id = self._hands, self.feed.match_id
        if end.kind is EndKind.ANEW:
            return await self._pause_before_next(end.reason)
        get_logger().info("live: a scraper ended", feed=match_id, kind=end.kind, reason=end.reason)
        if end.kind is EndKind.COMPLETED:
            identity = self.scraper_id
            await hands.desk.note(lambda unit: complete_feed(unit, match_id, identity, end.reason))
        elif end.kind is EndKind.REFUSED:
            worker = hands.worker()
            await hands.desk.note(lambda unit: refuse_feed(unit, match_id, worker, end.reason))
        elif end.kind is EndKind.FAILED:
            await self._put_off(FeedStatus.FAILED, end.reason, SHORT_SECONDS)
        return False

    async def _pause_before_next(self, reason: str) -> bool:
        hands, match_id = self._hands, self.feed.match_id
        hands.restarted(reason)
        hands.desk.settle(match_id, Resolution.RESTART)
        get_logger().warning("live: a scraper starts anew", feed=match_id, reason=reason)
        seconds = self.rules.restarts.pause_after(reason)
        if seconds is None:
            most = hands.settings.max_restarts_per_hour
            said = f"it was started anew {most} times within an hour, at last for: {reason}"
            self._alert(CEILING_ALERT, f"{self.feed.url} is not watched for an hour: {said}")
            await self._put_off(FeedStatus.FAILED, said, REST_SECONDS)
            return False
        if seconds:
            await hands.clock.wait_for(self._stopping, seconds)
        if self._stopping.is_set():
            return False
        self._succeed()
        return True

    async def _put_off(self, status: FeedStatus, reason: str, seconds: float) -> None:
        """Leave the feed alone for so long; then anybody may watch it."""
        worker, match_id = self._hands.worker(), self.feed.match_id

        def write(unit: Unit) -> None:
            retry_at = unit.now + int(seconds * 1000)
            put_off(unit, match_id, worker, status, reason=reason, retry_at=retry_at)

        await self._hands.desk.note(write)

    def _alert(self, kind: str, message: str) -> None:
        self._hands.desk.alert(OpsAlert(kind, self.feed.match_id, "P1", message))

    def _scraper(self, last: Last) -> Scraper:
        hands = self._hands
        return Scraper.begin(
            self.feed,
            self.adapter,
            scraper_id=self.scraper_id,
            former=self._former,
            way=hands.way_for(self.feed, self.adapter),
            rules=self.rules,
            last=last,
            desk=hands.desk,
            settings=hands.settings,
            clock=hands.clock,
        )
