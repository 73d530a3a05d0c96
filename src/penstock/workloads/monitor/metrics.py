"""The monitor's metrics: counters of what was committed, and gauges of what the store holds."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import func, select

from penstock.core.clock import Clock
from penstock.core.metrics import Metrics
from penstock.kernel.model import Outcome
from penstock.queue.lanes import Result
from penstock.queue.tables import counts
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.counting import Fate
from penstock.workloads.monitor.model import Pair, TargetStatus, pair_of
from penstock.workloads.monitor.runs import LANE
from penstock.workloads.monitor.tables import scrape_adapter_status, scrape_targets

WAITS_MS = (10.0, 100.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 30_000.0, 60_000.0, 300_000.0)
FETCHES_MS = (5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 30_000.0)
READS_MS = (0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 1000.0)
PAIR = ("adapter_id", "source_id")
#: Of so many results that were never committed it is remembered what became of them.
MOST_FATES = 10_000
LOOK_EVERY = 60.0


class MonitorMetrics:
    """Counts ends of targets: `judged` in the transaction, `note` when it is committed."""

    def __init__(self, metrics: Metrics) -> None:
        tally, spread = metrics.tally, metrics.spread
        self._attempted = tally(
            "scrape_urls_attempted", "Targets that were contacted.", *PAIR, "status"
        )
        self._succeeded = tally("scrape_urls_succeeded", "Targets with a page to read.", *PAIR)
        self._failed = tally("scrape_urls_failed", "Targets without one.", *PAIR, "reason")
        self._extracted = tally("scrape_offers_extracted", "Offers that were read.", *PAIR)
        self._valid = tally("scrape_offers_valid", "Offers that were accepted.", *PAIR)
        self._dropped = tally("scrape_offers_dropped", "Offers not kept.", *PAIR, "reason")
        self._quarantined = tally(
            "scrape_offers_quarantined", "Offers that wait for a person.", *PAIR, "reason"
        )
        self._oos = tally("scrape_oos_no_price", "Sold out, and no price shown.", *PAIR)
        self._rejected = tally("scrape_queue_rejected", "Targets without room.", "reason")
        self._fetches = spread(
            "scrape_fetch_duration_ms", "First contact to last byte.", "adapter_id", FETCHES_MS
        )
        self._reads = spread(
            "scrape_extract_duration_ms", "Reading and judging a page.", "adapter_id", READS_MS
        )
        self._waits = spread(
            "scrape_rate_limit_wait_ms", "Time until a domain's turn.", "domain", WAITS_MS
        )
        self._fates: dict[str, Fate] = {}

    def judged(self, fates: Mapping[str, Fate]) -> None:
        """What became of items, by id; it counts once they are noted as committed."""
        self._fates.update(fates)
        while len(self._fates) > MOST_FATES:
            del self._fates[next(iter(self._fates))]

    def note(self, result: Result) -> None:
        """A result is committed."""
        fate = self._fates.pop(result.claim.id, None)
        if fate is None:
            return
        pair = (result.claim.quota, str(result.claim.payload.get("source", "")))
        self._count(pair, fate)
        self._time(pair[0], result.outcome)

    def rejected(self, reason: str, number: int) -> None:
        """The queue had no room for so many targets."""
        self._rejected.add(reason, number=number)

    def _count(self, pair: tuple[str, str], fate: Fate) -> None:
        numbers, reason = fate.counts, fate.reason or ""
        if numbers.urls_attempted:
            self._attempted.add(*pair, fate.fetch_status.value)
        for tally, number in (
            (self._succeeded, numbers.urls_succeeded),
            (self._extracted, numbers.offers_extracted),
            (self._valid, numbers.offers_valid),
            (self._oos, numbers.oos_no_price_count),
        ):
            if number:
                tally.add(*pair)
        for tally, number in (
            (self._failed, numbers.urls_failed),
            (self._dropped, numbers.offers_dropped),
            (self._quarantined, numbers.offers_quarantined),
        ):
            if number:
                tally.add(*pair, reason)

    def _time(self, adapter_id: str, outcome: Outcome) -> None:
        if outcome.page is not None:
            self._fetches.observe(adapter_id, outcome.page.seconds * 1000)
        times = _times(outcome)
        if times.reading is not None:
            self._reads.observe(adapter_id, times.reading * 1000)
        if times.waiting is not None:
            self._waits.observe(outcome.domain, times.waiting * 1000)


class _Times(NamedTuple):
    """Seconds that a request waited for its turn, and that its page was read for."""

    waiting: float | None
    reading: float | None


def _times(outcome: Outcome) -> _Times:
    """From what the gates said, and when."""
    waiting = reading = None
    before, since = 0.0, None
    for said in outcome.trace:
        if said.gate == "pacing":
            since = said.at if since is None else since
            if said.answer == "turn":
                waiting = (waiting or 0.0) + said.at - since
                since = None
        if said.gate == "extract":
            reading = said.at - before
        before = said.at
    return _Times(waiting, reading)


class MonitorGauges:
    """Looks at the store once in a while, and says what it holds."""

    def __init__(self, metrics: Metrics, store: Store) -> None:
        self._store = store
        self._pending = metrics.level("scrape_queue_pending", "Targets in the queue.", "adapter_id")
        self._enabled = metrics.level(
            "scrape_adapter_enabled", "1 if it may read pages.", "adapter_id"
        )
        self._targets = {
            TargetStatus.ACTIVE: metrics.level(
                "scrape_targets_active", "Targets that are read.", *PAIR
            ),
            TargetStatus.BROKEN: metrics.level(
                "scrape_targets_broken", "Targets that failed five times.", *PAIR
            ),
            TargetStatus.STALE: metrics.level(
                "scrape_targets_stale", "Targets that waited too long.", *PAIR
            ),
        }
        self._disabled = metrics.tally(
            "scrape_adapter_disabled", "Times it was disabled.", "adapter_id", "reason"
        )
        self._disabled_at: dict[str, int] = {}

    async def keep_looking(self, clock: Clock) -> None:
        """Look again and again."""
        while True:
            await self.look()
            await clock.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Say what the store holds now."""
        pending, statuses, targets = await self._store.read(_look)
        self._pending.values = {(row["quota"],): float(row["pending"]) for row in pending}
        self._enabled.values = {(row["adapter_id"],): float(row["enabled"]) for row in statuses}
        self._count_disabled(statuses)
        names: dict[Pair, str] = {
            (row["source_id"], row["adapter"]): row["adapter_id"] for row in statuses
        }
        for status, level in self._targets.items():
            level.values = {}
            for row in targets:
                if row["status"] == status:
                    name = names.get(pair_of(row)) or row["adapter_id"]
                    level.values[name, row["source_id"]] = float(row["number"])

    def _count_disabled(self, statuses: Iterable[Mapping[str, Any]]) -> None:
        """A time of disabling that is new is another one."""
        for row in statuses:
            name, at = row["adapter_id"], row["disabled_at"]
            if at is not None and not row["enabled"] and self._disabled_at.get(name) != at:
                self._disabled_at[name] = at
                self._disabled.add(name, row["disabled_reason"] or "")


Found = list[dict[str, Any]]


def _look(unit: Unit) -> tuple[Found, Found, Found]:
    quota, number = counts.c.quota, func.sum(counts.c.pending).label("pending")
    pending = select(quota, number).where(counts.c.lane == LANE).group_by(quota)
    statuses = select(scrape_adapter_status)
    columns = scrape_targets.c
    group = (columns.adapter_id, columns.source_id, columns.status)
    targets = select(*group, func.count().label("number")).where(columns.enabled).group_by(*group)
    return list(unit.rows(pending)), list(unit.rows(statuses)), list(unit.rows(targets))
