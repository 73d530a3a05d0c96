"""What the scrape service does for its callers; routes translate to and from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import select, update

from penstock.blobs.ports import Blobs
from penstock.core.clock import Clock
from penstock.core.trace import new_trace
from penstock.core.urls import parse
from penstock.kernel.admission import Admission
from penstock.kernel.model import Request
from penstock.queue.ports import Item, State
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import Forbidden, InvalidRequest, NotFound
from penstock.web.keys import Key
from penstock.web.waiting import Waiters
from penstock.workloads.scrape import rows
from penstock.workloads.scrape.announcing import Announcer
from penstock.workloads.scrape.lane import HOUR_MS, WORKLOAD, item_for
from penstock.workloads.scrape.model import JobStatus, TaskStatus, new_uuid
from penstock.workloads.scrape.requests import (
    BatchScrapeRequest,
    ScrapeRequest,
    addresses_in,
    digest_of,
)
from penstock.workloads.scrape.settings import ScrapeSettings
from penstock.workloads.scrape.submitting import (
    Accepted,
    Once,
    PlainTasks,
    PutIn,
    Said,
    Submission,
    new_job,
    new_task,
    submit,
)
from penstock.workloads.scrape.tables import scrape_jobs, scrape_tasks

Row = dict[str, Any]
#: Of jobs of about the same size, the smaller goes first: by this much for every task.
SIZE_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Connections:
    """What the service works with; `cancel` ends what is under way for an item in this process."""

    store: Store
    put_in: PutIn
    nudge: Callable[[], None]
    cancel: Callable[[str], object]
    line_of: Callable[[Request], tuple[str, int]]
    admission: Admission
    blobs: Blobs
    clock: Clock


class ScrapeService:
    """Tasks and jobs, from a request to a result."""

    def __init__(
        self,
        settings: ScrapeSettings,
        connections: Connections,
        announcer: Announcer,
        waiters: Waiters,
    ) -> None:
        self._settings = settings
        self._with = connections
        self._announcer = announcer
        self._plain_tasks = partial(PlainTasks, connections.put_in)
        self.waiters = waiters

    # ── taking on

    async def submit(
        self,
        key: Key,
        request: ScrapeRequest,
        idempotency_key: str | None = None,
        **traits: Any,
    ) -> Accepted:
        """Take on one task; `traits` go to whoever carries it out."""
        self._check(key, [request], [()])
        task = new_task(new_uuid(), request, None)
        task["options"] |= traits
        once = _once(key, idempotency_key, "task", request)
        return await self._submit(Submission([task], [self._item(task)], once=once))

    async def submit_batch(
        self, key: Key, batch: BatchScrapeRequest, idempotency_key: str | None = None
    ) -> Accepted:
        """Take on a job: all of its tasks, or none."""
        places = [("targets", str(number)) for number in range(len(batch.targets))]
        self._check(key, batch.targets, places)
        if batch.callback_url:
            self._admit([("body.callback_url", batch.callback_url)])
        job = new_job(batch.workspace_id, len(batch.targets), batch.callback_url)
        # Ids in the order of the targets, so that results come in it too.
        ids = sorted(new_uuid() for _ in batch.targets)
        tasks = [new_task(*pair, job) for pair in zip(ids, batch.targets, strict=True)]
        items = [self._item(task, len(tasks) * SIZE_SECONDS) for task in tasks]
        once = _once(key, idempotency_key, "batch", batch)
        return await self._submit(Submission(tasks, items, job, once))

    async def _submit(self, submission: Submission) -> Accepted:
        connected = self._with

        def work(unit: Unit) -> list[Said]:
            if submission.is_plain:
                return unit.tally(self._plain_tasks).add(submission)
            return [submit(unit, submission, connected.put_in)]

        (said,) = await connected.store.write(work, "put")
        if not isinstance(said, Accepted):
            raise said
        connected.nudge()
        return said

    def _check(
        self, key: Key, wanted: Sequence[ScrapeRequest], places: Sequence[Sequence[str]]
    ) -> None:
        """Whether a key may ask for this, and whether the URLs may be contacted at all."""
        if not all(key.may_see(request.workspace_id) for request in wanted):
            raise Forbidden("This key is for another workspace")
        self._admit(
            [
                found
                for request, place in zip(wanted, places, strict=True)
                for found in addresses_in(request, place)
            ]
        )

    def _admit(self, addresses: Sequence[tuple[str, str]]) -> None:
        refused = [
            {"field": place, "message": refusal.detail}
            for place, url in addresses
            if (refusal := self._with.admission.check(parse(url)))
        ]
        if refused:
            raise InvalidRequest(refused)

    def _item(self, task: Row, delay: float = 0.0) -> Item:
        group, _ = self._with.line_of(Request(task["target_url"], workload=WORKLOAD))
        patience = self._settings.patience_hours * 3600
        give_up_at = self._with.clock.now().timestamp() + patience
        return item_for(task, group, delay=delay, traceparent=new_trace(), give_up_at=give_up_at)

    # ── looking up

    async def task(self, key: Key, task_id: str) -> Row:
        """A task of the key's workspace."""
        found = await self._with.store.read(lambda unit: rows.find_task(unit, task_id))
        if found is None or not key.may_see(found["workspace_id"]):
            raise NotFound("Task not found")
        return found

    async def job(self, key: Key, job_id: str) -> Row:
        """A job of the key's workspace."""
        found = await self._with.store.read(lambda unit: rows.find_job(unit, job_id))
        if found is None or not key.may_see(found["workspace_id"]):
            raise NotFound("Job not found")
        return found

    async def tasks(self, wanted: rows.Filter) -> list[Row]:
        """Tasks, newest first, one more than wanted if there are more."""
        return await self._with.store.read(lambda unit: rows.list_tasks(unit, wanted))

    async def jobs(self, wanted: rows.Filter) -> list[Row]:
        """Jobs, newest first, one more than wanted if there are more."""
        return await self._with.store.read(lambda unit: rows.list_jobs(unit, wanted))

    async def results(
        self, key: Key, job_id: str, *, after: str = "", limit: int
    ) -> tuple[Row, list[Row]]:
        """A job, and its tasks that have a result, one more than wanted if there are more."""

        def look(unit: Unit) -> tuple[Row | None, list[Row]]:
            tasks = rows.completed_tasks(unit, job_id, after=after, limit=limit + 1)
            return rows.find_job(unit, job_id), tasks

        found, tasks = await self._with.store.read(look)
        if found is None or not key.may_see(found["workspace_id"]):
            raise NotFound("Job not found")
        return found, tasks

    async def progress(self, job_id: str) -> tuple[Row | None, list[Row]]:
        """A job and all of its tasks, without their results."""
        return await self._with.store.read(
            lambda unit: (rows.find_job(unit, job_id), rows.tasks_of_job(unit, job_id))
        )

    async def file(self, key: Key, task_id: str, name: str) -> tuple[bytes, str]:
        """A file of a task and its media type."""
        task = await self.task(key, task_id)
        file = task["files"].get(name)
        data = await self._with.blobs.get(file["address"]) if file else None
        if file is None or data is None:
            raise NotFound("File not found")
        return data, file["media_type"]

    # ── cancelling

    async def cancel_job(self, key: Key, job_id: str) -> Row:
        """Take back what of a job has not begun; what runs comes to its end."""
        await self.job(key, job_id)
        await self._with.store.write(lambda unit: self._cancel_job(unit, job_id), "settle")
        self.waiters.wake([job_id])
        return await self.job(key, job_id)

    def _cancel_job(self, unit: Unit, job_id: str) -> None:
        query = select(scrape_tasks.c.item_id).where(
            scrape_tasks.c.job_id == job_id, scrape_tasks.c.status == TaskStatus.QUEUED
        )
        waiting = unit.run(query).scalars().all()
        gone = rows.withdraw(unit, waiting, [State.WAITING])
        expires_at = self._expiry(unit)
        tasks = rows.mark_cancelled(unit, gone, expires_at)
        open_job = (
            update(scrape_jobs)
            .where(scrape_jobs.c.id == job_id, scrape_jobs.c.completed_at.is_(None))
            .values(status=JobStatus.CANCELLED, updated_at=unit.now)
        )
        unit.run(open_job)
        jobs = rows.count_ends(unit, tasks, expires_at)
        self._announcer.tell(unit, tasks, jobs)

    async def cancel_task(self, task_id: str) -> None:
        """End a task that nobody waits for any more, also one that runs."""
        await self._with.store.write(lambda unit: self._cancel_task(unit, task_id), "settle")
        self._with.cancel(task_id)

    def _cancel_task(self, unit: Unit, task_id: str) -> None:
        gone = rows.withdraw(unit, [task_id], [State.WAITING, State.CLAIMED])
        expires_at = self._expiry(unit)
        tasks = rows.mark_cancelled(unit, gone, expires_at)
        self._announcer.tell(unit, tasks, rows.count_ends(unit, tasks, expires_at))

    def _expiry(self, unit: Unit) -> int:
        return unit.now + int(self._settings.retention_hours * HOUR_MS)


def _once(key: Key, idempotency_key: str | None, kind: str, request: Any) -> Once | None:
    if idempotency_key is None:
        return None
    return Once(key.id, idempotency_key, digest_of(kind, request))
