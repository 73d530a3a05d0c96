"""What a page costs while many others wait, in a process of its own; run by `depths`.

The frontier is filled to the depth and kept there while pages are fetched with every gate on.
"""

import json
import resource
import sys
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import uvloop

from benchmarks.contestants.penstock_fetch import POLICY
from penstock.app import build
from penstock.core.log import configure
from penstock.kernel.model import Outcome, Request
from penstock.queue.worker import Crew, CrewSettings
from penstock.settings import load_settings

WORKERS = 64
WARM_UP = 500


@dataclass(slots=True)
class Measurement:
    """CPU and memory at the moments that matter."""

    pages: int
    fetched: int = 0
    cpu_from: float = 0.0
    cpu_to: float = 0.0
    rss_empty: int = 0
    rss_full: int = 0

    def count(self, outcome: Outcome, crew: Crew) -> None:
        """Start the clock after the warm-up, stop it and the crew after enough pages."""
        if not outcome.ok:
            raise RuntimeError(f"{outcome.request.url}: {outcome.failure}")
        self.fetched += 1
        if self.fetched == WARM_UP:
            self.rss_full = resident()
            self.cpu_from = cpu_seconds()
        elif self.fetched == WARM_UP + self.pages:
            self.cpu_to = cpu_seconds()
            crew.stop()


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def resident() -> int:
    """Bytes of memory in use right now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


async def endless(urls: Sequence[str]) -> AsyncIterator[Request]:
    """The site's pages again and again, each time under another URL."""
    for number in count():
        yield Request(f"{urls[number % len(urls)]}?n={number}")


async def measure(urls: Sequence[str], depth: int, pages: int) -> Measurement:
    measurement = Measurement(pages)
    async with build(load_settings(**POLICY)) as platform:
        settings = CrewSettings(workers=WORKERS, max_queued=depth)
        crew = Crew(
            platform.pipeline,
            platform.clock,
            lambda outcome: measurement.count(outcome, crew),
            settings,
        )
        measurement.rss_empty = resident()
        await crew.work(endless(urls))
    return measurement


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=Path, required=True)
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--pages", type=int, default=3000)
    options = parser.parse_args()
    configure()
    urls = options.urls.read_text().split()
    measured = uvloop.run(measure(urls, options.depth, options.pages))
    line = {
        "depth": options.depth,
        "cpu_ms_per_page": (measured.cpu_to - measured.cpu_from) * 1000 / options.pages,
        "bytes_per_queued_url": (measured.rss_full - measured.rss_empty) / options.depth,
    }
    sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
