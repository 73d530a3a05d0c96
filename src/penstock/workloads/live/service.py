"""What live pages do for people, through the API and the command line alike."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from penstock.blobs.ports import Blobs
from penstock.core.clock import Clock
from penstock.core.errors import UrlError
from penstock.core.urls import parse
from penstock.extract.live.adapter import LiveAdapter
from penstock.extract.live.registry import LiveRegistry
from penstock.kernel.admission import Admission
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound, Unavailable, invalid
from penstock.web.waiting import Waiters
from penstock.workloads.live import feeds, reading, troubles
from penstock.workloads.live.erasure import erase_feed
from penstock.workloads.live.health_log import list_ages, list_health
from penstock.workloads.live.model import Feed, FeedStatus, ScraperStatus
from penstock.workloads.live.pace import Demand, Paces
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.supervising import STALE_SECONDS, Supervision, status_of
from penstock.workloads.live.tables import Row
from penstock.workloads.live.watcher import SHORT_SECONDS

NO_ADAPTER = "no adapter is for this page: name one, as selectors, which reads any page"
_NO_SLUG = re.compile(r"[^a-z0-9]+")
#: What a feed can be called: it stands in URLs.
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
#: What stands there for something else.
RESERVED = frozenset({"adapters", "errors", "feeds", "health"})
ID_RULE = (
    "it has up to 100 letters, digits, dots, dashes and underscores, begins with a letter or "
    f"digit, and is none of {', '.join(sorted(RESERVED))}"
)
#: Where what is read comes from.
SCRAPER, CACHE = "scraper", "cache"


@dataclass(frozen=True, slots=True)
class Means:
    """What the service works with; `supervision` is that of this process, if it watches feeds."""

    store: Store
    blobs: Blobs
    registry: LiveRegistry
    admission: Admission
    paces: Paces
    waiters: Waiters
    clock: Clock
    settings: LiveSettings
    supervision: Callable[[], Supervision | None] = lambda: None


class Reading(NamedTuple):
    """The latest that is known of a feed, how old it is, and where that comes from.

    `source` is `scraper` while the feed is watched and fresh, else `cache`.
    """

    feed: Row
    payload: Mapping[str, Any]
    state: str | None
    sequence: int
    scraped_at: int
    age_seconds: int
    scraper_id: str | None
    scraper_status: str
    source: str


class Freshness(NamedTuple):
    """When what the store has of a feed was last seen to be true, and who says so; see `Reading`.

    Without a good look there is no such time.
    """

    scraped_at: int | None
    age_seconds: int | None
    scraper_status: str
    source: str


class LiveService:
    """Feeds for people: start, stop, look, read."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self.settings = means.settings
        self.waiters = means.waiters
        self.clock = means.clock
        self.registry = means.registry

    # ── starting and stopping

    async def start(self, draft: Feed) -> Row:
        """Watch a page from now on; the row of its feed. One that is known is changed.

        Raises `InvalidRequest` for what cannot be watched, `Unavailable` while memory is short:
        the feed is kept then, and tried again by itself.
        """
        feed, adapter = checked(draft, self._means.registry, self._means.admission)
        others = await self._demands()
        if problem := self._means.paces.problem_with(feed, adapter, others):
            raise invalid("interval", problem)
        row = await self._means.store.write(lambda unit: feeds.put_feed(unit, feed))
        supervision = self._means.supervision()
        if supervision is None:
            return row
        supervision.nudge()
        is_new = feed.match_id not in supervision.watchers
        if is_new and (shortage := supervision.hands.memory_shortage):
            said = f"{shortage}; feed {feed.match_id} is kept and started later by itself"
            raise Unavailable(said, retry_after=SHORT_SECONDS)
        return row

    async def stop(self, match_id: str, reason: str = "it was stopped by hand") -> Row:
        """Watch a feed no longer; what is known of it stays."""
        row = await self._means.store.write(lambda unit: feeds.stop_feed(unit, match_id, reason))
        self._nudge()
        return _found(row, match_id)

    async def restart(self, match_id: str) -> Row:
        """Let a new scraper watch a feed, or let one that was put off be tried now."""
        row = await self._means.store.write(lambda unit: feeds.renew_feed(unit, match_id))
        self._nudge()
        return _found(row, match_id)

    async def remove(self, match_id: str) -> None:
        """Forget a feed and everything that was seen of it."""
        await self.stop(match_id)
        await erase_feed(self._means.store, match_id)
        self._nudge()

    # ── looking

    async def get(self, match_id: str) -> Row:
        """The row of a feed."""
        found = await self._means.store.read(lambda unit: feeds.get_feed(unit, match_id))
        return _found(found, match_id)

    async def list_feeds(
        self,
        status: FeedStatus | None = None,
        *,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Row]:
        """Feeds by id; `after` is that of the last one before."""
        return await self._means.store.read(
            lambda unit: feeds.list_feeds(unit, status=status, after=after, limit=limit)
        )

    def scraper_of(self, match_id: str) -> dict[str, Any] | None:
        """How the scraper of a feed does, if it runs in this process."""
        supervision = self._means.supervision()
        watcher = supervision.watchers.get(match_id) if supervision else None
        if watcher is None or watcher.scraper is None:
            return None
        return {
            **watcher.scraper.context.to_dict(),
            "waits_for": watcher.scraper.waits_for or None,
            "circuit_breaker": watcher.rules.breaker.to_dict(),
            "timeout_seconds": watcher.rules.timeouts.seconds,
        }

    async def errors(self, **wanted: Any) -> list[Row]:
        """What went wrong, latest first."""
        return await self._means.store.read(lambda unit: troubles.list_errors(unit, **wanted))

    async def resolve_error(self, error_id: str) -> Row:
        """Mark an error as settled by hand; one that is settled already stays as it is."""
        row = await self._means.store.write(lambda unit: troubles.resolve_error(unit, error_id))
        if row is None:
            raise NotFound("There is no such error")
        return row

    async def evidence(self, error_id: str, kind: str) -> bytes:
        """The page that could not be read (`snapshot`), or its picture (`screenshot`)."""
        row = await self._means.store.read(lambda unit: troubles.get_error(unit, error_id))
        address = row[kind] if row else None
        data = await self._means.blobs.get(address) if address else None
        if data is None:
            raise NotFound(f"There is no {kind} of this error")
        return data

    async def health_log(self, match_id: str, since: int, limit: int) -> list[Row]:
        """How scrapers of a feed did, latest first."""
        return await self._means.store.read(lambda unit: list_health(unit, match_id, since, limit))

    async def ages(self, match_ids: Sequence[str], since: int) -> dict[str, list[int | None]]:
        """How old the last good look at some feeds was, in seconds, as the log of health has it."""
        return await self._means.store.read(lambda unit: list_ages(unit, match_ids, since))

    # ── reading

    async def read(self, match_id: str) -> Reading:
        """The latest state of a feed; `NotFound` if nothing was seen of it yet."""
        row = await self.get(match_id)
        if row["payload"] is None or row["last_scraper_update"] is None:
            raise NotFound(f"Nothing has been seen of feed {match_id} yet")
        fresh = self.freshness(row)
        return Reading(
            feed=row,
            payload=row["payload"],
            state=row["state"],
            sequence=row["last_sequence"],
            scraped_at=fresh.scraped_at or row["last_scraper_update"],
            age_seconds=fresh.age_seconds or 0,
            scraper_id=row["scraper_id"],
            scraper_status=fresh.scraper_status,
            source=fresh.source,
        )

    def freshness(self, row: Row) -> Freshness:
        """How fresh a row of a feed is; who watches it here knows best."""
        scraped_at, status = row["last_scraper_update"], row["scraper_status"]
        match_id, supervision = row["match_id"], self._means.supervision()
        watcher = supervision.watchers.get(match_id) if supervision and row["wanted"] else None
        if supervision and watcher and watcher.context:
            status = str(status_of(watcher))
            # While an update waits for the store, what is there was true when the store last heard.
            if supervision.hands.desk.last_of(match_id) is None:
                scraped_at = max(scraped_at or 0, watcher.context.last_update_ms or 0) or None
        if scraped_at is None:
            return Freshness(None, None, status, CACHE)
        now = int(self.clock.now().timestamp() * 1000)
        age = max(0, (now - scraped_at) // 1000)
        is_live = status == ScraperStatus.ACTIVE and age <= STALE_SECONDS
        return Freshness(scraped_at, age, status, SCRAPER if is_live else CACHE)

    async def progress(
        self, match_id: str, after: int | None, limit: int
    ) -> tuple[Row | None, list[Row]]:
        """A feed without what its page says, and what was news after an update.

        Without a number, the news is the last update.
        """
        return await self._means.store.read(
            lambda unit: reading.progress(unit, match_id, after, limit)
        )

    async def updates_after(self, match_id: str, after: int, limit: int) -> list[Row]:
        """What was news after an update, oldest first."""
        return await self._means.store.read(
            lambda unit: reading.updates_after(unit, match_id, after, limit)
        )

    async def history(self, match_id: str, before: int | None, limit: int) -> list[Row]:
        """What was news before an update, or at all, latest first."""
        return await self._means.store.read(
            lambda unit: reading.history(unit, match_id, before, limit)
        )

    # ── inside

    async def _demands(self) -> list[Demand]:
        """What the feeds that are wanted ask of their sites."""
        rows = await self._means.store.read(_wanted)
        found = []
        for row in rows:
            feed = feeds.feed_of(row)
            adapter = self._means.registry.get(feed.adapter)
            if adapter and (demand := self._means.paces.demand_of(feed, adapter)):
                found.append(demand)
        return found

    def _nudge(self) -> None:
        if supervision := self._means.supervision():
            supervision.nudge()


def checked(draft: Feed, registry: LiveRegistry, admission: Admission) -> tuple[Feed, LiveAdapter]:
    """A feed that can be watched, as far as can be told without asking its site, and who reads it.

    Raises `InvalidRequest`, which names the field.
    """
    try:
        url = parse(draft.url)
    except UrlError as error:
        raise invalid("url", str(error)) from error
    if refused := admission.check(url):
        raise invalid("url", str(refused))
    adapter = registry.get(draft.adapter) if draft.adapter else registry.choose(url)
    if adapter is None:
        known = ", ".join(each.id for each in registry.all)
        what = f"there is no adapter '{draft.adapter}'" if draft.adapter else NO_ADAPTER
        raise invalid("adapter", f"{what}; there are: {known}")
    try:
        adapter.check_options(draft.options)
    except ValueError as error:
        raise invalid("options", str(error)) from error
    match_id = draft.match_id or default_id(draft.url)
    if match_id in RESERVED or not re.fullmatch(ID_PATTERN, match_id):
        raise invalid("match_id", f"{match_id[:100]!r} cannot be the id of a feed: {ID_RULE}")
    return replace(draft, match_id=match_id, adapter=adapter.id), adapter


def default_id(url: str) -> str:
    """The id of a feed that nobody named: readable, and the same for the same URL."""
    at = parse(url)
    slug = _NO_SLUG.sub("-", f"{at.host}{at.target}".lower()).strip("-")[:60]
    return f"{slug}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"


def _wanted(unit: Unit) -> list[Row]:
    return feeds.list_feeds(unit, wanted=True, limit=10_000)


def _found(row: Row | None, match_id: str) -> Row:
    if row is None:
        raise _unknown(match_id)
    return row


def _unknown(match_id: str) -> NotFound:
    return NotFound(f"There is no feed {match_id[:100]!r}")
