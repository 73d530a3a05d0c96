"""Penstock as in `penstock stream run`: URLs from Redis, bodies back into it, events to Kafka."""

import asyncio

import uvloop

from benchmarks.contestants.lap import Course, Lap, read_course
from benchmarks.contestants.penstock_fetch import POLICY
from penstock.app import build
from penstock.app.stream_servers import with_shared_redis
from penstock.app.streaming import open_page_fetcher
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.queue.lanes import Result
from penstock.settings import Settings, load_settings


class Finish:
    """Counts what is over until everything is."""

    def __init__(self, expected: int) -> None:
        self.lap = Lap()
        self.is_reached = asyncio.Event()
        self._expected = expected

    def note(self, result: Result) -> None:
        self.lap.pages += result.outcome.ok
        self.lap.errors += not result.outcome.ok
        if self.lap.pages + self.lap.errors == self._expected:
            self.is_reached.set()


def settings_for(course: Course) -> Settings:
    redis, kafka, topic = course.manner.split()
    stream = {
        "redis_url": redis,
        "kafka_bootstrap_servers": kafka,
        "webpage_log_topic": topic,
        "rate_limit_per_second": 1000,
        "workers": course.concurrency,
    }
    return with_shared_redis(load_settings(**POLICY, stream=stream))


async def crawl(course: Course) -> Lap:
    settings, finish = settings_for(course), Finish(len(course.urls))
    async with (
        build(settings) as platform,
        open_page_fetcher(settings, platform, finish.note) as fetcher,
    ):
        finish.lap.restart()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fetcher.work())
            await finish.is_reached.wait()
            fetcher.stop()
    return finish.lap


def main() -> None:
    configure()
    prepare_memory()
    uvloop.run(crawl(read_course())).report()


if __name__ == "__main__":
    main()
