"""The endpoints of the scrape service."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from penstock.extract.registry import Registry
from penstock.web.cursors import Cursor, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.files import EVENT_STREAM, event_stream
from penstock.web.guard import Reader, Scraper
from penstock.web.keys import Key
from penstock.workloads.scrape.model import (
    LARGEST_JOB,
    JobStatus,
    TargetType,
    TaskStatus,
    fields_of,
)
from penstock.workloads.scrape.requests import (
    BatchScrapeRequest,
    ScrapeRequest,
    SyncScrapeRequest,
)
from penstock.workloads.scrape.rows import Filter
from penstock.workloads.scrape.service import ScrapeService
from penstock.workloads.scrape.stopping import Stopping
from penstock.workloads.scrape.stream import JobStream, Place
from penstock.workloads.scrape.submitting import Accepted
from penstock.workloads.scrape.sync import ImmediateScraper
from penstock.workloads.scrape.views import (
    AdaptersView,
    JobAccepted,
    JobView,
    ResultView,
    TaskAccepted,
    TaskSummary,
    TaskView,
    result_entry,
    summarise_task,
    view_job,
    view_task,
)

MOST_LISTED = 200
TaskId = Annotated[UUID, Path(description="The id of a task.")]
JobId = Annotated[UUID, Path(description="The id of a job.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="The same key with the same body gives the same task or job.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
Word = Annotated[str | None, Query(min_length=1, max_length=200)]
REPLAYED = {"Idempotency-Replayed": "true"}


@dataclass(frozen=True, slots=True)
class Desk:
    """Whom the routes ask."""

    service: ScrapeService
    now: ImmediateScraper
    stream: JobStream
    registry: Registry
    is_stopping: Stopping


def scrape_routes(desk: Desk) -> APIRouter:
    """All endpoints, for an API to mount."""
    router = APIRouter(prefix="/api/v1", tags=["scrape"])
    _add_submissions(router, desk)
    _add_jobs(router, desk)
    _add_tasks(router, desk)
    _add_adapters(router, desk)
    return router


def _add_submissions(router: APIRouter, desk: Desk) -> None:
    @router.post(
        "/scrape",
        status_code=202,
        summary="Scrape a page later",
        response_model=ApiResponse[TaskAccepted],
        responses=answers(*ACCEPTED),
    )
    async def submit(
        body: ScrapeRequest, key: Scraper, idempotency_key: IdempotencyKey = None
    ) -> Response:
        desk.is_stopping.refuse()
        accepted = await desk.service.submit(key, body, idempotency_key)
        data = {"task_id": accepted.task_ids[0], "status": await _status(desk, key, accepted)}
        return answer(data, status=202, headers=REPLAYED if accepted.is_replay else None)

    @router.post(
        "/scrape/sync",
        summary="Scrape a page now",
        response_model=ApiResponse[TaskView],
        responses=answers(*ACCEPTED, 502, 504),
    )
    async def submit_sync(
        request: Request,
        body: SyncScrapeRequest,
        key: Scraper,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        desk.is_stopping.refuse()
        async with _leaving(request) as gone:
            return answer(view_task(await desk.now.scrape(key, body, idempotency_key, gone)))

    @router.post(
        "/scrape/batch",
        status_code=202,
        summary="Scrape many pages as one job",
        response_model=ApiResponse[JobAccepted],
        responses=answers(*ACCEPTED),
    )
    async def submit_batch(
        body: BatchScrapeRequest, key: Scraper, idempotency_key: IdempotencyKey = None
    ) -> Response:
        desk.is_stopping.refuse()
        accepted = await desk.service.submit_batch(key, body, idempotency_key)
        data = {
            "job_id": accepted.job_id,
            "status": await _job_status(desk, key, accepted),
            "total_tasks": len(accepted.task_ids),
            "task_ids": list(accepted.task_ids),
        }
        return answer(data, status=202, headers=REPLAYED if accepted.is_replay else None)


def _add_jobs(router: APIRouter, desk: Desk) -> None:
    @router.get(
        "/scrape/jobs",
        summary="List jobs, newest first",
        response_model=ApiResponse[list[JobView]],
        responses=answers(),
    )
    async def list_jobs(
        key: Reader,
        status: JobStatus | None = None,
        workspace_id: Word = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        wanted = _filter(key, workspace_id, cursor, limit, status=status)
        shown, meta = one_page(await desk.service.jobs(wanted), limit)
        return answer([view_job(row) for row in shown], meta=meta)

    @router.get(
        "/scrape/jobs/{job_id:uuid}",
        summary="A job and its progress",
        response_model=ApiResponse[JobView],
        responses=answers(404),
    )
    async def get_job(job_id: JobId, key: Reader) -> Response:
        return answer(view_job(await desk.service.job(key, str(job_id))))

    @router.get(
        "/scrape/jobs/{job_id:uuid}/results",
        summary="What came of a job's completed tasks",
        response_model=ApiResponse[list[ResultView]],
        responses=answers(404),
    )
    async def get_results(
        job_id: JobId, key: Reader, cursor: Cursor = None, limit: Limit = LARGEST_JOB
    ) -> Response:
        job, tasks = await desk.service.results(key, str(job_id), after=cursor or "", limit=limit)
        shown, meta = one_page(tasks, limit)
        names = ("status", "total_tasks", "completed_tasks", "failed_tasks")
        meta |= {"job_id": str(job_id), **{name: job[name] for name in names}}
        return answer([result_entry(task) for task in shown], meta=meta)

    @router.get(
        "/scrape/jobs/{job_id:uuid}/events",
        summary="A job as server-sent events",
        response_class=StreamingResponse,
        responses={
            **answers(404),
            200: {"description": "`task`, `job` and `end` events", "content": EVENT_STREAM},
        },
    )
    async def get_events(
        job_id: JobId,
        key: Reader,
        last_event_id: Annotated[str | None, Header(max_length=100)] = None,
    ) -> Response:
        await desk.service.job(key, str(job_id))
        events = desk.stream.events(str(job_id), Place.read(last_event_id))
        return event_stream(events)

    @router.post(
        "/scrape/jobs/{job_id:uuid}/cancel",
        summary="Take back what of a job has not begun",
        response_model=ApiResponse[JobView],
        responses=answers(404),
    )
    async def cancel_job(job_id: JobId, key: Scraper) -> Response:
        return answer(view_job(await desk.service.cancel_job(key, str(job_id))))


def _add_tasks(router: APIRouter, desk: Desk) -> None:
    @router.get(
        "/scrape",
        summary="List tasks, newest first",
        response_model=ApiResponse[list[TaskSummary]],
        responses=answers(),
    )
    async def list_tasks(
        *,
        key: Reader,
        status: TaskStatus | None = None,
        target_type: TargetType | None = None,
        job_id: Word = None,
        workspace_id: Word = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        wanted = _filter(
            key,
            workspace_id,
            cursor,
            limit,
            status=status,
            target_type=target_type,
            job_id=job_id,
        )
        shown, meta = one_page(await desk.service.tasks(wanted), limit)
        return answer([summarise_task(row) for row in shown], meta=meta)

    @router.get(
        "/scrape/{task_id:uuid}",
        summary="A task and what came of it",
        response_model=ApiResponse[TaskView],
        responses=answers(404),
    )
    async def get_task(task_id: TaskId, key: Reader) -> Response:
        return answer(view_task(await desk.service.task(key, str(task_id))))

    @router.get(
        "/scrape/{task_id:uuid}/files/{name}",
        summary="A file of a task: a screenshot, or a page that is too long for its result",
        response_class=Response,
        responses={**answers(404), 200: {"description": "The file", "content": FILE}},
    )
    async def get_file(
        task_id: TaskId, name: Annotated[str, Path(max_length=50)], key: Reader
    ) -> Response:
        data, media_type = await desk.service.file(key, str(task_id), name)
        # Somebody else wrote it: it must not run in the origin of this API.
        headers = {
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            "Content-Disposition": f'attachment; filename="{name}"',
        }
        return Response(data, media_type=media_type, headers=headers)


FILE: dict[str, Any] = {
    name: {"schema": {"type": "string", "format": "binary"}}
    for name in ("image/png", "text/html", "text/plain", "text/markdown")
}


def _add_adapters(router: APIRouter, desk: Desk) -> None:
    @router.get(
        "/adapters",
        summary="Target types, their fields, and the adapters that read them",
        response_model=ApiResponse[AdaptersView],
        responses=answers(),
    )
    async def list_adapters(key: Reader) -> Response:
        del key
        types = [{"target_type": each, "fields": list(fields_of(each))} for each in TargetType]
        adapters = [
            {
                "id": adapter.id,
                "version": adapter.version,
                "gives": adapter.gives,
                "domains": sorted(adapter.domains),
                "urls": list(adapter.urls),
                "needs_browser": bool(adapter.requires_javascript),
            }
            for adapter in desk.registry.list()
        ]
        return answer({"target_types": types, "adapters": adapters})


def _filter(
    key: Key, workspace_id: str | None, cursor: str | None, limit: int, **wanted: Any
) -> Filter:
    """What a list shows; a key of a workspace sees that alone."""
    if key.workspace_id is not None and workspace_id not in (None, key.workspace_id):
        # As for ids: what belongs to others is not there.
        wanted["before"] = ""
    elif cursor is not None:
        wanted["before"] = cursor
    return Filter(workspace_id=key.workspace_id or workspace_id, limit=limit, **wanted)


async def _status(desk: Desk, key: Key, accepted: Accepted) -> str:
    """A new task is queued; one that was asked for again may be anything by now."""
    if not accepted.is_replay:
        return TaskStatus.QUEUED
    task: Mapping[str, Any] = await desk.service.task(key, accepted.task_ids[0])
    return str(task["status"])


async def _job_status(desk: Desk, key: Key, accepted: Accepted) -> str:
    if not accepted.is_replay or accepted.job_id is None:
        return JobStatus.QUEUED
    job: Mapping[str, Any] = await desk.service.job(key, accepted.job_id)
    return str(job["status"])


@asynccontextmanager
async def _leaving(request: Request) -> AsyncIterator[asyncio.Event]:
    """An event that is set when the caller goes away."""
    gone = asyncio.Event()

    async def watch() -> None:
        while True:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                gone.set()
                return

    watcher = asyncio.create_task(watch())
    try:
        yield gone
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
