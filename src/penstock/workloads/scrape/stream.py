"""A job as a stream of server-sent events, for those who would rather watch than poll."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import orjson

from penstock.core.clock import Clock
from penstock.workloads.scrape.model import is_over
from penstock.workloads.scrape.service import ScrapeService
from penstock.workloads.scrape.settings import ScrapeSettings
from penstock.workloads.scrape.views import summarise_task, view_job

START = (0, "")


class JobStream:
    """Tells of every task that ends, and of the job itself; over when the job is."""

    def __init__(
        self,
        service: ScrapeService,
        settings: ScrapeSettings,
        clock: Clock,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._service = service
        self._settings = settings
        self._clock = clock
        self._is_stopping = is_stopping

    async def events(self, job_id: str, after: tuple[int, str] = START) -> AsyncIterator[bytes]:
        """The events behind a place: `task` for each end, `job` for progress, `end` at last."""
        shown: Mapping[str, Any] | None = None
        silent_since = self._clock.monotonic()
        with self._service.waiters.watch(job_id) as changed:
            while not self._is_stopping():
                changed.clear()
                job, tasks = await self._service.ended(job_id, after)
                if job is None:
                    return
                for task in tasks:
                    after = (task["completed_at"], task["id"])
                    yield _event("task", summarise_task(task), f"{after[0]}.{after[1]}")
                view = view_job(job)
                if view != shown:
                    yield _event("job", view)
                    shown, silent_since = view, self._clock.monotonic()
                if is_over(job):
                    yield _event("end", {"job_id": job_id, "status": job["status"]})
                    return
                if self._clock.monotonic() - silent_since >= self._settings.keep_alive_seconds:
                    silent_since = self._clock.monotonic()
                    yield b": still here\n\n"
                await self._clock.wait_for(changed, self._settings.poll_seconds)


def _event(name: str, data: Mapping[str, Any], event_id: str = "") -> bytes:
    identity = f"id: {event_id}\n".encode() if event_id else b""
    return identity + b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


def read_place(last_event_id: str | None) -> tuple[int, str]:
    """The place behind which a stream goes on; one that makes no sense is the start."""
    at, _, task_id = (last_event_id or "").partition(".")
    return (int(at), task_id) if at.isdecimal() and len(at) < 16 else START  # noqa: PLR2004
