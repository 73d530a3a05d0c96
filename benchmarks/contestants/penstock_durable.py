"""Penstock as in `penstock fetch --durable`: every URL, outcome and event is committed."""

import asyncio
import tempfile

import uvloop

from benchmarks.contestants.lap import Course, Lap, read_course
from benchmarks.contestants.penstock_fetch import POLICY, Writer
from penstock.app import Platform, build
from penstock.app.engine import Engine, open_engine, open_ready_store
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.kernel.model import Request
from penstock.queue.lanes import Result
from penstock.settings import load_settings
from penstock.workloads.fetch.lane import item_for

BATCH = 500


async def put_all(course: Course, engine: Engine, platform: Platform) -> None:
    for start in range(0, len(course.urls), BATCH):
        requests = [Request(url) for url in course.urls[start : start + BATCH]]
        lines = [platform.pipeline.line_of(request)[0] for request in requests]
        items = [
            item_for(request, line, "bench") for request, line in zip(requests, lines, strict=True)
        ]
        await engine.queue.put(items)
        engine.source.nudge()


async def crawl(course: Course) -> Lap:
    with tempfile.TemporaryDirectory() as folder, course.out.open("w") as out:
        settings = load_settings(
            **POLICY, store={"folder": folder}, fetch={"workers": course.concurrency}
        )
        writer = Writer(out)
        left = len(course.urls)

        def settled(result: Result) -> None:
            nonlocal left
            writer.take(result.outcome)
            left -= 1
            if not left:
                engine.stop()

        async with (
            open_ready_store(settings, SystemClock()) as store,
            build(settings) as platform,
            open_engine(settings, platform, store, settled=settled) as engine,
            asyncio.TaskGroup() as tasks,
        ):
            writer.lap.restart()
            tasks.create_task(put_all(course, engine, platform))
            await engine.work()
    return writer.lap


def main() -> None:
    configure()
    prepare_memory()
    uvloop.run(crawl(read_course())).report()


if __name__ == "__main__":
    main()
