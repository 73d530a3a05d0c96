"""Erasing tasks: everything that is kept of a workspace, of a page, or of people for too long.

A job that loses tasks counts on without them, and goes with the last. What is being worked on is
taken from whoever works on it; what comes of that is not written down.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, delete, or_, select, update

from penstock.events.erasure import censor_events
from penstock.notify.topics import JOB_FINISHED, TASK_FINISHED
from penstock.queue.erasure import IsWanted, SamePage, erase_items, every_row, items_of_page
from penstock.queue.tables import counts, items
from penstock.queue.upkeep import forget_empty_counts
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.scrape import rows
from penstock.workloads.scrape.announcing import Announcer
from penstock.workloads.scrape.lane import HOUR_MS, NAME
from penstock.workloads.scrape.model import JobStatus, TargetType, TaskStatus, status_of_job
from penstock.workloads.scrape.retention import forget_tasks
from penstock.workloads.scrape.tables import (
    scrape_files,
    scrape_jobs,
    scrape_submissions,
    scrape_tasks,
)

AT_ONCE = 500
Row = dict[str, Any]


@dataclass(slots=True)
class Erased:
    """How much was erased, by what it was; `blobs` are addresses that may be needed no more."""

    counts: Counter[str] = field(default_factory=Counter)
    blobs: set[str] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)


class Erasure:
    """Takes tasks out of the store, with everything that speaks of them."""

    def __init__(self, store: Store, announcer: Announcer, retention_hours: float) -> None:
        self._store = store
        self._announcer = announcer
        self._retention_hours = retention_hours

    async def erase_workspace(self, workspace: str) -> Erased:
        """Erase everything of a workspace."""
        erased = Erased()
        await self._erase_all(erased, scrape_tasks.c.workspace_id == workspace)
        await self._in_steps(erased, "items", lambda unit: _erase_quota(unit, workspace))
        await self._store.write(lambda unit: _erase_count(unit, workspace), "upkeep")
        await self._in_steps(erased, "jobs", lambda unit: _erase_jobs_of(unit, workspace))
        await self._censor(erased, lambda data: data.get("workspace_id") == workspace)
        return erased

    async def erase_page(self, url: str) -> Erased:
        """Erase everything of a page, in all spellings of its URL and for all workspaces."""
        erased, is_wanted = Erased(), SamePage(url)
        found = await self._tasks_of_page(is_wanted)
        for start in range(0, len(found), AT_ONCE):
            await self._erase(erased, found[start : start + AT_ONCE])
        left = await items_of_page(self._store, NAME, is_wanted)
        if left:
            number = await self._store.write(lambda unit: erase_items(unit, left), "upkeep")
            erased.counts["items"] += number
        if erased.tasks:
            await self._censor(erased, lambda _: False)
        return erased

    async def erase_profiles(self, older_than: float) -> Erased:
        """Erase profiles of people that were read more than so many seconds ago."""
        erased = Erased()
        now = await self._store.read(lambda unit: unit.now)
        is_old = scrape_tasks.c.completed_at < now - int(older_than * 1000)
        is_profile = scrape_tasks.c.target_type == TargetType.LINKEDIN_PROFILE
        await self._erase_all(erased, is_profile & is_old)
        if erased.tasks:
            await self._censor(erased, lambda _: False)
        return erased

    async def _erase_all(self, erased: Erased, wanted: ColumnElement[bool]) -> None:
        query = select(scrape_tasks.c.id).where(wanted).limit(AT_ONCE)
        while found := await self._store.read(lambda unit: unit.run(query).scalars().all()):
            await self._erase(erased, found)

    async def _erase(self, erased: Erased, ids: Sequence[str]) -> None:
        step = await self._store.write(lambda unit: self._erase_tasks(unit, ids), "settle")
        erased.counts += step.counts
        erased.blobs |= step.blobs
        erased.tasks |= step.tasks

    def _erase_tasks(self, unit: Unit, ids: Sequence[str]) -> Erased:
        expires_at = unit.now + int(self._retention_hours * HOUR_MS)
        mine = select(scrape_tasks.c.id, scrape_tasks.c.item_id)
        found = unit.run(mine.where(unit.among(scrape_tasks.c.id, ids))).all()
        erased = Erased(tasks={row.id for row in found})
        erased.counts["items"] = erase_items(unit, [row.item_id for row in found])
        # Open ones end, so that their jobs do not wait for them.
        over = rows.count_ends(unit, rows.mark_cancelled(unit, ids, expires_at), expires_at)
        query = select(scrape_tasks.c.job_id, scrape_tasks.c.status)
        ends = unit.run(query.where(unit.among(scrape_tasks.c.id, ids))).all()
        erased.blobs = _files_of(unit, ids)
        erased.counts["tasks"] = forget_tasks(unit, ids)
        gone = _shrink_jobs(unit, Counter((row.job_id, row.status) for row in ends if row.job_id))
        erased.counts["jobs"] = len(gone)
        erased.counts["submissions"] = _erase_submissions(unit, [*ids, *gone])
        left = [rows.find_job(unit, job["id"]) for job in over if job["id"] not in gone]
        self._announcer.tell(unit, [], [job for job in left if job])
        return erased

    async def _tasks_of_page(self, is_wanted: IsWanted) -> list[str]:
        query = select(scrape_tasks.c.id, scrape_tasks.c.target_url)
        found = every_row(self._store, query, scrape_tasks.c.id)
        return [row.id async for row in found if is_wanted(row.target_url)]

    async def _censor(self, erased: Erased, is_theirs: Callable[[Mapping[str, Any]], bool]) -> None:
        """Erase what was announced: events of tasks, and of jobs if all is."""

        def censor(key: str, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
            return None if key in erased.tasks or is_theirs(data) else data

        topics = (JOB_FINISHED, TASK_FINISHED)
        erased.counts["events"] += await censor_events(self._store, topics, censor)

    async def _in_steps(self, erased: Erased, what: str, step: Callable[[Unit], int]) -> None:
        while number := await self._store.write(step, "upkeep"):
            erased.counts[what] += number


def _files_of(unit: Unit, ids: Sequence[str]) -> set[str]:
    query = select(scrape_files.c.address).where(unit.among(scrape_files.c.task_id, ids))
    return set(unit.run(query).scalars())


def _shrink_jobs(unit: Unit, lost: Counter[tuple[str, str]]) -> set[str]:
    """Take tasks out of the counts of their jobs; the jobs that have none left are deleted."""
    gone = set()
    for job_id in sorted({job_id for job_id, _ in lost}):
        completed = lost[job_id, TaskStatus.COMPLETED]
        failed = lost[job_id, TaskStatus.FAILED]
        row = unit.run(select(scrape_jobs).where(scrape_jobs.c.id == job_id)).mappings().first()
        if row is None:
            continue
        counts = {
            "completed_tasks": row["completed_tasks"] - completed,
            "failed_tasks": row["failed_tasks"] - failed,
            "total_tasks": row["total_tasks"] - completed - failed,
        }
        if counts["total_tasks"] <= 0:
            unit.run(delete(scrape_jobs).where(scrape_jobs.c.id == job_id))
            gone.add(job_id)
            continue
        status = row["status"]
        if status != JobStatus.CANCELLED:
            status = status_of_job(*counts.values()).value
        changed = update(scrape_jobs).where(scrape_jobs.c.id == job_id)
        unit.run(changed.values(status=status, updated_at=unit.now, **counts))
    return gone


def _erase_submissions(unit: Unit, ids: Sequence[str]) -> int:
    theirs = or_(
        unit.among(scrape_submissions.c.task_id, ids), unit.among(scrape_submissions.c.job_id, ids)
    )
    return unit.run(delete(scrape_submissions).where(theirs)).rowcount


def _erase_quota(unit: Unit, workspace: str) -> int:
    """Items outlive their tasks by hours."""
    query = select(items.c.id).where(items.c.lane == NAME, items.c.quota == workspace)
    found = unit.run(query.limit(AT_ONCE)).scalars().all()
    return erase_items(unit, found) if found else 0


def _erase_count(unit: Unit, workspace: str) -> None:
    forget_empty_counts(unit, counts.c.lane == NAME, counts.c.quota == workspace)


def _erase_jobs_of(unit: Unit, workspace: str) -> int:
    some = select(scrape_jobs.c.id).where(scrape_jobs.c.workspace_id == workspace).limit(AT_ONCE)
    return unit.run(delete(scrape_jobs).where(scrape_jobs.c.id.in_(some))).rowcount
