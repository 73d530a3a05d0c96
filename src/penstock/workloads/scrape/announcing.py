"""What is told when a task or job is over; written with its end, delivered by the outbox."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.store.unit import Unit
from penstock.workloads.scrape import rows
from penstock.workloads.scrape.model import TaskStatus
from penstock.workloads.scrape.views import result_entry

JOB_FINISHED, TASK_FINISHED = "scrape.job.finished", "scrape.task.finished"
MOST_RESULTS = 100


class Announcer:
    """Appends the events that callbacks are made of, once for each task or job."""

    def __init__(self, log: EventLog, default_callback: str) -> None:
        self._log = log
        self._default = default_callback or None

    def tell(
        self, unit: Unit, tasks: Sequence[Mapping[str, Any]], jobs: Sequence[Mapping[str, Any]]
    ) -> None:
        """Tasks ended, and jobs with them."""
        messages = [self._of_task(task) for task in tasks if _is_told(task)]
        messages += [self._of_job(unit, job) for job in jobs]
        self._log.append(unit, messages)

    def _of_task(self, task: Mapping[str, Any]) -> Message:
        is_completed = task["status"] == TaskStatus.COMPLETED
        callback = task["callback_url"] or self._default
        data = {
            "task_id": task["id"],
            "workspace_id": task["workspace_id"],
            "status": task["status"],
            "summary": {
                "total": 1,
                "completed": int(is_completed),
                "failed": int(not is_completed),
            },
            "callback_url": callback,
            # Not kept twice unless somebody is to be told.
            "results": ([result_entry(task)] if is_completed else []) if callback else None,
        }
        return Message(f"{task['id']}.finished", TASK_FINISHED, task["id"], data)

    def _of_job(self, unit: Unit, job: Mapping[str, Any]) -> Message:
        callback = job["callback_url"] or self._default
        results = None
        if callback and job["total_tasks"] <= MOST_RESULTS:
            results = [result_entry(task) for task in rows.completed_tasks(unit, job["id"])]
        data = {
            "job_id": job["id"],
            "workspace_id": job["workspace_id"],
            "status": job["status"],
            "summary": {
                "total": job["total_tasks"],
                "completed": job["completed_tasks"],
                "failed": job["failed_tasks"],
            },
            "callback_url": callback,
            "results": results,
        }
        return Message(f"{job['id']}.finished", JOB_FINISHED, job["id"], data)


def _is_told(task: Mapping[str, Any]) -> bool:
    """A task of a job is told of by its job, unless it names a receiver of its own."""
    return task["job_id"] is None or task["callback_url"] is not None
