"""Runs: targets of one source and adapter that are read together; begun here, ended elsewhere."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    exists,
    func,
    select,
    tuple_,
    update,
)

from penstock.core.errors import PenstockError, SettingsError
from penstock.core.ids import new_id
from penstock.core.log import get_logger
from penstock.core.trace import new_trace
from penstock.core.urls import parse
from penstock.extract.adapter import Adapter
from penstock.extract.registry import Registry
from penstock.products.tables import sources
from penstock.queue.ports import Item, Receipt
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import ensure_status
from penstock.workloads.monitor.model import (
    Run,
    RunStatus,
    TargetStatus,
    Trigger,
    pair_of,
    queue_priority,
)
from penstock.workloads.monitor.obstacles import nothing_in_the_way, obstacles
from penstock.workloads.monitor.tables import (
    scrape_adapter_status,
    scrape_results,
    scrape_runs,
    scrape_targets,
)

LANE = "monitor"
#: The first run after an adapter was enabled again has so many targets.
CANARY_SIZE = 3
#: So many targets are put in one transaction by hand.
MOST_BY_HAND = 1000
HTTP, BROWSER = "http", "browser"
FETCHERS = {"http": HTTP, "playwright": BROWSER, "browser": BROWSER}

#: Puts items as part of a unit of work; they are new.
PutIn = Callable[[Unit, Sequence[Item]], list[Receipt]]


class RunRefused(PenstockError):
    """A run cannot be started; says why."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What came of an attempt to start runs: their ids, and why which targets are in none.

    `left` is how many more there are for which another attempt is needed.
    """

    runs: tuple[str, ...] = ()
    accepted: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)
    retry_after: float | None = None
    left: int = 0


@dataclass(frozen=True, slots=True)
class Launcher:
    """Puts targets in runs, as part of a unit of work."""

    put_in: PutIn
    registry: Registry
    max_age: float
    canary_size: int = CANARY_SIZE

    def problem_with(self, row: Mapping[str, Any]) -> str | None:
        """Why nothing may be done for a candidate now; None if it can be read."""
        if row["run_id"] is not None:
            return "it is in a run already"
        for obstacle in obstacles(row, row["source_name"]):
            return obstacle.words
        if self.registry.get(row["adapter_id"]) is None:
            return f"there is no adapter '{row['adapter_id']}'"
        return None

    def launch(self, unit: Unit, rows: Sequence[Mapping[str, Any]], trigger: Trigger) -> Launch:
        """Start a run per source and adapter with candidates that nothing speaks against."""
        pairs = groupby(sorted(rows, key=pair_of), key=pair_of)
        return _together([self._launch_pair(unit, list(some), trigger) for _, some in pairs])

    def _launch_pair(
        self, unit: Unit, rows: Sequence[Mapping[str, Any]], trigger: Trigger
    ) -> Launch:
        first = rows[0]
        adapter = self.registry.get(first["adapter_id"])
        if adapter is None:
            raise SettingsError(f"there is no adapter '{first['adapter_id']}'")
        identity = ensure_status(unit, adapter, first["source_id"], first["source_name"])
        refused: dict[str, str] = {}
        is_canary = bool(first["needs_canary"])
        if is_canary:
            room = 0 if _has_canary(unit, first) else self.canary_size
            waits = "it waits for the end of the first run after its adapter was enabled"
            refused = {row["id"]: waits for row in rows[room:]}
            rows = rows[:room]
        run_id = new_id()
        items = [_item(row, run_id, identity, trigger, self.max_age) for row in rows]
        receipts = self.put_in(unit, items) if items else []
        rejected = {
            row["id"]: receipt
            for row, receipt in zip(rows, receipts, strict=True)
            if receipt.status == "rejected"
        }
        taken = [row["id"] for row in rows if row["id"] not in rejected]
        if taken:
            run = _run(unit, first, adapter) | {
                "id": run_id,
                "trigger": trigger.value,
                "urls_total": len(taken),
                "is_canary": is_canary,
            }
            unit.insert_all(scrape_runs, [run])
            _enter(unit, taken, run_id)
        refused |= {target: str(receipt.reason) for target, receipt in rejected.items()}
        waits_for = [receipt.retry_after or 0.0 for receipt in rejected.values()]
        return Launch((run_id,) if taken else (), len(taken), refused, max(waits_for, default=None))


def candidates(*chosen: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Targets with what has to be known of their source and adapter to read them."""
    status = scrape_adapter_status
    return (
        select(
            scrape_targets,
            sources.c.name.label("source_name"),
            sources.c.domain.label("source_domain"),
            sources.c.retailer_id,
            sources.c.scrape_config,
            sources.c.tos_approved_by,
            sources.c.robots_compliant,
            status.c.enabled.label("adapter_enabled"),
            status.c.needs_canary,
        )
        .select_from(_in_context())
        .where(*chosen)
        .with_for_update(of=scrape_targets, skip_locked=True)
    )


