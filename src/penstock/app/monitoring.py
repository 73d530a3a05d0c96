"""The price monitor, put together: its lane, its scheduler, and what looks after both."""

from dataclasses import dataclass
from functools import partial

from penstock.app import Platform
from penstock.blobs.ports import Blobs
from penstock.core.chores import Chore
from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.events.log import EventLog
from penstock.extract.registry import open_registry
from penstock.kernel.policy import PolicyBook, PolicyEntry
from penstock.notify.ops import OpsAlerts
from penstock.products.sources import list_sources, read_config
from penstock.quality.shadow import Shadow
from penstock.queue.ports import LaneLimit
from penstock.queue.seats import Seat
from penstock.queue.sql import SqlQueue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.monitor.alerts import AlertUpkeep
from penstock.workloads.monitor.clearance import Clearance
from penstock.workloads.monitor.ending import Ends
from penstock.workloads.monitor.lane import MonitorLane
from penstock.workloads.monitor.leaving import Timetable
from penstock.workloads.monitor.metrics import MonitorMetrics
from penstock.workloads.monitor.recording import Recorder
from penstock.workloads.monitor.rules import PriceAlerts
from penstock.workloads.monitor.runs import Launcher
from penstock.workloads.monitor.scheduling import TargetScheduler
from penstock.workloads.monitor.settings import MonitorSettings
from penstock.workloads.monitor.shadow import SETTING as SHADOW_SETTING
from penstock.workloads.monitor.upkeep import RunUpkeep

HOUR = 3600.0
#: So often it is looked what the sources say of the pace of their domains.
PACES_EVERY = 10.0
#: Targets whose items were lost are looked for so often.
LOST_EVERY = 300.0
ALERTS_EVERY = 60.0
LONGEST_INTERVAL, LONGEST_DELAY_MS = 86_400.0, 3_600_000


@dataclass(frozen=True, slots=True)
class Monitoring:
    """The parts of the monitor that the engine runs; what it does for people is its service's."""

    settings: MonitorSettings
    lane: MonitorLane
    launcher: Launcher
    upkeep: RunUpkeep
    alerts: AlertUpkeep
    ops: OpsAlerts
    metrics: MonitorMetrics

    def chores(self) -> list[Chore]:
        """What is done from time to time, by one process for all."""
        upkeep, kept = self.upkeep, self.settings
        return [
            Chore("lost targets", upkeep.settle_lost, LOST_EVERY),
            Chore("alerts that are over", self.alerts.look, ALERTS_EVERY),
            Chore("old results", lambda: upkeep.forget_results(kept.keep_results_days)),
            Chore("old runs", lambda: upkeep.forget_runs(kept.keep_runs_days)),
            Chore("old pages", lambda: upkeep.forget_pages(kept.keep_pages_days)),
        ]

    def scheduler(self, platform: Platform, store: Store, seat: Seat) -> TargetScheduler:
        """Who puts due targets in runs."""
        return TargetScheduler(
            store,
            self.launcher,
            seat,
            platform.clock,
            platform.chance,
            tick_seconds=self.settings.tick_seconds,
            rejected=self.metrics.rejected,
            tell_ops=self.ops.tell,
        )


def open_monitoring(
    settings: Settings,
    platform: Platform,
    store: Store,
    *,
    queue: SqlQueue,
    log: EventLog,
    blobs: Blobs,
) -> Monitoring:
    """The monitor on a store and its queue."""
    section = settings.monitor
    registry = open_registry(settings.extract.adapters, settings.extract.candidates)
    timetable = Timetable(section.default_schedule, section.recheck_days)
    ops, metrics = (
        OpsAlerts(log, settings.notify.alert_webhook_url),
        MonitorMetrics(platform.metrics),
    )
    ends = Ends(log, ops.tell)
    recorder = Recorder(
        ends,
        settings.quality,
        timetable,
        tell_changes=PriceAlerts(log).tell,
        judged=metrics.judged,
    )
    launcher = Launcher(
        partial(queue.put_in, are_new=True),
        registry,
        max_age=section.max_age_hours * HOUR,
        canary_size=section.canary_targets,
    )
    lane = MonitorLane(
        registry,
        recorder,
        Clearance(store, platform.clock),
        clock=platform.clock,
        blobs=blobs if section.keep_pages_days else None,
        compare=Shadow(section.shadow, registry, settings.quality, SHADOW_SETTING).compare,
        noted=metrics.note,
    )
    return Monitoring(
        settings=section,
        lane=lane,
        launcher=launcher,
        upkeep=RunUpkeep(store, ends, timetable),
        alerts=AlertUpkeep(store, ops),
        ops=ops,
        metrics=metrics,
    )


def limit_of(settings: MonitorSettings) -> LaneLimit:
    """How much may be pending."""
    return LaneLimit(
        settings.max_pending_total, settings.max_pending_per_adapter, settings.retry_after_seconds
    )


async def keep_learning_paces(store: Store, policies: PolicyBook, clock: Clock) -> None:
    """Let domains be asked as fast as their sources say, where no policy says otherwise."""
    while True:
        try:
            policies.learn_sources(await paces_of_sources(store))
        except PenstockError as error:
            get_logger().error("the paces of sources cannot be read", error=str(error))
        await clock.sleep(PACES_EVERY)


async def paces_of_sources(store: Store) -> dict[str, PolicyEntry]:
    """What sources say of the pace of their domain; of several, the slowest counts."""
    rates: dict[str, float] = {}
    for row in await store.read(list_sources):
        limit = read_config(row["scrape_config"] or {}).rateLimit
        if limit:
            domain, rate = row["domain"], limit.requestsPerSecond
            rates[domain] = min(rate, rates.get(domain, rate))
    return {domain: _as_policy(rate) for domain, rate in rates.items()}


def _as_policy(requests_per_second: float) -> PolicyEntry:
    several = max(1, int(requests_per_second))
    interval = min(several / requests_per_second, LONGEST_INTERVAL)
    return PolicyEntry(
        tokens_per_interval=several,
        interval_seconds=interval,
        request_delay_ms=min(int(interval * 1000 / several), LONGEST_DELAY_MS),
    )
