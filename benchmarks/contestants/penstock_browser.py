"""Penstock with every gate on and each page in a fresh browser context, as `fetch` runs it."""

import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TextIO

import uvloop

from benchmarks.contestants.lap import Course, Lap, read_course
from benchmarks.contestants.penstock_fetch import POLICY
from benchmarks.contestants.shown import PRICE_SHOWN, read_shown
from penstock.app import build
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.kernel.model import Outcome, Request
from penstock.queue.worker import Crew, CrewSettings
from penstock.settings import load_settings

BLOCKING = "domains: {default: {block_resources: true}}"
NO_POLICIES = "domains: {}"


class Writer:
    """Reads title and price from each page and writes one line."""

    def __init__(self, out: TextIO) -> None:
        self.lap = Lap()
        self._out = out

    def take(self, outcome: Outcome) -> None:
        if outcome.failure and outcome.failure.reason == "robots_denied":
            return
        found = read_shown(outcome.page.body.decode()) if outcome.page else None
        if not outcome.ok or found is None:
            self.lap.errors += 1
            return
        self._out.write(json.dumps({"url": outcome.request.url, **found}) + "\n")
        self.lap.pages += 1


async def requests(course: Course) -> AsyncIterator[Request]:
    """As Crawlee is asked: open and wait for the price. Or as users ask: get me the product."""
    for url in course.urls:
        if course.manner == "same":
            yield Request(url, fetcher="browser", wait_for=PRICE_SHOWN)
        else:
            yield Request(url, fetcher="browser", extract="product")


def settings_for(course: Course, folder: Path) -> dict[str, Any]:
    policies = folder / "policies.yaml"
    policies.write_text(BLOCKING if course.manner == "same" else NO_POLICIES)
    return {
        **POLICY,
        "policies": {"shipped": False, "files": (policies,)},
        "browser": {"pool_size": course.concurrency, "pool_max": course.concurrency},
        "shared": {"lock_file": folder / "lock"},
    }


async def crawl(course: Course) -> Lap:
    with tempfile.TemporaryDirectory() as folder, course.out.open("w") as out:
        async with build(load_settings(**settings_for(course, Path(folder)))) as platform:
            writer = Writer(out)
            crew_settings = CrewSettings(workers=course.concurrency)
            crew = Crew(platform.pipeline, platform.clock, writer.take, crew_settings)
            await crew.work(requests(course))
    return writer.lap


def main() -> None:
    configure()
    prepare_memory()
    uvloop.run(crawl(read_course())).report()


if __name__ == "__main__":
    main()