def _in_context() -> FromClause:
    """Targets, each with its source and how its adapter fares there."""
    targets, status = scrape_targets, scrape_adapter_status
    its_adapter = status.c.adapter == targets.c.adapter_id
    return targets.join(sources, sources.c.id == targets.c.source_id).outerjoin(
        status, its_adapter & (status.c.source_id == targets.c.source_id)
    )


class Runs:
    """The runs of a store."""

    def __init__(self, store: Store, launcher: Launcher) -> None:
        self._store = store
        self._launcher = launcher

    async def start(
        self,
        who: str,
        *,
        source_id: str | None = None,
        adapter: str | None = None,
        target_ids: Sequence[str] = (),
        trigger: Trigger = Trigger.MANUAL,
    ) -> Launch:
        """Read targets now: those named, or those of a source, an adapter, or both."""
        if not (source_id or adapter or target_ids):
            raise RunRefused("say which targets to read: a source, an adapter, or targets")
        targets = scrape_targets.c
        chosen: list[ColumnElement[bool]] = []
        if source_id:
            chosen.append(targets.source_id == source_id)
        if adapter:
            chosen.append(targets.adapter_id == adapter)
        return await self._begin(who, lambda unit: self._start(unit, chosen, target_ids, trigger))

    async def retry(self, who: str, run_id: str) -> Launch:
        """Read those targets of a run again that could not be read, and were not read since."""
        return await self._begin(who, lambda unit: self._retry(unit, run_id))

    async def _begin(self, who: str, begin: Callable[[Unit], Launch]) -> Launch:
        begun: list[Launch] = []

        def work(unit: Unit) -> Launch:
            # Run again after a commit that was not heard of, it has been done already.
            if not (begun and _has_runs(unit, begun[-1].runs)):
                begun.append(begin(unit))
            return begun[-1]

        launch = await self._store.write(work, "put")
        get_logger().info(
            "runs started",
            who=who,
            runs=launch.runs,
            targets=launch.accepted,
            left=launch.left,
        )
        return launch

    def _start(
        self, unit: Unit, chosen: list[ColumnElement[bool]], ids: Sequence[str], trigger: Trigger
    ) -> Launch:
        targets = scrape_targets.c
        if ids:
            named = unit.among(targets.id, sorted(ids[:MOST_BY_HAND]))
            ready, refused = self._sift(unit, [*chosen, named])
            gone = set(ids[:MOST_BY_HAND]) - set(refused) - {row["id"] for row in ready}
            refused |= dict.fromkeys(gone, "there is no such target, or it is busy")
            launch = self._launcher.launch(unit, ready, trigger)
            return _together([Launch(refused=refused, left=len(ids[MOST_BY_HAND:])), launch])
        is_active = targets.status == TargetStatus.ACTIVE.value
        return self._take(unit, [*chosen, is_active, targets.enabled], trigger)

    def _retry(self, unit: Unit, run_id: str) -> Launch:
        failed = _failed_in(run_id)
        waiting = scrape_targets.c.id.in_(failed.where(~_was_read_since()))
        launch = self._take(unit, [waiting], Trigger.RETRY)
        if launch.accepted or launch.refused:
            return launch
        if unit.run(failed.limit(1)).first():
            raise RunRefused(
                "every target that failed in it was read since, or is being read now; "
                "what failed again is in a newer run"
            )
        raise RunRefused("no target of that run failed, or it is not known any more")

    def _take(self, unit: Unit, chosen: Sequence[ColumnElement[bool]], trigger: Trigger) -> Launch:
        """Start with as many of some targets as go at once; those in a run are left alone."""
        chosen = [*chosen, scrape_targets.c.run_id.is_(None)]
        # Those that cannot be read are told of, but must not stand before those that can.
        readable = nothing_in_the_way(_names_of(self._launcher.registry))
        _, refused = self._sift(unit, [*chosen, ~readable])
        ready, bad = self._sift(unit, [*chosen, readable])
        launch = self._launcher.launch(unit, ready, trigger)
        left = 0
        if len(ready) + len(bad) == MOST_BY_HAND:
            left = _count(unit, [*chosen, readable]) - len(bad)
        return _together([Launch(refused=refused | bad, left=left), launch])

    def _sift(
        self, unit: Unit, chosen: Sequence[ColumnElement[bool]]
    ) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """The first of some candidates: those that can be read, and why the others cannot."""
        targets = scrape_targets.c
        query = candidates(*chosen).order_by(targets.priority.desc(), targets.id)
        ready, refused = [], {}
        for row in unit.rows(query.limit(MOST_BY_HAND)):
            if problem := self._launcher.problem_with(row):
                refused[row["id"]] = problem
            else:
                ready.append(row)
        return ready, refused

    async def get(self, run_id: str) -> Run | None:
        """One run."""
        query = select(scrape_runs).where(scrape_runs.c.id == run_id)
        found = await self._store.read(lambda unit: list(unit.rows(query)))
        return Run.of(found[0]) if found else None

    async def list(
        self,
        *,
        source_id: str | None = None,
        adapter: str | None = None,
        status: RunStatus | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[Run]:
        """Runs, newest first; `before` is the last id of the page before."""
        runs = scrape_runs.c
        wanted = {runs.source_id: source_id, runs.adapter_id: adapter, runs.status: status}
        chosen = [column == value for column, value in wanted.items() if value is not None]
        if before is not None:
            chosen.append(runs.id < before)
        query = select(scrape_runs).where(*chosen).order_by(runs.id.desc()).limit(limit)
        return await self._store.read(lambda unit: [Run.of(row) for row in unit.rows(query)])


def item_id(run_id: str, target_id: str) -> str:
    """The id of the item of a target in a run: each can be found from the other."""
    return f"{run_id}:{target_id}"


def _together(launches: Iterable[Launch]) -> Launch:
    runs: tuple[str, ...] = ()
    accepted = 0
    refused: dict[str, str] = {}
    waits: list[float] = []
    left = 0
    for launch in launches:
        runs += launch.runs
        accepted += launch.accepted
        refused |= launch.refused
        left += launch.left
        if launch.retry_after is not None:
            waits.append(launch.retry_after)
    return Launch(runs, accepted, refused, max(waits, default=None), left)


def _has_runs(unit: Unit, ids: Sequence[str]) -> bool:
    query = select(scrape_runs.c.id).where(unit.among(scrape_runs.c.id, ids))
    return unit.run(query).first() is not None


def _names_of(registry: Registry) -> list[str]:
    """All that a target may call its adapter."""
    return [*registry.names(), *(adapter.id for adapter in registry.list())]


def _count(unit: Unit, chosen: Sequence[ColumnElement[bool]]) -> int:
    query = select(func.count()).select_from(_in_context()).where(*chosen)
    number: int = unit.run(query).scalar_one()
    return number


def _failed_in(run_id: str) -> Select[tuple[str]]:
    """The targets of a run on which no verdict was passed: there was nothing to judge."""
    results = scrape_results.c
    return select(results.target_id).where(results.run_id == run_id, results.verdict.is_(None))


def _was_read_since() -> ColumnElement[bool]:
    """Whether there is a newer result of the target of a result."""
    this, other = scrape_results.c, scrape_results.alias().c
    is_newer = tuple_(other.at, other.id) > tuple_(this.at, this.id)
    return exists().where(other.target_id == this.target_id, is_newer)


def _has_canary(unit: Unit, row: Mapping[str, Any]) -> bool:
    runs = scrape_runs.c
    query = select(runs.id).where(
        runs.status == RunStatus.RUNNING.value,
        runs.is_canary,
        # One in which the adapter was disabled tells nothing of what it is now.
        runs.error_code.is_(None),
        runs.source_id == row["source_id"],
        runs.adapter_id == row["adapter_id"],
    )
    return unit.run(query.limit(1)).first() is not None


def _item(
    row: Mapping[str, Any], run_id: str, identity: str, trigger: Trigger, max_age: float
) -> Item:
    config = row["scrape_config"] or {}
    return Item(
        id=item_id(run_id, row["id"]),
        lane=LANE,
        payload={
            "target": row["id"],
            "run": run_id,
            "url": row["url"],
            "source": row["source_id"],
            "retailer": row["retailer_id"],
            "adapter": row["adapter_id"],
            "trigger": trigger.value,
            "headers": config.get("customHeaders") or {},
            "fetcher": FETCHERS.get(config.get("fetcherType") or "", ""),
            "etag": row["etag"] or "",
            "last_modified": row["last_modified"] or "",
            "content_hash": row["content_hash"] or "",
            "read_by": row["read_by"] or "",
        },
        group=parse(row["url"]).domain,
        priority=queue_priority(row["priority"]),
        quota=identity,
        max_age=max_age,
        traceparent=new_trace(),
    )


def _run(unit: Unit, row: Mapping[str, Any], adapter: Adapter) -> dict[str, Any]:
    """A run of an adapter on a candidate's source."""
    return {
        "adapter_id": adapter.id,
        "adapter_version": adapter.version,
        "source_id": row["source_id"],
        "retailer_id": row["retailer_id"],
        "status": RunStatus.RUNNING.value,
        "started_at": unit.now,
        "field_counts": {},
        "created_at": unit.now,
    }


def _enter(unit: Unit, ids: Sequence[str], run_id: str) -> None:
    """Targets are in a run now; when they are due next is said when they leave it."""
    statement = update(scrape_targets).where(unit.among(scrape_targets.c.id, ids))
    unit.run(statement.values(run_id=run_id, next_due_at=None))
