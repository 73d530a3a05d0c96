"""What is told when a task or job is over; written with its end, delivered by the outbox.

What came of it is looked up when somebody is told: it is kept in one place, and no longer than
the retention says.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.notify.topics import JOB_FINISHED, TASK_FINISHED
from penstock.notify.webhooks import MOST_RESULTS
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.scrape import rows
from penstock.workloads.scrape.model import TaskStatus
from penstock.workloads.scrape.views import result_entry


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
        messages += [self._of_job(job) for job in jobs]
        self._log.append(unit, messages)

    def _of_task(self, task: Mapping[str, Any]) -> Message:
        is_completed = task["status"] == TaskStatus.COMPLETED
        data = {
            "task_id": task["id"],
            "workspace_id": task["workspace_id"],
            "status": task["status"],
            "summary": {
                "total": 1,
                "completed": int(is_completed),
                "failed": int(not is_completed),
            },
            "callback_url": task["callback_url"] or self._default,
        }
        return Message(f"{task['id']}.finished", TASK_FINISHED, task["id"], data)

    def _of_job(self, job: Mapping[str, Any]) -> Message:
        data = {
            "job_id": job["id"],
            "workspace_id": job["workspace_id"],
            "status": job["status"],
            "summary": {
                "total": job["total_tasks"],
                "completed": job["completed_tasks"],
                "failed": job["failed_tasks"],
            },
            "callback_url": job["callback_url"] or self._default,
        }
        return Message(f"{job['id']}.finished", JOB_FINISHED, job["id"], data)


async def results_of(store: Store, data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What came of the job or task that an event tells of, as far as it is still kept."""

    def look(unit: Unit) -> list[dict[str, Any]]:
        if "job_id" in data:
            if data["summary"]["total"] > MOST_RESULTS:
                return []  # too many to be told: whoever wants them asks
            return rows.completed_tasks(unit, data["job_id"], limit=MOST_RESULTS)
        task = rows.find_task(unit, data["task_id"])
        return [task] if task and task["status"] == TaskStatus.COMPLETED else []

    return [result_entry(task) for task in await store.read(look)]


def _is_told(task: Mapping[str, Any]) -> bool:
    """A task of a job is told of by its job, unless it names a receiver of its own."""
    return task["job_id"] is None or task["callback_url"] is not None
