"""Health and metrics of a process that answers nothing else, served beside its work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from penstock.api.server import Server
from penstock.api.signs import metrics_application, signs_application
from penstock.core.metrics import Metrics
from penstock.core.signs import Signs
from penstock.settings import Settings
from penstock.web.settings import ApiSettings


@asynccontextmanager
async def open_signs(
    settings: Settings, port: int, metrics: Metrics, examine: Callable[[], Awaitable[Signs]]
) -> AsyncIterator[str]:
    """Serve them until the block is left; gives the address."""
    application = signs_application(examine, metrics)
    server = Server(application, _on(settings, port), setting="PENSTOCK_STREAM__PORT")
    async with _serving(server) as address:
        yield address


@asynccontextmanager
async def open_metrics(settings: Settings, port: int, metrics: Metrics) -> AsyncIterator[str]:
    """Serve metrics on a port of their own until the block is left; gives the address."""
    application = metrics_application(metrics)
    server = Server(application, _on(settings, port), setting="PENSTOCK_LIVE__PROMETHEUS_PORT")
    async with _serving(server) as address:
        yield address


def _on(settings: Settings, port: int) -> ApiSettings:
    return settings.api.model_copy(update={"port": port})


@asynccontextmanager
async def _serving(server: Server) -> AsyncIterator[str]:
    serving = asyncio.create_task(server.run(), name="health and metrics")
    try:
        yield server.address
    finally:
        server.stop()
        await asyncio.gather(serving, return_exceptions=True)
        server.close()
