"""`penstock stream links`: the links of pages, back into the queue."""

import asyncio

import typer
import uvloop

from penstock.app.stream_links import READER, follow_links
from penstock.cli.output import ExitCode, stderr
from penstock.cli.signals import on_signals
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.settings import Settings, load_settings


def links() -> None:
    """Follow the links of pages to others of the same site; Ctrl-C ends it when one is done.

    How far and how many: PENSTOCK_STREAM__LINKS_DEPTH, __LINKS_PER_SITE and __LINKS_SAME. With
    Kafka any number of these may run.
    """
    settings = load_settings()
    configure(settings.log.service_level, form=settings.log.form)
    try:
        uvloop.run(_follow(settings))
    except asyncio.CancelledError:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _follow(settings: Settings) -> None:
    stopping = asyncio.Event()
    following = asyncio.create_task(follow_links(settings, SystemClock(), stopping))

    def abort() -> None:
        following.cancel()

    on_signals(stopping.set, abort)
    stderr().print(f"links are followed as consumer {READER}; Ctrl-C ends it", markup=False)
    await following
