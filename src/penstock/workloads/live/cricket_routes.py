"""The latest state of a match in the form that its consumers know: bare, and so are errors."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from penstock.core.errors import StoreError
from penstock.core.log import get_logger
from penstock.web.errors import ApiError, Unavailable
from penstock.web.guard import ServiceKey
from penstock.workloads.live.asking import A_FEED, admit_consumer
from penstock.workloads.live.reading_routes import (
    STATES,
    UNCHANGED,
    IfNoneMatch,
    freshness_headers,
    is_known,
)
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.views import StateView, view_state

PREFIX = "/cricket-data"
AWAY_SECONDS = 5


class ProblemView(BaseModel):
    """Why there is no data."""

    error: str = Field(examples=["There is no feed 'match456'"])


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemView, "description": HTTPStatus(status).phrase}
    for status in (401, 403, 404, 422, 429, 500, 503)
}


def cricket_routes(service: LiveService) -> APIRouter:
    """All endpoints, for an API to mount."""
    router = APIRouter(prefix=PREFIX, tags=["live"])

    @router.get(
        "/match-info/{match_id}",
        summary="What a match says now, and how fresh that is, without an envelope",
        response_model=StateView,
        responses={**ERRORS, **STATES},
    )
    async def get_match_info(
        request: Request,
        match_id: Annotated[str, Path(examples=[A_FEED])],
        secret: ServiceKey = None,
        if_none_match: IfNoneMatch = None,
    ) -> Response:
        try:
            required = service.settings.keys_required
            await admit_consumer(request.app.state.guard, secret, keys_required=required)
            reading = await service.read(match_id)
        except ApiError as error:
            return _refuse(error)
        except StoreError as error:
            get_logger().error("the store is in trouble", error=str(error))
            return _refuse(Unavailable("The store does not answer", retry_after=AWAY_SECONDS))
        headers = freshness_headers(reading)
        if is_known(headers["ETag"], if_none_match):
            return Response(status_code=UNCHANGED, headers=headers)
        return _bare(view_state(reading), headers)

    return router


def _refuse(error: ApiError) -> Response:
    return _bare({"error": str(error)}, error.headers, error.status)


def _bare(data: Mapping[str, Any], headers: Mapping[str, str], status: int = 200) -> Response:
    body = orjson.dumps(data)
    return Response(body, status, headers=dict(headers), media_type="application/json")
