"""`penstock up`, `worker`, `scheduler` and `api`: the platform, whole or in parts."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated, Protocol

import typer
import uvloop

from penstock.app import Platform, build
from penstock.app.engine import (
    Engine,
    open_engine,
    open_ready_store,
    start_gauges,
    start_services,
)
from penstock.app.stream_sources import start_stored_seeds
from penstock.app.webhooks import open_webhooks
from penstock.cli.output import ExitCode, stderr
from penstock.cli.signals import on_signals
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.settings import Settings, load_settings
from penstock.workloads.live.model import WORKLOAD as LIVE

Port = Annotated[int | None, typer.Option(min=0, max=65535, help="Where the API listens.")]


@dataclass(frozen=True, slots=True)
class Parts:
    """What of the platform runs in this process."""

    works: bool = False
    serves: bool = False
    answers: bool = False
    only: Collection[str] = ()

    @property
    def claims(self) -> bool:
        """Whether items are taken from the queue; live pages are not in it."""
        return self.works and not self.is_live_alone

    def watches(self, settings: Settings) -> bool:
        """Whether live pages are watched; who asks for them by name overrules the setting."""
        return self.works and (LIVE in self.only or (not self.only and settings.live.enabled))

    @property
    def is_live_alone(self) -> bool:
        """Whether there is nothing but live pages."""
        return set(self.only) == {LIVE}


def up(
    no_api: Annotated[bool, typer.Option("--no-api", help="Do not serve the API.")] = False,
    port: Port = None,
) -> None:
    """Run everything in one process: workers, API, scheduler, deliveries, upkeep.

    On the embedded store it needs nothing else. Ctrl-C finishes what is under way and gives the
    rest back; a second one stops at once. Nothing is lost either way.
    """
    settings = _settings(port)
    answers = settings.api.enabled and not no_api
    run_parts(settings, Parts(works=True, serves=True, answers=answers))


def worker(
    lanes: Annotated[
        str | None, typer.Option(help="Only these lanes, with commas; all by default.")
    ] = None,
) -> None:
    """Run a worker: it claims items and carries them out, and nothing else."""
    only = [lane.strip() for lane in (lanes or "").split(",") if lane.strip()]
    run_parts(_settings(), Parts(works=True, only=only))


def scheduler() -> None:
    """Run the scheduler, deliveries and upkeep; one is active, others stand by."""
    run_parts(_settings(), Parts(serves=True))


def api(port: Port = None) -> None:
    """Serve the API alone; the work is done by workers elsewhere, on the same store."""
    run_parts(_settings(port), Parts(answers=True))


def _settings(port: int | None = None) -> Settings:
    settings = load_settings()
    return settings if port is None else with_port(settings, port)


def with_port(settings: Settings, port: int) -> Settings:
    """The same, with the API at another port."""
    section = settings.api.model_copy(update={"port": port})
    return settings.model_copy(update={"api": section})


def run_parts(settings: Settings, parts: Parts) -> None:
    """Run some of the platform until it is stopped."""
    configure(settings.log.service_level, form=settings.log.form)
    prepare_memory()
    try:
        uvloop.run(_serve(settings, parts))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _serve(settings: Settings, parts: Parts) -> None:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_ready_store(settings, SystemClock()))
        platform = await stack.enter_async_context(build(settings, fetches=parts.works))
        engine = await stack.enter_async_context(
            open_engine(settings, platform, store, only=parts.only, fetches=parts.works)
        )
        deliveries: list[Delivering] = []
        if parts.serves:
            deliveries += await start_services(settings, platform, engine, stack)
            deliveries.append(await _call_back(settings, platform, engine, stack))
            start_stored_seeds(settings, platform, engine)
        ended = asyncio.Event()
        gently: list[Callable[[], None]] = [engine.stop, ended.set]
        at_once: list[Callable[[], None]] = [engine.abort]
        if parts.watches(settings):
            at_once.append(await _watch(engine, stack))
        answering = None
        if parts.answers:
            start_gauges(platform, engine)
            engine.living.start_gauges(engine.supervisor)
            answering = await _answer(settings, platform, engine, parts, stack)
            gently.append(answering.turn_away)
            at_once.append(answering.stop)
        on_signals(lambda: _call(gently), lambda: _call(at_once))
        stderr().print(f"penstock is up as {engine.heartbeat.id}; Ctrl-C ends it", markup=False)
        await (engine.work() if parts.claims else ended.wait())
        if answering:
            await answering.end()
        for delivery in deliveries:
            await delivery.deliver_due()


async def _watch(engine: Engine, stack: AsyncExitStack) -> Callable[[], None]:
    """Watch live pages until the stack is left; what to call if that has to be at once."""
    supervision = await engine.living.watch(lambda: engine.heartbeat.id, engine.supervisor, stack)
    stack.push_async_callback(supervision.stop)
    return supervision.abort


def _call(functions: Collection[Callable[[], None]]) -> None:
    for each in functions:
        each()


@dataclass(frozen=True, slots=True)
class _Answering:
    """The API while it is served: first it turns new work away, then it ends."""

    turn_away: Callable[[], None]
    stop: Callable[[], None]
    serving: asyncio.Task[None]

    async def end(self) -> None:
        self.turn_away()
        self.stop()
        await self.serving


class Delivering(Protocol):
    """Something that may have to be delivered before the end."""

    async def deliver_due(self) -> int: ...


async def _call_back(
    settings: Settings, platform: Platform, engine: Engine, stack: AsyncExitStack
) -> Delivering:
    """Deliver the callbacks of jobs and tasks."""
    webhooks = await stack.enter_async_context(
        open_webhooks(settings, platform, engine.store, engine.heartbeat)
    )
    if webhooks.secret.is_new:
        _show_secret(settings, "the secret of webhooks", webhooks.secret.value.get_secret_value())
    return webhooks


def _show_secret(settings: Settings, what: str, secret: str) -> None:
    kept = f"made now, kept in {settings.store.keys}, not shown again"
    stderr().print(f"{what} is {secret} ({kept})", markup=False)


async def _answer(
    settings: Settings, platform: Platform, engine: Engine, parts: Parts, stack: AsyncExitStack
) -> _Answering:
    """Serve the API beside everything else."""
    from penstock.app.service import open_api, open_live_api, open_server  # noqa: PLC0415 - heavy

    open_it = open_live_api if parts.is_live_alone else open_api
    made = open_it(settings, platform, engine)
    server = await stack.enter_async_context(open_server(made, settings))
    if made.new_key:
        _show_secret(settings, "the service key", made.new_key)
    stderr().print(f"the API listens on {server.address}", markup=False)
    serving = asyncio.create_task(server.run(), name="api")
    stack.push_async_callback(_cancel, serving)
    return _Answering(made.stop, server.stop, serving)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
