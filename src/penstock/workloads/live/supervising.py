"""All feeds of this process: claimed, watched, measured, and let go.

One process watches a feed. Its claim lasts as long as its heartbeat is heard; when that stops, any
other process that runs takes the feed over.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.extract.live.adapter import LiveAdapter
from penstock.notify.ops import OpsAlert
from penstock.workloads.live.context import MIB
from penstock.workloads.live.feeds import (
    claim_feeds,
    feed_of,
    feeds_of,
    is_any_free,
    refuse_feed,
    release_feeds,
)
from penstock.workloads.live.health_log import HealthEntry, log_health
from penstock.workloads.live.keeping import Keeper
from penstock.workloads.live.model import Feed, ScraperStatus
from penstock.workloads.live.recording import Look, note_looks
from penstock.workloads.live.restarting import BY_HAND
from penstock.workloads.live.watcher import Hands, Watcher

#: So often it is looked which feeds are wanted, unless somebody says so.
LOOK_SECONDS = 1.0
#: So often consumers elsewhere are told how fresh feeds are.
FRESHNESS_SECONDS = 2.0
MEASURE_SECONDS = 5.0
#: Data older than this is stale to consumers.
STALE_SECONDS = 120.0
#: A cycle may take so long to come to its end when all is to stop.
GRACE_SECONDS = 20.0
MEMORY_ALERT = "live_memory"


@dataclass(slots=True)
class _Watched:
    watcher: Watcher
    task: asyncio.Task[None]
    logged_at: float = 0.0
    #: Seconds of the processor, and when they were read.
    cpu: tuple[float, float] = (0.0, 0.0)


@dataclass(slots=True)
class Supervision:
    """Watches feeds for as long as it runs."""

    hands: Hands
    keeper: Keeper
    adapter_named: Callable[[str], LiveAdapter | None]
    end_orphans: Callable[[], int]
    #: Bytes of each browser, by its process.
    browsers: Callable[[], Mapping[int, int]]
    #: Is shown all watchers whenever they have been measured.
    show: Callable[[Mapping[str, Watcher]], None]
    _watched: dict[str, _Watched] = field(default_factory=dict, init=False)
    _nudged: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _is_stopping: bool = field(default=False, init=False)
    _is_aborted: bool = field(default=False, init=False)

    @property
    def watchers(self) -> Mapping[str, Watcher]:
        """Who watches what, by the id of the feed."""
        return {match_id: each.watcher for match_id, each in self._watched.items()}

    @property
    def clock(self) -> Clock:
        """The time of all watchers."""
        return self.hands.clock

    def nudge(self) -> None:
        """Look at once which feeds are wanted."""
        self._nudged.set()

    # ── claiming

    async def run(self) -> None:
        """Watch what is wanted, as far as it is ours."""
        while not self._is_stopping:
            self._nudged.clear()
            try:
                await self._look_around()
            except PenstockError as error:
                get_logger().error("live: feeds cannot be looked up", error=str(error))
            await self.clock.wait_for(self._nudged, LOOK_SECONDS)

    async def _look_around(self) -> None:
        worker, most = self.hands.worker(), self.hands.settings.max_feeds
        known = {name: each.known_id for name, each in self.watchers.items() if each.scraper}
        rows, is_some_free = await self.hands.store.read(
            lambda unit: (feeds_of(unit, worker), is_any_free(unit))
        )
        if is_some_free and len(rows) < most:
            # What nobody wants is not asked for: to write costs every process a commit.
            rows = await self.hands.store.write(
                lambda unit: claim_feeds(unit, worker, most), "live"
            )
        wanted = {row["match_id"]: row for row in rows}
        for match_id, each in list(self._watched.items()):
            if each.task.done():
                del self._watched[match_id]
                self.keeper.forget(match_id)
            elif match_id not in wanted or feed_of(wanted[match_id]) != each.watcher.feed:
                each.watcher.stop()
            elif wanted[match_id]["scraper_id"] is None and (
                known.get(match_id) == each.watcher.scraper_id
            ):
                each.watcher.restart(BY_HAND)
        for match_id, row in wanted.items():
            if match_id not in self._watched and not self._is_stopping:
                await self._begin(feed_of(row))

    async def _begin(self, feed: Feed) -> None:
        adapter = self.adapter_named(feed.adapter)
        if adapter is None:
            why = f"there is no adapter '{feed.adapter}' here: name it in PENSTOCK_LIVE__ADAPTERS"
            worker = self.hands.worker()
            await self.keeper.note(lambda unit: refuse_feed(unit, feed.match_id, worker, why))
            return
        watcher = Watcher(feed, adapter, self.hands)
        task = asyncio.create_task(watcher.run(), name=f"feed {feed.match_id}")
        task.add_done_callback(lambda _task: self.nudge())
        self._watched[feed.match_id] = _Watched(watcher, task)

    # ── measuring

    async def keep_measuring(self) -> None:
        """Note what scrapers take and how they do, from time to time."""
        while True:
            await self.clock.sleep(MEASURE_SECONDS)
            now, browsers, entries = self.clock.monotonic(), self.browsers(), []
            for each in self._watched.values():
                _measure(each, browsers, now)
                if entry := self._health_of(each, now):
                    entries.append(entry)
            self.show(self.watchers)
            self._mind_memory(browsers)
            if entries:
                self._log(entries)

    def _mind_memory(self, browsers: Mapping[int, int]) -> None:
        soft = self.hands.settings.memory_soft_limit_mb
        for pid, size in browsers.items():
            if size > soft * MIB:
                feeds = [
                    match_id
                    for match_id, each in self._watched.items()
                    if each.watcher.context and each.watcher.context.browser_pid == pid
                ]
                message = (
                    f"a browser takes {size // MIB} MB, more than {soft} MB, and is replaced; "
                    f"its feeds: {', '.join(feeds) or 'none'}"
                )
                self.keeper.alert(OpsAlert(MEMORY_ALERT, f"browser {pid}", "P2", message))

    def _log(self, entries: list[HealthEntry]) -> None:
        self.keeper.note(lambda unit: log_health(unit, entries))

    def _health_of(self, each: _Watched, now: float) -> HealthEntry | None:
        context = each.watcher.context
        if context is None or now - each.logged_at < self.hands.settings.health_log_seconds:
            return None
        each.logged_at = now
        return context.health_row()

    async def keep_telling(self) -> None:
        """Tell consumers of other processes how fresh feeds are."""
        while True:
            await self.clock.sleep(FRESHNESS_SECONDS)
            if looks := [look for each in self._watched.values() if (look := _look_of(each))]:
                self._note_looks(looks)

    def _note_looks(self, looks: list[Look]) -> None:
        self.keeper.note(lambda unit: note_looks(unit, looks))

    async def keep_clearing(self) -> None:
        """End browsers that nobody looks after any more."""
        while True:
            if number := await asyncio.to_thread(self.end_orphans):
                get_logger().warning("live: orphaned browsers were ended", number=number)
            await self.clock.sleep(self.hands.settings.orphan_check_minutes * 60)

    # ── stopping

    async def stop(self) -> None:
        """Let every scraper finish its cycle, write everything down, and let go of the feeds."""
        self._is_stopping = True
        tasks = [each.task for each in self._watched.values()]
        for each in self._watched.values():
            each.watcher.stop()
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watched.clear()
        if await self.keeper.flush(0.0 if self._is_aborted else GRACE_SECONDS):
            worker = self.hands.worker()
            await self.hands.store.write(lambda unit: release_feeds(unit, worker), "live")
        self.keeper.spill()

    def abort(self) -> None:
        """Wait for no cycle any more; what must not be lost is in the store or the journal."""
        self._is_stopping = self._is_aborted = True
        for each in self._watched.values():
            each.task.cancel()


def _look_of(each: _Watched) -> Look | None:
    context = each.watcher.context
    if context is None:
        return None
    return Look(
        match_id=context.match_id,
        scraper_id=context.scraper_id,
        at=context.last_update_ms,
        scraper_status=status_of(each.watcher),
        data_age_seconds=round(context.staleness),
        memory=each.watcher.rules.polling.memory(),
    )


def status_of(watcher: Watcher) -> ScraperStatus:
    """What consumers are told of a scraper."""
    context = watcher.context
    if context is None:
        return ScraperStatus.STOPPED
    if context.staleness > STALE_SECONDS:
        return ScraperStatus.STALE
    return ScraperStatus.ERROR if context.health_status == "failing" else ScraperStatus.ACTIVE


def _measure(each: _Watched, browsers: Mapping[int, int], now: float) -> None:
    """Note what a feed takes of the machine; its share of the processor is that since last time."""
    scraper = each.watcher.scraper
    usage = scraper.way.usage if scraper else None
    if scraper is None or usage is None:
        return
    context, pid = scraper.context, usage.browser_pid
    seconds, since = each.cpu
    each.cpu = (usage.cpu_seconds, now)
    if since and usage.cpu_seconds >= seconds:
        context.cpu_percent = 100 * (usage.cpu_seconds - seconds) / max(now - since, 0.001)
    context.memory_bytes, context.browser_pid = usage.memory_bytes, pid
    context.browser_bytes = browsers.get(pid or 0, 0)
