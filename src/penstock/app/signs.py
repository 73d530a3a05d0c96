"""Health and metrics of a process that answers nothing else, served beside its work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from penstock.api.server import Server
from penstock.api.signs import signs_application
from penstock.core.metrics import Metrics
from penstock.core.signs import Signs
from penstock.settings import Settings


@asynccontextmanager
async def open_signs(
    settings: Settings, port: int, metrics: Metrics, examine: Callable[[], Awaitable[Signs]]
) -> AsyncIterator[str]:
    """Serve them until the block is left; gives the address."""
    api = settings.api.model_copy(update={"port": port})
    server = Server(signs_application(examine, metrics), api, setting="PENSTOCK_STREAM__PORT")
    serving = asyncio.create_task(server.run(), name="health and metrics")
    try:
        yield server.address
    finally:
        server.stop()
        await asyncio.gather(serving, return_exceptions=True)
        server.close()
