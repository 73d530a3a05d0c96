"""The application: routers behind one edge, errors in envelopes, an OpenAPI document."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp

from penstock import __version__
from penstock.core.clock import Clock
from penstock.core.metrics import Metrics
from penstock.web.edge import Edge
from penstock.web.guard import Guard
from penstock.web.problems import handle_problems
from penstock.web.settings import ApiSettings

DESCRIPTION = (
    "A page's data by API: now, later, or as a batch with a signed callback. "
    "Every answer under /api/v1 is an envelope: success, data, error, meta."
)


def create_application(
    routers: Sequence[APIRouter],
    guard: Guard,
    settings: ApiSettings,
    clock: Clock,
    metrics: Metrics,
) -> ASGIApp:
    """Everything that answers HTTP, as one ASGI application."""
    routes = [route for router in routers for route in router.routes]
    app = FastAPI(
        title="Penstock",
        version=__version__,
        description=DESCRIPTION,
        redirect_slashes=False,
        # Including a router would prepare each of its routes a second time.
        routes=routes,
    )
    app.state.guard = guard
    handle_problems(app, routes)
    return Edge(app, settings=settings, clock=clock, metrics=metrics)
