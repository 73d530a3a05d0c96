"""Switches that every process of a store obeys."""

from sqlalchemy import Column, Table, delete, select

from penstock.store.schema import CleanText, Moment, metadata
from penstock.store.store import Store
from penstock.store.unit import Unit

switches = Table(
    "switches",
    metadata,
    Column("domain", CleanText, primary_key=True),
    Column("reason", CleanText, nullable=False),
    Column("at", Moment, nullable=False),
)


class StoredSwitches:
    """The switches as they stand in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def pause(self, domain: str, reason: str) -> None:
        """Stop all contact with a domain; an empty one stands for all."""
        await self._store.write(lambda unit: _pause(unit, domain, reason))

    async def resume(self, domain: str) -> bool:
        """Let it go on; False if it was not paused."""
        statement = delete(switches).where(switches.c.domain == domain)
        return await self._store.write(lambda unit: unit.run(statement).rowcount > 0)

    async def paused(self) -> dict[str, str]:
        """What is paused, and why."""
        query = select(switches.c.domain, switches.c.reason).order_by(switches.c.domain)
        return await self._store.read(
            lambda unit: {row.domain: row.reason for row in unit.run(query)}
        )


def _pause(unit: Unit, domain: str, reason: str) -> None:
    row = {"domain": domain, "reason": reason, "at": unit.now}
    insert = unit.insert(switches)
    unit.run(insert.on_conflict_do_update(index_elements=["domain"], set_=row), row)
