"""What became of targets in their runs, as people look it up."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import select

from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound
from penstock.workloads.monitor.tables import scrape_results, scrape_targets
from penstock.workloads.monitor.why import Looked, looked

Row = dict[str, Any]
#: Without the document, which is large.
COLUMNS = (
    *("id", "target_id", "run_id", "at", "fetch_status", "verdict", "reason"),
    *("adapter_version", "body", "price_id"),
)


class Ended(StrEnum):
    """How a target ended in a run: with a verdict, or with none because there was no page."""

    ACCEPT = "accept"
    QUARANTINE = "quarantine"
    DROP = "drop"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Results:
    """The results that are kept."""

    store: Store

    async def of_target(self, target_id: str, limit: int = 20) -> list[Row]:
        """The newest results of a target."""
        results = scrape_results.c
        query = (
            select(*(results[name] for name in COLUMNS))
            .where(results.target_id == target_id)
            .order_by(results.at.desc(), results.id.desc())
            .limit(limit)
        )
        return await self.store.read(lambda unit: list(unit.rows(query)))

    async def of_run(
        self, run_id: str, ended: Ended | None = None, after: str | None = None, limit: int = 50
    ) -> list[Row]:
        """The results of a run with their URLs; `after` is the last target of the part before."""
        results = scrape_results.c
        query = (
            select(*(results[name] for name in COLUMNS), scrape_targets.c.url)
            .join(scrape_targets, scrape_targets.c.id == results.target_id)
            .where(results.run_id == run_id)
            .order_by(results.target_id)
            .limit(limit)
        )
        if ended is Ended.FAILED:
            query = query.where(results.verdict.is_(None))
        elif ended is not None:
            query = query.where(results.verdict == ended.value)
        if after is not None:
            query = query.where(results.target_id > after)
        return await self.store.read(lambda unit: list(unit.rows(query)))

    async def get(self, result_id: str) -> tuple[str, Looked]:
        """The id of the target of a result, and the result step by step."""
        query = select(scrape_results).where(scrape_results.c.id == result_id)

        def look(unit: Unit) -> tuple[str, Looked]:
            for row in unit.rows(query):
                return row["target_id"], looked(row)
            raise NotFound("This result is not known, or not any more")

        return await self.store.read(look)
