"""Upkeep: what is old is forgotten, and feeds that nobody watches are said to be stale.

All in small steps, so that nobody waits long for the store.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from sqlalchemy import ColumnElement, Table, case, delete, exists, func, select, tuple_, update

from penstock.core.chores import Chore
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live.feeds import is_unwatched
from penstock.workloads.live.model import ScraperStatus
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.tables import (
    LARGEST,
    live_match_data,
    matches,
    scraper_errors,
    scraper_health_log,
)

AT_ONCE = 500
DAY_MS = 86_400_000
CHANNEL = "upkeep"
#: Seconds between two looks for feeds whose worker is gone.
STALE_EVERY = 15.0
#: Where a row stands among those that are forgotten: its time and its id.
Place = tuple[int, str]
START: Place = (0, "")


class LiveUpkeep:
    """Keeps what live pages leave behind from growing for ever."""

    def __init__(self, store: Store, settings: LiveSettings) -> None:
        self._store = store
        self._settings = settings

    def chores(self) -> list[Chore]:
        """What is to be done from time to time."""
        named: dict[str, Callable[[], Awaitable[int]]] = {
            "old live updates": self.forget_updates,
            "old health of scrapers": self.forget_health,
            "old errors of scrapers": self.forget_errors,
        }
        stale = Chore("feeds that nobody watches", self.mark_stale, STALE_EVERY)
        return [stale, *(Chore(name, do) for name, do in named.items())]

    async def mark_stale(self) -> int:
        """Say which feeds nobody watches any more; how many there are since the last time."""
        return await self._store.write(mark_stale, CHANNEL)

    async def forget_updates(self) -> int:
        """Delete updates of long ago, but of each feed keep the last; how many."""
        is_not_the_last = exists().where(
            matches.c.match_id == live_match_data.c.match_id,
            matches.c.last_sequence > live_match_data.c.sequence,
        )
        at, days = live_match_data.c.scraped_at, self._settings.keep_updates_days
        return await self._forget(live_match_data, at, days, is_not_the_last)

    async def forget_health(self) -> int:
        """Delete what is known of the health of scrapers of long ago; how many rows."""
        at, days = scraper_health_log.c.timestamp, self._settings.keep_health_days
        return await self._forget(scraper_health_log, at, days)

    async def forget_errors(self) -> int:
        """Delete errors of long ago; how many."""
        at, days = scraper_errors.c.timestamp, self._settings.keep_errors_days
        return await self._forget(scraper_errors, at, days)

    async def _forget(
        self, table: Table, at: ColumnElement[int], days: float, *chosen: ColumnElement[bool]
    ) -> int:
        """Delete rows older than some days, each step from where the last one ended."""
        age = int(days * DAY_MS)
        step = partial(_delete_old, table=table, at=at, age=age, chosen=chosen)
        total, last = 0, START
        while some := await self._store.write(partial(step, last=last), CHANNEL):
            total, last = total + len(some), some[-1]
        return total


def mark_stale(unit: Unit) -> int:
    """Feeds that nobody watches are stale, or stopped if nobody wants them; how many became so."""
    its = matches.c
    is_error = (its.scraper_status == ScraperStatus.ERROR) & its.wanted
    is_told = is_error | its.scraper_status.in_([ScraperStatus.ACTIVE, ScraperStatus.STALE])
    query = select(its.match_id, its.scraper_status, its.wanted).where(is_told, is_unwatched())
    locked = query.order_by(its.match_id).with_for_update(skip_locked=True, of=matches)
    rows = unit.run(locked).all()
    told = case((its.wanted, ScraperStatus.STALE.value), else_=ScraperStatus.STOPPED.value)
    age = (unit.now - func.coalesce(its.last_scraper_update, its.created_at)) // 1000
    values = {
        "scraper_status": told,
        "data_freshness_seconds": case((age > LARGEST, LARGEST), (age < 0, 0), else_=age),
    }
    chosen = unit.among(its.match_id, [row.match_id for row in rows])
    unit.run(update(matches).where(chosen).values(values))
    return sum(row.scraper_status != ScraperStatus.STALE or not row.wanted for row in rows)


async def pages_in_use(store: Store, addresses: Sequence[str]) -> set[str]:
    """Which of some blobs are pages or pictures that an error still has."""
    its = scraper_errors.c

    def look(unit: Unit) -> set[str]:
        found = (
            unit.run(select(column).where(unit.among(column, addresses))).scalars()
            for column in (its.snapshot, its.screenshot)
        )
        return {address for some in found for address in some}

    return await store.read(look)


def _delete_old(
    unit: Unit,
    *,
    table: Table,
    at: ColumnElement[int],
    age: int,
    chosen: Sequence[ColumnElement[bool]],
    last: Place,
) -> list[Place]:
    place = (at, table.c.id)
    query = select(*place).where(at < unit.now - age, tuple_(*place) > tuple_(*last), *chosen)
    old = [(when, each) for when, each in unit.run(query.order_by(*place).limit(AT_ONCE))]
    unit.run(delete(table).where(unit.among(table.c.id, [each for _, each in old])))
    return old
