"""Health, readiness and metrics of a process that answers nothing else."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from penstock.core.metrics import Metrics
from penstock.core.signs import Signs
from penstock.web.envelope import answer, problem

UNAVAILABLE = 503
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def signs_application(examine: Callable[[], Awaitable[Signs]], metrics: Metrics) -> ASGIApp:
    """`/health`, `/readiness` and `/metrics`."""

    async def health(request: Request) -> Response:
        del request
        signs = await examine()
        status = "trouble" if signs.problems else "ok"
        return answer({"status": status, **signs._asdict()})

    async def readiness(request: Request) -> Response:
        del request
        signs = await examine()
        if signs.problems:
            why = {"problems": signs.problems}
            return problem(UNAVAILABLE, "Not ready", why, {"Retry-After": "5"})
        return answer({"ready": True})

    return Starlette(
        routes=[
            Route("/health", health),
            Route("/readiness", readiness),
            _metrics_route(metrics),
        ]
    )


def metrics_application(metrics: Metrics) -> ASGIApp:
    """`/metrics` alone."""
    return Starlette(routes=[_metrics_route(metrics)])


def _metrics_route(metrics: Metrics) -> Route:
    async def show_metrics(request: Request) -> Response:
        del request
        return Response(metrics.text(), media_type=METRICS_TYPE)

    return Route("/metrics", show_metrics)
