"""Tasks and jobs in the store: plain functions on a unit of work.

Whoever changes several of them does it in this order, so that nobody waits in a circle: items of
the queue, tasks, jobs.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, literal, select, text, update

from penstock.queue.lines import discount
from penstock.queue.ports import State
from penstock.queue.tables import items
from penstock.store.unit import Unit
from penstock.workloads.scrape.model import CANCELLED, JobStatus, TaskStatus, status_of_job
from penstock.workloads.scrape.tables import scrape_files, scrape_jobs, scrape_tasks

_IS_CLAIMED = items.c.state == State.CLAIMED
_IS_OPEN = scrape_tasks.c.status == TaskStatus.QUEUED
#: Has an index of its own, which an engine takes only if it sees the value in the statement.
_HAS_FAILED = scrape_tasks.c.status == text("'failed'")
#: A task that is not over runs while somebody has its item.
_STATUS = case(
    (and_(_IS_OPEN, _IS_CLAIMED), literal(TaskStatus.RUNNING.value)), else_=scrape_tasks.c.status
)
_HAS_BEGUN = (
    select(literal(1))
    .select_from(scrape_tasks.join(items, items.c.id == scrape_tasks.c.item_id))
    .where(scrape_tasks.c.job_id == scrape_jobs.c.id, _IS_OPEN, _IS_CLAIMED)
    .exists()
)
#: A job of which nothing is over may be running all the same.
_JOB_STATUS = case(
    (and_(scrape_jobs.c.status == JobStatus.QUEUED, _HAS_BEGUN), literal(JobStatus.RUNNING.value)),
    else_=scrape_jobs.c.status,
)
_STARTED = case((and_(_IS_OPEN, _IS_CLAIMED), items.c.claimed_at), else_=scrape_tasks.c.started_at)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which tasks or jobs are wanted, newest first, behind a place."""

    workspace_id: str | None = None
    status: str | None = None
    target_type: str | None = None
    job_id: str | None = None
    before: str | None = None
    limit: int = 50


def tasks_query() -> Select[*tuple[Any, ...]]:
    """Tasks as callers see them: with the status that their items give them."""
    hidden = ("status", "started_at")
    columns = [column for column in scrape_tasks.c if column.name not in hidden]
    return select(*columns, _STATUS.label("status"), _STARTED.label("started_at")).outerjoin(
        items, items.c.id == scrape_tasks.c.item_id
    )


def find_task(unit: Unit, task_id: str) -> dict[str, Any] | None:
    """One task, with its files."""
    row = next(unit.rows(tasks_query().where(scrape_tasks.c.id == task_id)), None)
    return with_files(unit, [row])[0] if row else None


def find_job(unit: Unit, job_id: str) -> dict[str, Any] | None:
    """One job, with the status that its tasks give it."""
    return next(unit.rows(_jobs_query().where(scrape_jobs.c.id == job_id)), None)


def list_tasks(unit: Unit, wanted: Filter) -> list[dict[str, Any]]:
    """Tasks, newest first, one more than wanted if there are more; without their results."""
    query = tasks_query().order_by(scrape_tasks.c.id.desc()).limit(wanted.limit + 1)
    query = query.where(*_conditions(scrape_tasks, wanted))
    if wanted.target_type is not None:
        query = query.where(scrape_tasks.c.target_type == wanted.target_type)
    if wanted.job_id is not None:
        query = query.where(scrape_tasks.c.job_id == wanted.job_id)
    if wanted.status == TaskStatus.FAILED:
        query = query.where(_HAS_FAILED)
    elif wanted.status is not None:
        query = query.where(_STATUS.in_([wanted.status]))
    return list(unit.rows(query))


def list_jobs(unit: Unit, wanted: Filter) -> list[dict[str, Any]]:
    """Jobs, newest first, one more than wanted if there are more."""
    query = _jobs_query().order_by(scrape_jobs.c.id.desc()).limit(wanted.limit + 1)
    query = query.where(*_conditions(scrape_jobs, wanted))
    if wanted.status in (JobStatus.QUEUED, JobStatus.RUNNING):
        query = query.where(_JOB_STATUS.in_([wanted.status]))
    elif wanted.status is not None:
        # One that is over does not depend on its tasks.
        query = query.where(scrape_jobs.c.status == wanted.status)
    return list(unit.rows(query))


def _jobs_query() -> Select[*tuple[Any, ...]]:
    columns = [column for column in scrape_jobs.c if column.name != "status"]
    return select(*columns, _JOB_STATUS.label("status"))


