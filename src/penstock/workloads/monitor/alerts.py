"""What the monitor tells ops of, and when that is over."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select

from penstock.notify.ops import OpsAlert, OpsAlerts, close, open_alerts, resolve
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.model import DAY_MS, TargetStatus
from penstock.workloads.monitor.tables import scrape_adapter_status, scrape_targets

#: So many targets that waited for too long are worth a word.
MOST_STALE = 100
ALL = "all targets"


class Kind(StrEnum):
    """Alerts that this module has a hand in; the words of drift are its own."""

    ADAPTER_DISABLED = "adapter_disabled"
    QUEUE_REJECTIONS = "queue_rejections"
    STALE_TARGETS = "stale_targets"
    SCHEDULER_PAUSED = "scheduler_paused"


SEVERITIES: Mapping[str, str] = {
    Kind.ADAPTER_DISABLED: "P1",
    Kind.QUEUE_REJECTIONS: "P2",
    Kind.STALE_TARGETS: "P3",
    Kind.SCHEDULER_PAUSED: "P2",
}


def rejection(reason: str, number: int) -> OpsAlert:
    """The queue had no room for targets."""
    said = f"the queue had no room for {number} targets; they are tried again later"
    kind = Kind.QUEUE_REJECTIONS
    return OpsAlert(kind.value, reason, SEVERITIES[kind], said)


def long_pause(seconds: float) -> OpsAlert:
    """The queue has been full for so long that nothing is scheduled."""
    said = f"the queue has been full for over {seconds / 60:.0f} minutes: no target is scheduled"
    kind = Kind.SCHEDULER_PAUSED
    return OpsAlert(kind.value, ALL, SEVERITIES[kind], said)


class AlertUpkeep:
    """Looks from time to time for alerts whose cause is gone, and for one that nobody raises."""

    def __init__(self, store: Store, alerts: OpsAlerts, most_stale: int = MOST_STALE) -> None:
        self._store = store
        self._alerts = alerts
        self._most_stale = most_stale

    async def look(self) -> int:
        """Close what is over, tell of stale targets; how many alerts were closed."""
        return await self._store.write(self._look, "upkeep")

    def _look(self, unit: Unit) -> int:
        unit.take_turns("events")
        stale = scrape_targets.c.status == TargetStatus.STALE.value
        number = unit.run(
            select(func.count()).select_from(scrape_targets).where(stale)
        ).scalar_one()
        if number > self._most_stale:
            said = f"{number} targets waited for their turn for more than a day"
            kind = Kind.STALE_TARGETS
            self._alerts.tell(unit, [OpsAlert(kind.value, ALL, SEVERITIES[kind], said)])
        else:
            resolve(unit, Kind.STALE_TARGETS, ALL)
        return close(unit, _over(unit))


def _over(unit: Unit) -> list[str]:
    """Open alerts whose adapter reads again, or which nothing has raised for a day."""
    status = scrape_adapter_status.c
    query = select(status.adapter_id).where(~status.enabled)
    disabled = set(unit.run(query).scalars())
    is_over: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
        Kind.ADAPTER_DISABLED: lambda row: row["subject"] not in disabled,
        Kind.STALE_TARGETS: lambda _row: False,
    }

    def is_quiet(row: Mapping[str, Any]) -> bool:
        return bool(row["last_at"] < unit.now - DAY_MS)

    return [row["id"] for row in open_alerts(unit) if is_over.get(row["kind"], is_quiet)(row)]
