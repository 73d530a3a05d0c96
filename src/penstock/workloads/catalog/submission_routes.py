"""Endpoints of submissions: what was handed in together, and how far it has come."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from penstock.web.asking import Cursor, Id, Limit, one_page
from penstock.web.documents import answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.files import EVENT_STREAM, event, event_stream
from penstock.workloads.catalog.asking import Operator
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.views import (
    ProgressView,
    SubmissionView,
    view_progress,
    view_submission,
)

IsStopping = Callable[[], bool]
#: Seconds between signs of life on a stream on which nothing happens.
KEEP_ALIVE = 15.0


def add(router: APIRouter, service: CatalogService, is_stopping: IsStopping) -> None:
    """Add the endpoints."""
    _add_lists(router, service)
    _add_events(router, service, is_stopping)


def _add_lists(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/submissions",
        summary="List submissions, newest first",
        response_model=ApiResponse[list[SubmissionView]],
        responses=answers(),
    )
    async def list_submissions(key: Operator, cursor: Cursor = None, limit: Limit = 50) -> Response:
        del key
        rows = await service.submissions.list(cursor, limit + 1)
        shown, meta = one_page(rows, limit)
        return answer([view_submission(row) for row in shown], meta=meta)

    @router.get(
        "/submissions/{submission_id:uuid}",
        summary="A submission: how far it has come",
        response_model=ApiResponse[ProgressView],
        responses=answers(404),
    )
    async def get_submission(submission_id: Id, key: Operator) -> Response:
        del key
        return answer(view_progress(await service.submissions.progress(submission_id.hex)))


def _add_events(router: APIRouter, service: CatalogService, is_stopping: IsStopping) -> None:
    @router.get(
        "/submissions/{submission_id:uuid}/events",
        summary="The progress of a submission as server-sent events",
        response_class=StreamingResponse,
        responses={
            **answers(404),
            200: {"description": "`progress` and `end` events", "content": EVENT_STREAM},
        },
    )
    async def get_events(submission_id: Id, key: Operator) -> Response:
        del key
        # Whether there is such a submission must be known before the first byte.
        await service.submissions.progress(submission_id.hex)
        return event_stream(watch(service, submission_id.hex, is_stopping))


async def watch(
    service: CatalogService, submission_id: str, is_stopping: IsStopping
) -> AsyncIterator[bytes]:
    """Server-sent events: `progress` whenever it changes, `end` at last."""
    clock, shown = service.clock, dict[str, Any]()
    silent_since = clock.monotonic()
    async for progress in service.submissions.follow(submission_id, clock, is_stopping):
        if (now := view_progress(progress)) != shown:
            shown, silent_since = now, clock.monotonic()
            yield event("progress", now)
        elif clock.monotonic() - silent_since >= KEEP_ALIVE:
            silent_since = clock.monotonic()
            yield b": still here\n\n"
        if progress.is_over:
            yield event("end", {"submission_id": submission_id})