def _conditions(table: Any, wanted: Filter) -> list[ColumnElement[bool]]:
    found = []
    if wanted.workspace_id is not None:
        found.append(table.c.workspace_id == wanted.workspace_id)
    if wanted.before is not None:
        found.append(table.c.id < wanted.before)
    return found


def with_files(unit: Unit, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tasks with what was kept of them as blobs, by name."""
    query = select(scrape_files).where(scrape_files.c.task_id.in_([row["id"] for row in rows]))
    files: dict[str, dict[str, Any]] = {}
    for file in unit.rows(query):
        files.setdefault(file["task_id"], {})[file["name"]] = file
    for row in rows:
        row["files"] = files.get(row["id"], {})
    return rows


def completed_tasks(
    unit: Unit, job_id: str, *, after: str = "", limit: int | None = None
) -> list[dict[str, Any]]:
    """The tasks of a job that have a result, oldest first."""
    query = select(scrape_tasks).where(
        scrape_tasks.c.job_id == job_id,
        scrape_tasks.c.status == TaskStatus.COMPLETED,
        scrape_tasks.c.id > after,
    )
    rows = list(unit.rows(query.order_by(scrape_tasks.c.id).limit(limit)))
    return with_files(unit, rows)


def tasks_of_job(unit: Unit, job_id: str) -> list[dict[str, Any]]:
    """All tasks of a job, oldest first; without their results."""
    columns = [column for column in scrape_tasks.c if column.name != "result"]
    query = select(*columns).where(scrape_tasks.c.job_id == job_id)
    return list(unit.rows(query.order_by(scrape_tasks.c.id)))


def withdraw(unit: Unit, ids: Collection[str], states: Sequence[State]) -> list[str]:
    """Take items out of the queue that are in one of some states; ids of those taken.

    Whoever has one of them finds that it is theirs no more.
    """
    chosen = items.c.id.in_(ids), items.c.state.in_(states)
    statement = (
        update(items)
        .where(*chosen)
        .values(state=State.DONE, finished_at=unit.now, token=None)
        .returning(items.c.id, items.c.lane, items.c.quota)
    )
    gone = unit.run(statement).all()
    discount(unit, [(row.lane, row.quota) for row in gone])
    return [row.id for row in gone]


def mark_cancelled(unit: Unit, ids: Collection[str], expires_at: int) -> list[Mapping[str, Any]]:
    """Tasks that will not be carried out are failed; those that were open."""
    statement = (
        update(scrape_tasks)
        .where(scrape_tasks.c.id.in_(ids), _IS_OPEN)
        .values(
            status=TaskStatus.FAILED,
            error=CANCELLED,
            completed_at=unit.now,
            expires_at=expires_at,
        )
        .returning(*scrape_tasks.c)
    )
    return [dict(row) for row in unit.run(statement).mappings()]


def count_ends(unit: Unit, ended: Sequence[Mapping[str, Any]], expires_at: int) -> list[Any]:
    """Count tasks that ended in their jobs; the jobs that are over by that."""
    counts: dict[str, Counter[str]] = {}
    for row in ended:
        if row["job_id"]:
            counts.setdefault(row["job_id"], Counter())[row["status"]] += 1
    over = []
    for job_id, count in sorted(counts.items()):
        job = _add(unit, job_id, count[TaskStatus.COMPLETED], count[TaskStatus.FAILED])
        if job is not None and _close(unit, job, expires_at):
            over.append(job)
    return over


def _add(unit: Unit, job_id: str, completed: int, failed: int) -> dict[str, Any] | None:
    statement = (
        update(scrape_jobs)
        .where(scrape_jobs.c.id == job_id)
        .values(
            completed_tasks=scrape_jobs.c.completed_tasks + completed,
            failed_tasks=scrape_jobs.c.failed_tasks + failed,
            updated_at=unit.now,
        )
        .returning(*scrape_jobs.c)
    )
    row = unit.run(statement).mappings().first()
    return dict(row) if row else None


def _close(unit: Unit, job: dict[str, Any], expires_at: int) -> bool:
    """Set a job's status by its tasks; whether it is over."""
    counts = (job["completed_tasks"], job["failed_tasks"], job["total_tasks"])
    status = JobStatus(job["status"])
    if status is not JobStatus.CANCELLED:
        status = status_of_job(*counts)
    is_over = bool(sum(counts[:2]) >= counts[2])
    values: dict[str, Any] = {"status": status}
    if is_over:
        values |= {"completed_at": unit.now, "expires_at": expires_at}
    unit.run(update(scrape_jobs).where(scrape_jobs.c.id == job["id"]).values(values))
    job.update(values, status=status.value)
    return is_over
