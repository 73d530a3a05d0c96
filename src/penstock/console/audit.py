"""Every change that is made in the console: who, when and what."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, insert, select

from penstock.console.tables import audit_log
from penstock.core.ids import new_id
from penstock.store.store import Store
from penstock.store.unit import Unit

DAY_MS = 86_400_000
Row = dict[str, Any]


class Audit:
    """The book of changes; nothing in it is ever changed."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def note(
        self, who: str, action: str, subject: str, detail: Mapping[str, Any] | None = None
    ) -> None:
        """Write down that somebody did something to something."""

        def add(unit: Unit) -> None:
            row = {"id": new_id(), "at": unit.now, "who": who, "action": action}
            unit.run(insert(audit_log), {**row, "subject": subject, "detail": dict(detail or {})})

        await self._store.write(add)

    async def list(self, before: str | None = None, limit: int = 50) -> list[Row]:
        """Changes, the newest first; `before` is the id of the last one seen."""
        query = select(audit_log).order_by(audit_log.c.id.desc()).limit(limit)
        if before:
            query = query.where(audit_log.c.id < before)
        return await self._store.read(lambda unit: [*unit.rows(query)])

    async def forget(self, days: float) -> int:
        """Delete what is older; how many."""

        def remove(unit: Unit) -> int:
            old = audit_log.c.at < unit.now - int(days * DAY_MS)
            return unit.run(delete(audit_log).where(old)).rowcount

        return await self._store.write(remove, "upkeep")
