"""Endpoints of what went wrong with feeds, and the pages that could not be read."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from penstock.web.asking import Cursor, Id, Limit, one_page
from penstock.web.documents import answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.files import PAGE, foreign_page
from penstock.workloads.live.asking import FeedId, Onlooker, Operator
from penstock.workloads.live.model import ErrorType
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.views import ErrorView, view_error

Type = Annotated[ErrorType | None, Query(alias="type")]
Resolved = Annotated[bool | None, Query(description="Made good, or not.")]


def add(router: APIRouter, service: LiveService) -> None:
    """Add the endpoints."""
    _add_lists(router, service)
    _add_one(router, service)


def _add_lists(router: APIRouter, service: LiveService) -> None:
    @router.get(
        "/errors",
        summary="What went wrong with all feeds, latest first",
        response_model=ApiResponse[list[ErrorView]],
        responses=answers(),
    )
    async def list_errors(
        key: Onlooker,
        error_type: Type = None,
        resolved: Resolved = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        rows = await service.errors(
            error_type=error_type, resolved=resolved, before=cursor, limit=limit + 1
        )
        shown, meta = one_page(rows, limit)
        return answer([view_error(dict(row)) for row in shown], meta=meta)

    @router.get(
        "/feeds/{match_id}/errors",
        summary="What went wrong with a feed, latest first",
        response_model=ApiResponse[list[ErrorView]],
        responses=answers(404),
    )
    async def list_errors_of_feed(
        *,
        match_id: FeedId,
        key: Onlooker,
        error_type: Type = None,
        resolved: Resolved = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        await service.get(match_id)
        rows = await service.errors(
            match_id=match_id,
            error_type=error_type,
            resolved=resolved,
            before=cursor,
            limit=limit + 1,
        )
        shown, meta = one_page(rows, limit)
        return answer([view_error(dict(row)) for row in shown], meta=meta)


def _add_one(router: APIRouter, service: LiveService) -> None:
    @router.post(
        "/errors/{error_id:uuid}/resolve",
        summary="Say that an error is dealt with",
        response_model=ApiResponse[ErrorView],
        responses=answers(404),
    )
    async def resolve_error(error_id: Id, key: Operator) -> Response:
        del key
        return answer(view_error(await service.resolve_error(error_id.hex)))

    @router.get(
        "/errors/{error_id:uuid}/snapshot",
        summary="The page that could not be read",
        response_class=Response,
        responses={**answers(404), 200: {"description": "The page", "content": PAGE}},
    )
    async def get_snapshot(error_id: Id, key: Onlooker) -> Response:
        del key
        data = await service.evidence(error_id.hex, "snapshot")
        return foreign_page(data, f"{error_id.hex}.html")

    @router.get(
        "/errors/{error_id:uuid}/screenshot",
        summary="A picture of the page that could not be read",
        response_class=Response,
        responses={**answers(404), 200: {"description": "The picture", "content": PAGE}},
    )
    async def get_screenshot(error_id: Id, key: Onlooker) -> Response:
        del key
        data = await service.evidence(error_id.hex, "screenshot")
        return foreign_page(data, f"{error_id.hex}.png")
