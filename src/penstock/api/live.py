"""Health, readiness and metrics of a process that serves live pages alone."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from fastapi import APIRouter, Response

from penstock.api.door import SILENT, Said
from penstock.api.signs import METRICS_TYPE, UNAVAILABLE
from penstock.core.metrics import Metrics
from penstock.web.documents import answers
from penstock.web.envelope import ApiResponse, answer, problem

_METRICS: dict[int | str, dict[str, Any]] = {
    200: {"description": "All figures", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


def live_health_routes(
    examine: Callable[[], Awaitable[dict[str, Any]]] | None,
    trouble: Callable[[], str | None],
    metrics: Metrics,
) -> APIRouter:
    """`/health` as monitors of live pages know it, if it is wanted, `/readiness` and `/metrics`.

    `trouble` says why nobody should be sent here now.
    """
    router = APIRouter(tags=["health"])
    if examine is not None:
        _add_health(router, examine)
    errors: dict[int | str, dict[str, Any]] = {
        status: said for status, said in answers().items() if status in (500, 503)
    }

    @router.get("/readiness", response_model=ApiResponse[dict[str, Any]], responses=errors)
    async def readiness() -> Response:
        """200 if feeds are watched and served here, else 503."""
        if why := trouble():
            return problem(UNAVAILABLE, "Not ready", {"problems": [why]}, {"Retry-After": "5"})
        return answer({"ready": True})

    @router.get("/metrics", response_class=Response, responses=_METRICS)
    async def show_metrics() -> Response:
        """Prometheus text."""
        return Response(metrics.text(), media_type=METRICS_TYPE)

    return router


def _add_health(router: APIRouter, examine: Callable[[], Awaitable[dict[str, Any]]]) -> None:
    @router.get("/health", response_model=dict[str, Any])
    async def health() -> Response:
        """How all live pages do, without an envelope."""
        return _bare(await examine())


def live_signs(found: dict[str, Any]) -> Said:
    """What a porter says of live pages at `/health`, without an envelope."""
    silent = {**found, "status": "down", "note": SILENT}
    return Said(_bare(found), _bare(silent, UNAVAILABLE))


def _bare(found: dict[str, Any], status: int = 200) -> Response:
    return Response(orjson.dumps(found), status, media_type="application/json")
