"""One scraper: looks at a feed again and again, and hands in what is news.

    1 breaker     a feed that failed too often rests                 breaker.py
    2 look        at a page that is open, or through all gates       ways.py, visiting.py
    3 read        the adapter makes a snapshot of it                 extract/live
    4 news        what differs from the last update is one           model.py
    5 hand in     the keeper stores it, whatever the store does      desk.py, keeping.py
    6 pause       as long as changes and errors suggest              polling.py

It runs until the page has ended, a rule says to start anew, or somebody stops it.
"""

import asyncio
import traceback
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, cast, get_args

from penstock.core.clock import Clock
from penstock.extract.live.adapter import LiveAdapter, Snapshot, Source, State, Unreadable
from penstock.kernel.model import Failure, Page, RateLimited, Wait
from penstock.kernel.records import ExtractReason
from penstock.notify.ops import OpsAlert
from penstock.workloads.live.breaker import FeedBreaker
from penstock.workloads.live.context import ScraperContext
from penstock.workloads.live.desk import Desk, Trouble
from penstock.workloads.live.failures import is_final, is_gone, is_ours, type_of
from penstock.workloads.live.model import (
    ErrorType,
    Feed,
    Resolution,
    Saved,
    Update,
    hash_of,
)
from penstock.workloads.live.parsing_rule import ParsingRule
from penstock.workloads.live.polling import Polling
from penstock.workloads.live.restarting import Restarts
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.timeouts import Timeouts
from penstock.workloads.live.ways import Look, Way

#: Bytes of a page that are read in no time to speak of.
LONG_PAGE = 250_000
#: So often the last read of a page that has ended is tried before it is done without.
MOST_LAST_READS = 5
PARSE_ALERT, CEILING_ALERT, JOURNAL_ALERT = ALERTS = (
    "live_parse",
    "live_restart_ceiling",
    "live_journal",
)


class EndKind(StrEnum):
    """Why a scraper ended."""

    STOPPED = "stopped"
    COMPLETED = "completed"
    REFUSED = "refused"
    FAILED = "failed"
    ANEW = "anew"


class End(NamedTuple):
    """How a scraper ended, and the reason for people."""

    kind: EndKind
    reason: str


STOPPED = End(EndKind.STOPPED, "it was stopped")


@dataclass(slots=True)
class Rules:
    """What a feed's scrapers go by; it outlives each of them."""

    polling: Polling
    timeouts: Timeouts
    breaker: FeedBreaker
    parsing: ParsingRule
    restarts: Restarts

    @classmethod
    def begin(cls, feed: Feed, settings: LiveSettings, clock: Clock, floor: float = 0.0) -> "Rules":
        """The rules of a feed of which nothing is known yet; `floor` is what its domain allows."""
        return cls(
            polling=Polling(settings, clock, feed.interval, floor),
            timeouts=Timeouts(settings),
            breaker=FeedBreaker(feed.match_id, settings, clock),
            parsing=ParsingRule(settings),
            restarts=Restarts(settings, clock),
        )


@dataclass(slots=True)
class Last:
    """The last update of a feed, and when (monotonic) its page last showed something new."""

    sequence: int = 0
    hash: str = ""
    snapshot: Snapshot | None = None
    changed_at: float = 0.0

    @classmethod
    def of(cls, saved: Saved, now: float) -> "Last":
        """Where the store says that the feed stands."""
        known = None
        if saved.payload is not None and saved.state in get_args(State):
            known = Snapshot(saved.payload, cast(State, saved.state))
        return cls(saved.sequence, saved.hash, known, now)

    def go_on_from(self, waiting: Update | None) -> None:
        """Take over an update that the store has not got yet."""
        if waiting and waiting.sequence > self.sequence:
            self.sequence, self.hash = waiting.sequence, waiting.hash
            self.snapshot = Snapshot(waiting.payload, cast(State, waiting.state))


