"""Clearance: whether an item may still be begun, asked of the store for many items at once."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import select

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.kernel.model import Refused
from penstock.products.tables import sources
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import WAS_DISABLED
from penstock.workloads.monitor.counting import GATE
from penstock.workloads.monitor.obstacles import Cause, Obstacle, obstacles
from penstock.workloads.monitor.tables import scrape_adapter_status, scrape_runs, scrape_targets

PAUSE = 1.0
#: A target and a run.
Place = tuple[str, str]


class Clearance:
    """Asks whether targets may be read; those that are asked for together are one query."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._asked: dict[Place, asyncio.Future[Refused | None]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def ask(self, target_id: str, run_id: str) -> Refused | None:
        """Why a target may not be read as part of a run; None if it may."""
        place = target_id, run_id
        answer = self._asked.get(place)
        if answer is None:
            answer = self._asked[place] = asyncio.get_running_loop().create_future()
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._answer_all())
        return await asyncio.shield(answer)

    async def _answer_all(self) -> None:
        while self._asked:
            # Those that are asked for in the same moment come together.
            await asyncio.sleep(0)
            asked, self._asked = self._asked, {}
            try:
                ids = sorted({target_id for target_id, _ in asked})
                found = await self._store.read(partial(_look, ids=ids))
            except PenstockError as error:
                get_logger().error("targets cannot be looked up yet", error=str(error))
                self._asked = {**asked, **self._asked}
                await self._clock.sleep(PAUSE)
                continue
            except Exception as error:  # whatever it is: those who ask must not wait for ever
                for answer in asked.values():
                    answer.set_exception(error)
                continue
            for (target_id, run_id), answer in asked.items():
                answer.set_result(_refusal(found.get(target_id), run_id))


def _look(unit: Unit, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    targets, runs, status = scrape_targets, scrape_runs, scrape_adapter_status
    query = (
        select(
            targets.c.id,
            targets.c.url,
            targets.c.run_id,
            targets.c.enabled,
            targets.c.status,
            targets.c.robots_path_blocked,
            sources.c.name.label("source_name"),
            sources.c.domain.label("source_domain"),
            sources.c.tos_approved_by,
            sources.c.robots_compliant,
            runs.c.error_code,
            status.c.enabled.label("adapter_enabled"),
        )
        .join(sources, sources.c.id == targets.c.source_id)
        # Of the adapter of its run: the target may have another one by now.
        .outerjoin(runs, runs.c.id == targets.c.run_id)
        .outerjoin(
            status,
            (status.c.adapter == runs.c.adapter_id) & (status.c.source_id == runs.c.source_id),
        )
        .where(unit.among(targets.c.id, ids))
    )
    return {row["id"]: row for row in unit.rows(query)}


def _refusal(row: Mapping[str, Any] | None, run_id: str) -> Refused | None:
    if row is None:
        return Refused(Cause.TARGET.value, "the target is not there any more", gate=GATE)
    for obstacle in (*obstacles(row, row["source_name"]), *_obstacles_of_run(row, run_id)):
        return Refused(obstacle.cause.value, obstacle.words, gate=GATE)
    return None


def _obstacles_of_run(row: Mapping[str, Any], run_id: str) -> Iterator[Obstacle]:
    """What speaks against a target in this run, though it may be read in another."""
    if row["run_id"] != run_id:
        # Its item was revived: nobody waits for the result any more.
        yield Obstacle(Cause.TARGET, "it is not in this run any more")
    elif row["error_code"] == WAS_DISABLED:
        # It may be enabled again by now: then a canary comes first, and not the rest of this run.
        yield Obstacle(Cause.ADAPTER, "its adapter was disabled while the run was under way")
