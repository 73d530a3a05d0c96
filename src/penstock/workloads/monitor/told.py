"""What ops were told of, as they look it up."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import select

from penstock.notify.tables import ops_alerts
from penstock.store.store import Store


class Severity(StrEnum):
    """How soon somebody has to look."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which alerts are looked for; what is absent does not matter."""

    kind: str | None = None
    subject: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """The alerts of a store: those that last, and those that are over."""

    store: Store

    async def list(
        self,
        wanted: Wanted,
        *,
        is_open: bool | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[dict[str, Any]]:
        """Alerts, those that began last first; `before` is the last id of the page before.

        By when they began, not by when they were raised last: that moves while somebody reads on.
        """
        columns = ops_alerts.c
        given: Mapping[str, str | None] = asdict(wanted)
        chosen = [columns[name] == value for name, value in given.items() if value is not None]
        if is_open is not None:
            over = columns.resolved_at
            chosen.append(over.is_(None) if is_open else over.is_not(None))
        if before is not None:
            chosen.append(columns.id < before)
        query = select(ops_alerts).where(*chosen).order_by(columns.id.desc()).limit(limit)
        return await self.store.read(lambda unit: list(unit.rows(query)))