@dataclass(slots=True)
class Scraper:
    """Looks at one feed; `context` says how it does."""

    feed: Feed
    adapter: LiveAdapter
    way: Way
    rules: Rules
    context: ScraperContext
    last: Last
    desk: Desk
    settings: LiveSettings
    clock: Clock
    #: What keeps the feed from being looked at, in words; empty if nothing does.
    waits_for: str = ""
    #: Why the next good look is the last, in words; and how often that one has failed.
    _ending: str = field(default="", init=False)
    _failed_endings: int = field(default=0, init=False)
    #: Whether this scraper has seen its page.
    _is_well: bool = field(default=False, init=False)

    @classmethod
    def begin(
        cls,
        feed: Feed,
        adapter: LiveAdapter,
        *,
        scraper_id: str,
        former: ScraperContext | None,
        way: Way,
        rules: Rules,
        last: Last,
        desk: Desk,
        settings: LiveSettings,
        clock: Clock,
    ) -> "Scraper":
        """A scraper that begins now; it goes on with the totals of the former one of its feed."""
        context = ScraperContext.begin(
            scraper_id, feed.match_id, feed.url, settings, clock, former=former
        )
        return cls(feed, adapter, way, rules, context, last, desk, settings, clock)

    async def run(self, stopping: asyncio.Event) -> End:
        """Watch until there is a reason to end."""
        while not stopping.is_set():
            pause = await self._cycle()
            if isinstance(pause, End):
                return pause
            self.context.polling_interval = self.rules.polling.interval
            if reason := self._why_anew():
                return End(EndKind.ANEW, reason)
            await self.clock.wait_for(stopping, pause)
        return STOPPED

    async def _cycle(self) -> float | End:
        """One look; how long to pause after it."""
        if (seconds := await self.rules.breaker.rejects()) is not None:
            self.waits_for = f"its circuit is open for {seconds:.0f} s"
            return seconds
        leave = await self.rules.breaker.enter()
        well: bool | None = None
        try:
            look = await self._look()
            if isinstance(look.seen, Wait):
                return self._put_off(look.seen)
            self.waits_for = ""
            if isinstance(look.seen, Failure):
                well = None if is_gone(look.seen) else False
                return await self._mind_failure(look.seen)
            well = True
            return await self._mind_page(look.seen, look.seconds)
        finally:
            await self.rules.breaker.report(leave, well=well)

    async def _look(self) -> Look:
        seconds = self.rules.timeouts.seconds
        if self._ending or self._stands_still():
            self.last.changed_at = self.clock.monotonic()
            return await self.way.look_anew(seconds)
        return await self.way.look(seconds)

    def _stands_still(self) -> bool:
        """Whether a page that should change by itself has not for long: it may be stuck."""
        quiet = self.clock.monotonic() - self.last.changed_at
        known = self.last.snapshot
        is_in_play = known is not None and known.state == "in_play"
        return is_in_play and quiet > self.settings.staleness_threshold_seconds

    def _put_off(self, wait: Wait) -> float:
        """A gate is shut: that is nobody's error."""
        self.waits_for = wait.why
        return max(0.1, wait.until - self.clock.monotonic())

    def _why_anew(self) -> str | None:
        """Why this scraper should be replaced by a new one, if it should."""
        if self.way.is_worn_out:
            return "memory"
        reason = self.context.restart_reason()
        is_kept_away = self.waits_for or not self.rules.breaker.is_closed
        return None if reason == "staleness" and is_kept_away else reason

    # ── no page

    async def _mind_failure(self, failure: Failure) -> float | End:
        if (end := end_by(failure)) is not None:
            return end
        if is_gone(failure):
            if self._ending:
                return End(EndKind.COMPLETED, f"the page has vanished ({failure.status})")
            # Once more, all of it, to be sure.
            self._ending = "the page has vanished"
            return self.rules.polling.next_delay()
        self._fail(type_of(failure), str(failure), "look")
        if isinstance(failure, RateLimited) and failure.retry_after:
            return max(failure.retry_after, self.rules.polling.next_delay())
        return self._end_without_it() or self.rules.polling.next_delay()

    def _end_without_it(self) -> End | None:
        """A page that has ended need not be had to its last word at any price."""
        if not self._ending:
            return None
        self._failed_endings += 1
        if self._failed_endings < MOST_LAST_READS:
            return None
        return End(EndKind.COMPLETED, f"{self._ending}; its last read failed")

    def _fail(
        self,
        kind: ErrorType,
        message: str,
        operation: str,
        *,
        evidence: bytes | None = None,
        picture: bytes | None = None,
        trace: str | None = None,
    ) -> None:
        self.context.failed()
        self.rules.polling.failed()
        self.desk.trouble(
            Trouble(
                match_id=self.feed.match_id,
                scraper_id=self.context.scraper_id,
                url=self.feed.url,
                at=self._now(),
                type=kind,
                message=message,
                operation=operation,
                retry_attempt=self.context.error_count - 1,
                stack_trace=trace,
                evidence=evidence,
                picture=picture,
            )
        )

    # ── a page

    async def _mind_page(self, page: Page, seconds: float) -> float | End:
        snapshot, trace = await self._read(page)
        if isinstance(snapshot, Unreadable):
            return await self._mind_unreadable(page, snapshot, trace)
        self._mind_snapshot(snapshot, seconds)
        if not (self.settings.enable_match_state_detection and snapshot.state == "ended"):
            self._ending, self._failed_endings = "", 0
            return self.rules.polling.next_delay()
        if self._ending:
            return End(EndKind.COMPLETED, self._ending)
        # What says so may be half done: the next look is at all of it, and the last.
        self._ending = "the page says that it has ended"
        return 0.0

    async def _read(self, page: Page) -> tuple[Snapshot | Unreadable, str | None]:
        source = Source(page, self.feed.options)
        try:
            if len(page.body) < LONG_PAGE:
                return self.adapter.read(source), None
            return await asyncio.to_thread(self.adapter.read, source), None
        except Exception as error:
            # An adapter may be anybody's; the page is as good as unreadable.
            why = f"the adapter broke: {error!r}"
            unreadable = Unreadable(ExtractReason.PAGE_STRUCTURE_CHANGED, why)
            return unreadable, traceback.format_exc()

    def _mind_snapshot(self, snapshot: Snapshot, seconds: float) -> None:
        """A good look: note it, and hand in what is new."""
        if self.rules.parsing.succeeded():
            self.rules.breaker.close()
            self.desk.calm(PARSE_ALERT, self.feed.match_id)
        if not self._is_well:
            # Who came before may have told ops; a former process may have, too.
            self._is_well = True
            for kind in ALERTS:
                self.desk.calm(kind, self.feed.match_id)
        if self.context.error_count:
            self.desk.settle(self.feed.match_id, Resolution.AUTO_RETRY)
        found = hash_of(snapshot.payload, snapshot.state)
        is_news = found != self.last.hash or self.desk.lacks(self.feed.match_id)
        self.context.looked(seconds)
        self.rules.timeouts.looked(seconds)
        self.rules.polling.looked(changed=is_news)
        self.desk.looked(self.feed.match_id, seconds, changed=is_news)
        if is_news:
            self._hand_in(snapshot, found, seconds)

    def _hand_in(self, snapshot: Snapshot, found: str, seconds: float) -> None:
        last = self.last
        update = Update(
            match_id=self.feed.match_id,
            source_url=self.feed.url,
            sequence=last.sequence + 1,
            state=snapshot.state,
            payload=snapshot.payload,
            hash=found,
            scraped_at=self._now(),
            scraper_id=self.context.scraper_id,
            latency_ms=round(seconds * 1000),
            critical=self.adapter.is_critical(last.snapshot, snapshot, self.feed.options),
            final=bool(self._ending) and snapshot.state == "ended",
        )
        self.desk.take(update)
        last.sequence, last.hash = update.sequence, found
        last.snapshot = snapshot
        last.changed_at = self.clock.monotonic()

    async def _mind_unreadable(self, page: Page, why: Unreadable, trace: str | None) -> float | End:
        """A page that says nothing to its adapter: keep it for people, and after many rest."""
        picture = await self.way.shoot()
        said = f"{why.reason}: {why.detail}"
        self._fail(
            ErrorType.PARSING, said, "read", evidence=page.body, picture=picture, trace=trace
        )
        rest = self.rules.parsing.failed()
        if rest is None:
            return self._end_without_it() or self.rules.polling.next_delay()
        self.rules.breaker.open_for(rest)
        number = self.rules.parsing.failures
        message = f"{self.feed.url} cannot be read any more ({number} times in a row): {said}"
        self.desk.alert(OpsAlert(PARSE_ALERT, self.feed.match_id, "P1", message))
        return rest

    def _now(self) -> int:
        return int(self.clock.now().timestamp() * 1000)


def end_by(failure: Failure) -> End | None:
    """The end that a failure is by itself, if it is one."""
    if is_final(failure):
        return End(EndKind.REFUSED, f"{failure.reason.replace('_', ' ')}: {failure.detail}")
    return End(EndKind.FAILED, str(failure)) if is_ours(failure) else None
