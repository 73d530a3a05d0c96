"""A worker process that is told by messages what to do: `python -m tests.nudged_worker SETTINGS`.

SETTINGS is JSON: the sections of the settings. It says "ready" when it receives messages, ends
gently on SIGTERM, and with `"source": "polling"` asks the store instead, for comparison.
"""

import asyncio
import json
import resource
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import uvloop

from penstock.app import Platform, build
from penstock.app.engine import open_queue
from penstock.core.log import configure
from penstock.core.supervise import Supervisor
from penstock.events.log import EventLog
from penstock.queue.broker import BrokerSettings, NoReceiver, Receiver
from penstock.queue.celery import CeleryConsumer, CeleryNudger
from penstock.queue.heartbeat import Heartbeat, Pulse
from penstock.queue.lanes import Lane
from penstock.queue.resend import Resender
from penstock.queue.sources import Polling, Told
from penstock.queue.station import Station, StationSettings
from penstock.settings import load_settings
from penstock.store.store import Store, open_store
from penstock.workloads.fetch.lane import FetchLane


async def work(sections: dict[str, Any]) -> None:
    source_name = sections.pop("source", "told")
    broker = BrokerSettings(**sections.pop("broker"))
    async with AsyncExitStack() as stack:
        platform = await stack.enter_async_context(build(load_settings(**sections)))
        clock, settings = platform.clock, platform.settings
        store = await stack.enter_async_context(open_store(settings.store, clock))
        queue = open_queue(settings, store)
        lanes: Mapping[str, Lane] = {"fetch": FetchLane(EventLog(store))}
        told = Told(queue, clock)
        source = told if source_name == "told" else Polling(queue, list(lanes), clock)
        station = Station(
            queue,
            source,
            lanes,
            pipeline=platform.pipeline,
            clock=clock,
            settings=StationSettings(grace_seconds=settings.queue.grace_seconds),
        )
        worker = await stack.enter_async_context(_alive(platform, store, station, list(lanes)))
        receiver: Receiver = NoReceiver()
        if source is told:
            nudger = await stack.enter_async_context(CeleryNudger(broker))
            resender = Resender(store, nudger, clock, broker, list(lanes))
            supervisor = await stack.enter_async_context(Supervisor(clock))
            supervisor.start("resender", resender.run)
            receiver = CeleryConsumer(broker, list(lanes), told.take)
        await _work(station, worker, receiver)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = {"rss_mb": usage.ru_maxrss // 1024, "cpu": usage.ru_utime + usage.ru_stime}
    sys.stdout.write(json.dumps(spent) + "\n")


async def _work(station: Station, worker: str, receiver: Receiver) -> None:
    """Work until a signal comes; then no message is taken any more."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with receiver, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(station.run(worker))
        await _until_ready(receiver)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await stopped.wait()
        receiver.pause()
        station.stop()
        await running


async def _until_ready(receiver: Receiver) -> None:
    while True:
        if receiver.is_ready:
            return
        await asyncio.sleep(0.02)


@asynccontextmanager
async def _alive(
    platform: Platform, store: Store, station: Station, lanes: list[str]
) -> AsyncIterator[str]:
    """Enter as a worker and keep beating; the worker's id."""
    clock, limits = platform.clock, platform.settings.queue
    queue = open_queue(platform.settings, store)
    pulse = Pulse(limits.beat_seconds, limits.silence_seconds)
    heartbeat = Heartbeat(store, queue, clock, kind="worker", lanes=lanes, pulse=pulse)
    await heartbeat.register()

    async def lost() -> None:
        station.worker = heartbeat.id
        await station.forget()

    async with Supervisor(clock) as supervisor:
        beat = heartbeat.keep_beating
        supervisor.start("heartbeat", lambda: beat(lambda: {"held": station.held}, lost))
        yield heartbeat.id
    await heartbeat.leave()


if __name__ == "__main__":
    configure()
    uvloop.run(work(json.loads(sys.argv[1])))
