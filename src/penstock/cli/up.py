"""`penstock up`, `penstock worker` and `penstock scheduler`: the platform, whole or in parts."""

import asyncio
from collections.abc import Collection
from typing import Annotated

import typer
import uvloop

from penstock.app import build
from penstock.app.engine import Engine, open_engine, open_ready_store, start_services
from penstock.cli.output import ExitCode, stderr
from penstock.cli.signals import on_signals
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.settings import Settings, load_settings


def up() -> None:
    """Run everything in one process: workers, scheduler, deliveries, upkeep.

    On the embedded store it needs nothing else. Ctrl-C finishes what is under way and gives the
    rest back; a second one stops at once. Nothing is lost either way.
    """
    _run(works=True, serves=True)


def worker(
    lanes: Annotated[
        str | None, typer.Option(help="Only these lanes, with commas; all by default.")
    ] = None,
) -> None:
    """Run a worker: it claims items and carries them out, and nothing else."""
    only = [lane.strip() for lane in (lanes or "").split(",") if lane.strip()]
    _run(works=True, serves=False, only=only)


def scheduler() -> None:
    """Run the scheduler, deliveries and upkeep; one is active, others stand by."""
    _run(works=False, serves=True)


def _run(*, works: bool, serves: bool, only: Collection[str] = ()) -> None:
    settings = load_settings()
    configure(settings.log.level)
    try:
        uvloop.run(_serve(settings, works=works, serves=serves, only=only))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _serve(settings: Settings, *, works: bool, serves: bool, only: Collection[str]) -> None:
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings, fetches=works) as platform,
        open_engine(settings, platform, store, only=only, fetches=works) as engine,
    ):
        deliveries = start_services(settings, platform, engine) if serves else []
        stderr().print(f"penstock is up as {engine.heartbeat.id}; Ctrl-C ends it", markup=False)
        await (_work(engine) if works else _stand_by())
        for delivery in deliveries:
            await delivery.deliver_due()


async def _work(engine: Engine) -> None:
    on_signals(engine.stop, engine.abort)
    await engine.work()


async def _stand_by() -> None:
    stopped = asyncio.Event()
    on_signals(stopped.set, stopped.set)
    await stopped.wait()
