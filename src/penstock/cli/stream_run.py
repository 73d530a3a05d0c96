"""`penstock stream run`: a page fetcher, until it is stopped."""

import asyncio
from typing import Annotated

import typer
import uvloop

from penstock.app import build
from penstock.app.stream_servers import await_redis, with_shared_redis
from penstock.app.stream_sources import start_redis_seeds
from penstock.app.streaming import PageFetcher, open_page_fetcher
from penstock.cli.output import ExitCode, stderr
from penstock.cli.signals import on_signals
from penstock.cli.up import Parts, run_parts
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.settings import Settings, load_settings
from penstock.workloads.stream.model import NAME


def run(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Of health and metrics.")
    ] = None,
) -> None:
    """Fetch what is in the queue, and what comes; Ctrl-C ends it gently, nothing is lost.

    With Redis and Kafka any number of these may run, on any machine, and no database is needed.
    On the store it is `penstock up` for this work alone.
    """
    settings = with_shared_redis(load_settings())
    if not settings.stream.uses_servers:
        run_parts(settings, Parts(works=True, serves=True, answers=True, only=[NAME]))
        return
    configure(settings.log.service_level, form=settings.log.form)
    prepare_memory()
    try:
        uvloop.run(_serve(settings, settings.stream.port if port is None else port))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _serve(settings: Settings, port: int) -> None:
    from penstock.app.signs import open_signs  # noqa: PLC0415 - heavy

    await await_redis(settings, SystemClock(), lambda why: stderr().print(why, markup=False))
    async with (
        build(settings) as platform,
        open_page_fetcher(settings, platform) as fetcher,
        open_signs(settings, port, platform.metrics, fetcher.examine) as address,
    ):
        start_redis_seeds(settings, fetcher)
        on_signals(fetcher.stop, fetcher.abort)
        stderr().print(_greeting(fetcher, address), markup=False)
        await fetcher.work()


def _greeting(fetcher: PageFetcher, address: str) -> str:
    return (
        f"page fetcher {fetcher.heartbeat.id} is up, health and metrics on {address}; "
        "Ctrl-C ends it"
    )
