"""The metrics of the product crawler."""

from typing import NamedTuple

from sqlalchemy import select

from penstock.core.clock import Clock
from penstock.core.metrics import Metrics
from penstock.products.images import FailedImage
from penstock.products.tables import domains
from penstock.queue.lanes import Result
from penstock.queue.ports import Done
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.counting import count_tasks
from penstock.workloads.catalog.model import DOWNLOADS, IMAGES, PARSES, Status
from penstock.workloads.catalog.parsing_rates import ParseRate, parse_rates
from penstock.workloads.catalog.tables import crawl_tasks

LOOK_EVERY = 15.0
#: Of so many pages that were never committed it is remembered why they could not be read.
MOST_TROUBLES = 10_000
#: A picture that was got, and is none that is kept.
BROKEN = "broken"
#: Parsers are judged by so much of the past.
RATES_MS = 86_400_000


class CatalogMetrics:
    """Counts what is over, by domain: `unread` in the transaction, `note` when it is committed."""

    def __init__(self, metrics: Metrics) -> None:
        what = "domain", "result"
        self._counts = {
            DOWNLOADS: metrics.tally("catalog_pages", "Pages that were downloaded.", *what),
            PARSES: metrics.tally("catalog_parses", "Pages that were parsed.", *what),
            IMAGES: metrics.tally("catalog_images", "Pictures of products.", *what),
        }
        self._unread: dict[str, str] = {}

    def unread(self, item_id: str, why: str) -> None:
        """The page of an item gave no product; it counts once that is noted as committed."""
        self._unread[item_id] = why
        while len(self._unread) > MOST_TROUBLES:
            del self._unread[next(iter(self._unread))]

    def note(self, result: Result) -> None:
        """Count an item that is over."""
        why_unread = self._unread.pop(result.claim.id, None)
        tally = self._counts.get(result.claim.lane)
        if tally is not None and isinstance(result.ending, Done):
            tally.add(result.outcome.domain, why_unread or _came_to(result))


def _came_to(result: Result) -> str:
    outcome = result.outcome
    if outcome.failure:
        return outcome.failure.reason
    if isinstance(result.content, FailedImage):
        return BROKEN
    return "unchanged" if outcome.unchanged else "ok"


class _Seen(NamedTuple):
    tasks: dict[str, int]
    overdue: int
    rates: list[ParseRate]


class CatalogGauges:
    """Looks at the store once in a while, and says what it holds."""

    def __init__(self, metrics: Metrics, store: Store) -> None:
        self._store = store
        self._tasks = metrics.level("catalog_tasks", "Crawl tasks.", "status")
        self._overdue = metrics.level(
            "catalog_oldest_due_seconds", "For how long a task could have been begun."
        )
        self._rates = metrics.level(
            "catalog_parse_success_ratio", "Of the last day.", "domain", "parser_version"
        )

    async def keep_looking(self, clock: Clock) -> None:
        """Look again and again."""
        while True:
            await self.look()
            await clock.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Say what the store holds now."""
        seen = await self._store.read(_look)
        self._tasks.values = {(status,): float(number) for status, number in seen.tasks.items()}
        self._overdue.values = {(): seen.overdue / 1000}
        self._rates.values = {
            (rate.domain_name, rate.parser_version): rate.rate for rate in seen.rates
        }


def _look(unit: Unit) -> _Seen:
    tasks = crawl_tasks.c
    oldest = (
        select(tasks.scheduled_at)
        .join(domains, domains.c.id == tasks.domain_id)
        .where(
            tasks.status == Status.PENDING.value,
            tasks.is_paused.is_(False),
            domains.c.is_active,
        )
        .order_by(tasks.scheduled_at)
        .limit(1)
    )
    first = unit.run(oldest).scalar()
    overdue = max(0, unit.now - first) if first is not None else 0
    return _Seen(count_tasks(unit), overdue, parse_rates(unit, unit.now - RATES_MS))
