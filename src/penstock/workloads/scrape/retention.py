"""Forgetting tasks and jobs whose time is over."""

from collections.abc import Sequence

from sqlalchemy import delete, select

from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.scrape.tables import (
    scrape_files,
    scrape_jobs,
    scrape_submissions,
    scrape_tasks,
)

AT_ONCE = 1000
DAY_MS = 86_400_000


async def forget_expired(store: Store, retention_hours: float) -> int:
    """Delete tasks and jobs that have expired, and old Idempotency-Keys; how many rows."""
    total = 0
    while number := await store.write(_forget_tasks, "upkeep"):
        total += number
    while number := await store.write(_forget_jobs, "upkeep"):
        total += number
    total += await store.write(
        lambda unit: _forget_submissions(unit, int(retention_hours * 3_600_000)), "upkeep"
    )
    return total


def _forget_tasks(unit: Unit) -> int:
    old = select(scrape_tasks.c.id).where(scrape_tasks.c.expires_at <= unit.now).limit(AT_ONCE)
    return forget_tasks(unit, unit.run(old).scalars().all())


def forget_tasks(unit: Unit, ids: Sequence[str]) -> int:
    """Delete tasks and what says where their files are; the blobs are swept later."""
    if not ids:
        return 0
    unit.run(delete(scrape_files).where(unit.among(scrape_files.c.task_id, ids)))
    return unit.run(delete(scrape_tasks).where(unit.among(scrape_tasks.c.id, ids))).rowcount


def _forget_jobs(unit: Unit) -> int:
    """A job goes when its tasks are gone."""
    left = select(scrape_tasks.c.id).where(scrape_tasks.c.job_id == scrape_jobs.c.id).exists()
    old = select(scrape_jobs.c.id).where(scrape_jobs.c.expires_at <= unit.now, ~left)
    some = unit.run(old.limit(AT_ONCE)).scalars().all()
    if not some:
        return 0
    return unit.run(delete(scrape_jobs).where(unit.among(scrape_jobs.c.id, some))).rowcount


def _forget_submissions(unit: Unit, older_than: int) -> int:
    """An Idempotency-Key is good for as long as the results are; a day at least."""
    before = unit.now - max(older_than, DAY_MS)
    old = delete(scrape_submissions).where(scrape_submissions.c.created_at < before)
    return unit.run(old).rowcount


async def files_in_use(store: Store, addresses: Sequence[str]) -> set[str]:
    """Which of some blobs a task still speaks of."""
    query = select(scrape_files.c.address).where(scrape_files.c.address.in_(addresses))
    return await store.read(lambda unit: set(unit.run(query).scalars()))
