"""The metrics of live pages, under the names that their monitoring knows.

Feeds come and go for as long as the process runs: what is counted of one is forgotten with it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from sqlalchemy import func, select

from penstock.core.clock import Clock
from penstock.core.metrics import Metrics, Spread, Tally
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live.model import FeedStatus
from penstock.workloads.live.tables import matches

LOOK_EVERY = 15.0
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
CIRCUITS: Final = {"CLOSED": 0.0, "OPEN": 1.0, "HALF_OPEN": 2.0}
#: How scrapers may do: each is shown, also where none does so.
STATUSES: Final = ("healthy", "degraded", "failing")


class MeasuredScraper(Protocol):
    """A scraper, as much of it as is measured."""

    @property
    def match_id(self) -> str: ...
    @property
    def health_status(self) -> str: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def staleness(self) -> float: ...


class LiveMetrics:
    """Counts looks, errors, restarts and lost updates, and shows how scrapers do."""

    def __init__(self, metrics: Metrics) -> None:
        tally, level = metrics.tally, metrics.level
        self._errors = tally("scraper_errors", "Looks that failed.", "match_id", "error_type")
        self._updates = tally("scraper_updates", "Good looks.", "match_id", "status")
        self._dropped = tally("scraper_dropped_updates", "Updates for which no room was left.")
        self._restarts = tally("scraper_restarts", "Scrapers that started anew.", "reason")
        self._active = level("active_scrapers_count", "Scrapers that run.", "status")
        self._memory = level("scraper_memory_bytes", "Memory of a feed.", "match_id")
        self._staleness = level("data_staleness_seconds", "Since the last good look.", "match_id")
        self._circuits = level(
            "scraper_circuit_state", "0 closed, 1 open, 2 half-open.", "match_id"
        )
        self._buffered = level("scraper_buffered_updates", "Updates that wait for the store.")
        self._journal = level("scraper_journal_bytes", "Size of the journal of updates.")
        self._latencies = _Latencies(
            "scraper_update_latency_seconds", "Time of a good look.", "match_id", SECONDS
        )
        metrics.registry.register(self._latencies)

    def looked(self, match_id: str, latency: float, *, changed: bool) -> None:
        """Count a look that went well, and took so many seconds."""
        self._updates.add(match_id, "changed" if changed else "unchanged")
        self._latencies.observe(match_id, latency)

    def failed(self, match_id: str, error_type: str) -> None:
        """Count a look that failed."""
        self._errors.add(match_id, error_type)

    def restarted(self, reason: str) -> None:
        """Count a scraper that starts anew."""
        self._restarts.add(reason)

    def show_scrapers(self, scrapers: Iterable[MeasuredScraper], ours: Collection[str]) -> None:
        """Say how scrapers do; what was counted of feeds that are no longer ours is forgotten."""
        shown = list(scrapers)
        numbers = Counter(scraper.health_status for scraper in shown)
        self._active.values = {(status,): numbers[status] for status in STATUSES}
        self._memory.values = {(each.match_id,): each.memory_bytes for each in shown}
        self._staleness.values = {(each.match_id,): each.staleness for each in shown}
        for tally in (self._errors, self._updates):
            _keep(tally, ours)
        self._latencies.keep(ours)

    def show_circuits(self, states: Mapping[str, str]) -> None:
        """Say how the circuit of each feed stands."""
        self._circuits.values = {(match_id,): CIRCUITS[state] for match_id, state in states.items()}

    def show_buffer(self, waiting: int, journal_bytes: int) -> None:
        """Say what waits for the store."""
        self._buffered.values = {(): waiting}
        self._journal.values = {(): journal_bytes}

    def show_dropped(self, number: int) -> None:
        """Say how many updates were lost for want of room since the start."""
        self._dropped.counts[()] = number


class LiveGauges:
    """Looks at the store once in a while, and says which feeds it knows."""

    def __init__(self, metrics: Metrics, store: Store) -> None:
        self._store = store
        self._feeds = metrics.level("scraper_feeds", "Feeds in the store.", "status")

    async def keep_looking(self, clock: Clock) -> None:
        """Look again and again."""
        while True:
            await self.look()
            await clock.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Say how many feeds are in each status, also where there are none."""
        numbers = await self._store.read(_count_feeds)
        self._feeds.values = {(status,): numbers.get(status, 0) for status in FeedStatus}


def _count_feeds(unit: Unit) -> dict[str, int]:
    status = matches.c.status
    return {row[0]: row[1] for row in unit.run(select(status, func.count()).group_by(status))}


class _Latencies(Spread):
    """A histogram that can forget."""

    def keep(self, labels: Collection[str]) -> None:
        for label in self._buckets.keys() - set(labels):
            del self._buckets[label], self._sums[label]

    def collect(self) -> Iterator[Any]:
        yield self.family()


def _keep(tally: Tally, feeds: Collection[str]) -> None:
    for labels in [labels for labels in tally.counts if labels[0] not in feeds]:
        del tally.counts[labels]
