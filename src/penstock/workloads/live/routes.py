"""The endpoints of live pages: `/api/v1/live`, and `/cricket-data` for those who know that."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Response

from penstock.web.documents import answers
from penstock.web.envelope import ApiResponse, answer
from penstock.workloads.live import error_routes, feed_routes, reading_routes, stream_routes
from penstock.workloads.live.asking import PREFIX
from penstock.workloads.live.cricket_routes import cricket_routes
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.streaming import FeedStreams

#: How all live pages do.
Examine = Callable[[], Awaitable[dict[str, Any]]]


def live_routes(
    service: LiveService, examine: Examine, is_stopping: Callable[[], bool]
) -> list[APIRouter]:
    """All endpoints, for an API to mount."""
    router = APIRouter(prefix=PREFIX, tags=["live"])
    if service.settings.health_check_enabled:
        _add_health(router, examine)
    feed_routes.add(router, service)
    error_routes.add(router, service)
    # Their paths begin with the name of a feed, which is none of those above.
    reading_routes.add(router, service)
    stream_routes.add(router, service, FeedStreams(service, is_stopping))
    return [router, cricket_routes(service)]


def _add_health(router: APIRouter, examine: Examine) -> None:
    @router.get(
        "/health",
        summary="How all live pages do",
        description=(
            "Public, and made from memory alone in a process that watches feeds. Elsewhere it says "
            "what the store knows, and `note` says so."
        ),
        response_model=ApiResponse[dict[str, Any]],
        responses={status: said for status, said in answers().items() if status in (500, 503)},
    )
    async def health() -> Response:
        return answer(await examine())
