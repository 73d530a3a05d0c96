"""Ops alerts: each is told once as long as it lasts, and again after a day or when it comes back.

What lasts is a row that is open. It is closed when its cause is gone, or when nothing has raised it
for a day.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import select, update

from penstock.core.ids import new_id
from penstock.notify.tables import ops_alerts
from penstock.notify.topics import OPS_ALERT
from penstock.store.unit import Unit, do_nothing

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class OpsAlert:
    """Something that ops are to be told of; `subject` is what it is about."""

    kind: str
    subject: str
    severity: str
    message: str


class Log(Protocol):
    """The event log, as much of it as matters here."""

    def announce(
        self, unit: Unit, message_id: str, topic: str, key: str, data: Mapping[str, Any]
    ) -> None:
        """Write one message as part of a unit of work."""
        ...


class OpsAlerts:
    """Tells ops, as part of a unit of work; `webhook_url` is told too, signed."""

    def __init__(self, log: Log, webhook_url: str = "") -> None:
        self._log = log
        self._webhook_url = webhook_url or None

    def tell(self, unit: Unit, alerts: Sequence[OpsAlert]) -> None:
        """Raise alerts; those that are news become events."""
        if not alerts:
            return
        # As whoever appends events: alerts are never waited for while the log is kept waiting.
        unit.take_turns("events")
        rows = [_raise(unit, alert) for alert in alerts]
        for row in rows:
            if row is not None:
                self._announce(unit, row)

    def _announce(self, unit: Unit, row: Mapping[str, Any]) -> None:
        names = ("kind", "subject", "severity", "message", "count", "first_at")
        data = {name: row[name] for name in names}
        data["callback_url"] = self._webhook_url
        self._log.announce(unit, f"{row['id']}.{row['count']}", OPS_ALERT, row["subject"], data)


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


def open_alerts(unit: Unit, kind: str | None = None) -> list[dict[str, Any]]:
    """The alerts that last, of one kind or of all."""
    query = select(ops_alerts).where(ops_alerts.c.resolved_at.is_(None))
    if kind is not None:
        query = query.where(ops_alerts.c.kind == kind)
    return list(unit.rows(query))


def close(unit: Unit, ids: Iterable[str]) -> int:
    """Close alerts by id; how many."""
    chosen = sorted(ids)
    if not chosen:
        return 0
    statement = update(ops_alerts).where(unit.among(ops_alerts.c.id, chosen))
    return unit.run(statement.values(resolved_at=unit.now)).rowcount
