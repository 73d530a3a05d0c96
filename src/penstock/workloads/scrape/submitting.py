"""Taking tasks and jobs on: all of a submission or nothing, and the same one only once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, delete, select

from penstock.queue.ports import Item, Receipt
from penstock.store.unit import Unit, do_nothing
from penstock.web.errors import Conflict, QueueFull
from penstock.workloads.scrape.model import ALONE, JobStatus, TaskStatus, new_uuid, priority_of
from penstock.workloads.scrape.requests import ScrapeRequest
from penstock.workloads.scrape.tables import scrape_jobs, scrape_submissions, scrape_tasks

PutIn = Callable[[Unit, Sequence[Item]], list[Receipt]]


@dataclass(frozen=True, slots=True)
class Once:
    """What a caller says to be asking for once, however often it is sent."""

    key_id: str
    idempotency_key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Submission:
    """Tasks to be taken on, with the job that they make up, if they do."""

    tasks: Sequence[Mapping[str, Any]]
    items: Sequence[Item]
    job: Mapping[str, Any] | None = None
    once: Once | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is one task and nothing else."""
        return self.job is None and self.once is None and len(self.tasks) == 1


@dataclass(frozen=True, slots=True)
class Accepted:
    """The ids of what was taken on, now or when the same was asked for before."""

    job_id: str | None
    task_ids: Sequence[str] = field(default_factory=tuple)
    is_replay: bool = False


Said = Accepted | QueueFull | Conflict


class PlainTasks:
    """Single tasks that are taken on in one transaction: many cost little more than one."""

    def __init__(self, put_in: PutIn) -> None:
        self._put_in = put_in
        self._waiting: list[tuple[Submission, list[Said]]] = []

    def add(self, submission: Submission) -> list[Said]:
        """Have a task taken on at the edge of the transaction; the answer is there afterwards."""
        said: list[Said] = []
        self._waiting.append((submission, said))
        return said

    def write(self, unit: Unit) -> None:
        items = [item for submission, _ in self._waiting for item in submission.items]
        tasks: list[Mapping[str, Any]] = []
        receipts = self._put_in(unit, items)
        for (submission, said), receipt in zip(self._waiting, receipts, strict=True):
            if receipt.status == "rejected":
                said.append(QueueFull(retry_after=receipt.retry_after))
            else:
                (task,) = submission.tasks
                tasks.append({**task, "created_at": unit.now})
                said.append(Accepted(None, [task["id"]]))
        unit.insert_all(scrape_tasks, tasks, do_nothing)


def new_task(task_id: str, request: ScrapeRequest, job: Mapping[str, Any] | None) -> dict[str, Any]:
    """The row of a new task; its times are set when it is written."""
    return {
        "id": task_id,
        "job_id": job["id"] if job else None,
        "item_id": task_id,
        "workspace_id": request.workspace_id,
        "target_type": request.target_type.value,
        "target_url": request.target_url,
        "requested_fields": request.requested_fields,
        "options": request.options,
        "priority": priority_of(job["total_tasks"]) if job else ALONE,
        "callback_url": request.callback_url,
        "status": TaskStatus.QUEUED.value,
    }


def new_job(workspace_id: str, tasks: int, callback_url: str | None) -> dict[str, Any]:
    """The row of a new job."""
    return {
        "id": new_uuid(),
        "workspace_id": workspace_id,
        "status": JobStatus.QUEUED.value,
        "total_tasks": tasks,
        "completed_tasks": 0,
        "failed_tasks": 0,
        "callback_url": callback_url,
    }


def submit(unit: Unit, submission: Submission, put_in: PutIn) -> Said:
    """Write a submission, or say why not; a full queue leaves nothing behind.

    What was refused is returned where nothing was written by then: others share the transaction.
    """
    unit.take_turns("put")
    once = submission.once
    if once and (earlier := _earlier(unit, once)):
        return earlier
    receipts = put_in(unit, submission.items)
    rejected = [receipt for receipt in receipts if receipt.status == "rejected"]
    if rejected:
        full = QueueFull(retry_after=rejected[0].retry_after)
        if len(rejected) < len(receipts):
            raise full
        return full
    _insert(unit, submission)
    job_id = submission.job["id"] if submission.job else None
    return Accepted(job_id, [task["id"] for task in submission.tasks])


def _earlier(unit: Unit, once: Once) -> Accepted | Conflict | None:
    found = next(unit.rows(select(scrape_submissions).where(*_is_of(once))), None)
    if found is None:
        return None
    led_to = _what_became_of(unit, found)
    if led_to is None:
        # What it led to is forgotten, and the key with it.
        unit.run(delete(scrape_submissions).where(*_is_of(once)))
        return None
    return led_to if found["digest"] == once.digest else Conflict()


def _is_of(once: Once) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (
        scrape_submissions.c.key_id == once.key_id,
        scrape_submissions.c.idempotency_key == once.idempotency_key,
    )


def _what_became_of(unit: Unit, earlier: Mapping[str, Any]) -> Accepted | None:
    """The task or job that a submission led to, if it is still there."""
    if task_id := earlier["task_id"]:
        query = select(scrape_tasks.c.id).where(scrape_tasks.c.id == task_id)
        is_there = unit.run(query).first() is not None
        return Accepted(None, [task_id], is_replay=True) if is_there else None
    tasks = select(scrape_tasks.c.id).where(scrape_tasks.c.job_id == earlier["job_id"])
    ids = unit.run(tasks.order_by(scrape_tasks.c.id)).scalars().all()
    return Accepted(earlier["job_id"], ids, is_replay=True) if ids else None


def _insert(unit: Unit, submission: Submission) -> None:
    """Rows that are there already are those of an earlier run of the same unit of work."""
    born = {"created_at": unit.now}
    if job := submission.job:
        unit.insert_all(scrape_jobs, [{**job, **born, "updated_at": unit.now}], do_nothing)
    unit.insert_all(scrape_tasks, [{**task, **born} for task in submission.tasks], do_nothing)
    if once := submission.once:
        row = {
            "key_id": once.key_id,
            "idempotency_key": once.idempotency_key,
            "digest": once.digest,
            "task_id": None if submission.job else submission.tasks[0]["id"],
            "job_id": submission.job["id"] if submission.job else None,
            **born,
        }
        unit.insert_all(scrape_submissions, [row], do_nothing)
