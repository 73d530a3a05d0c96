"""Ops alerts: each is told once as long as it lasts, and again after a day or when it comes back.

What lasts is a row that is open. It is closed when its cause is gone, or when nothing has raised it
for a day.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from sqlalchemy import func, select, update

from penstock.core.ids import new_id
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.notify.topics import OPS_ALERT
from penstock.store.store import Store
from penstock.store.unit import Unit, do_nothing
from penstock.workloads.monitor.ending import OpsAlert
from penstock.workloads.monitor.model import DAY_MS, TargetStatus
from penstock.workloads.monitor.tables import ops_alerts, scrape_adapter_status, scrape_targets

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


class OpsAlerts:
    """Tells ops, as part of a unit of work; `webhook_url` is told too, signed."""

    def __init__(self, log: EventLog, webhook_url: str = "") -> None:
        self._log = log
        self._webhook_url = webhook_url or None

    def tell(self, unit: Unit, alerts: Sequence[OpsAlert]) -> None:
        """Raise alerts; those that are news become events.

        Every single reason stands in the log as `alert.raised`.
        """
        if not alerts:
            return
        # As whoever appends events: alerts are never waited for while the log is kept waiting.
        unit.take_turns("events")
        rows = [_raise(unit, alert) for alert in alerts]
        self._log.append(unit, [self._message(row) for row in rows if row is not None])

    def raise_kind(self, unit: Unit, kind: Kind, subject: str, message: str) -> None:
        """Raise one of our own alerts."""
        self.tell(unit, [OpsAlert(kind.value, subject, SEVERITIES[kind], message)])

    def _message(self, row: Mapping[str, Any]) -> Message:
        names = ("kind", "subject", "severity", "message", "count", "first_at")
        data = {name: row[name] for name in names}
        data["callback_url"] = self._webhook_url
        return Message(f"{row['id']}.{row['count']}", OPS_ALERT, row["subject"], data)


def _raise(unit: Unit, alert: OpsAlert) -> dict[str, Any] | None:
    """Open an alert or count it once more; the row, if it is to be told."""
    row = {
        "id": new_id(),
        "kind": alert.kind,
        "subject": alert.subject,
        "severity": alert.severity,
        "message": alert.message,
        "count": 1,
        "first_at": unit.now,
        "last_at": unit.now,
    }
    unit.insert_all(ops_alerts, [row], do_nothing)
    columns = ops_alerts.c
    is_it = (columns.kind == alert.kind, columns.subject == alert.subject)
    query = select(ops_alerts).where(*is_it, columns.resolved_at.is_(None)).with_for_update()
    found = next(unit.rows(query))
    if found["id"] == row["id"]:
        return row
    is_news = _days(found["first_at"], unit.now) > _days(found["first_at"], found["last_at"])
    changes = {"message": alert.message, "severity": alert.severity, "last_at": unit.now}
    changes["count"] = found["count"] + 1
    unit.run(update(ops_alerts).where(columns.id == found["id"]).values(changes))
    return {**found, **changes} if is_news else None


def _days(since: int, until: int) -> int:
    return (until - since) // DAY_MS


def resolve(unit: Unit, kind: str, subject: str) -> bool:
    """Close an alert: if it comes back, it is told again; whether it was open."""
    columns = ops_alerts.c
    is_it = (columns.kind == kind, columns.subject == subject, columns.resolved_at.is_(None))
    return unit.run(update(ops_alerts).where(*is_it).values(resolved_at=unit.now)).rowcount > 0


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
            self._alerts.raise_kind(unit, Kind.STALE_TARGETS, ALL, said)
        else:
            resolve(unit, Kind.STALE_TARGETS, ALL)
        return _close(unit, _over(unit))


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

    rows = unit.rows(select(ops_alerts).where(ops_alerts.c.resolved_at.is_(None)))
    return [row["id"] for row in rows if is_over.get(row["kind"], is_quiet)(row)]


def _close(unit: Unit, ids: Iterable[str]) -> int:
    chosen = sorted(ids)
    if not chosen:
        return 0
    statement = update(ops_alerts).where(unit.among(ops_alerts.c.id, chosen))
    return unit.run(statement.values(resolved_at=unit.now)).rowcount
