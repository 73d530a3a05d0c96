"""The product crawler as it is run: a scheduler and two workers on PostgreSQL and RabbitMQ.

The URLs are handed in before the clock starts; it runs from the start of the scheduler until the
last task, picture and event is over.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvloop
from sqlalchemy import func, select

from penstock.app.catalog_service import service_on
from penstock.core.clock import SystemClock
from penstock.products.images import PENDING
from penstock.products.tables import images, source_products
from penstock.settings import load_settings
from penstock.store import migrate
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import OVER
from penstock.workloads.catalog.submitting import Options
from penstock.workloads.catalog.tables import crawl_tasks

PENSTOCK = Path(sys.executable).with_name("penstock")
WORKERS = 2
WHO = "bench"
LOOK_EVERY = 0.1
UP_SECONDS = 60.0
#: What lets it run unthrottled, and contact the loopback addresses of the site.
POLICY = {
    "PENSTOCK_ADMISSION__OPEN_RANGES": "127.0.1.0/24",
    "PENSTOCK_POLICIES__SHIPPED": "false",
    "PENSTOCK_CATALOG__TICK_SECONDS": "0.2",
    "PENSTOCK_LOG__LEVEL": "WARNING",
}
PACE: dict[str, Any] = {"crawl_delay_seconds": 0, "max_concurrent_requests": 1000}


class Part:
    """One process of the platform."""

    def __init__(self, name: str, folder: Path) -> None:
        self._log = folder / f"{name}-{time.monotonic_ns()}.log"
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                [PENSTOCK, name], cwd=folder, stdout=output, stderr=output
            )

    async def is_up(self) -> None:
        async with asyncio.timeout(UP_SECONDS):
            while "penstock is up" not in self._log.read_text():
                if self._process.poll() is not None:
                    raise RuntimeError(self._log.read_text()[-2000:])
                await asyncio.sleep(LOOK_EVERY / 10)

    def end(self) -> float:
        """End it; the CPU seconds that it took."""
        self._process.send_signal(signal.SIGTERM)
        _, _, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = 0
        return usage.ru_utime + usage.ru_stime


async def crawl(urls: Sequence[str], concurrency: int, folder: Path) -> dict[str, float]:
    os.environ |= {**POLICY, "PENSTOCK_FETCH__WORKERS": str(concurrency)}
    os.environ["PENSTOCK_STORE__FOLDER"] = str(folder / "data")
    async with handed_in(urls) as store:
        parts = [Part("worker", folder) for _ in range(WORKERS)]
        for part in parts:
            await part.is_up()
        began = time.perf_counter()
        parts.append(Part("scheduler", folder))
        pages, seconds = 0.0, 0.0
        while left := await store.read(count_left):
            if not left[0] and not pages:
                pages = time.perf_counter() - began
            if not any(left):
                seconds = time.perf_counter() - began
                break
            await asyncio.sleep(LOOK_EVERY)
        cpu = sum(part.end() for part in parts)
        number = await store.read(count_products)
    if number != len(urls):
        raise RuntimeError(f"{number} products of {len(urls)} pages")
    return {"pages_seconds": pages, "seconds": seconds, "cpu_seconds": cpu, "pages": number}


@asynccontextmanager
async def handed_in(urls: Sequence[str]) -> AsyncIterator[Store]:
    """A store in which all URLs are due."""
    settings = load_settings()
    async with open_store(settings.store, SystemClock()) as store:
        await migrate.upgrade(store)
        async with service_on(settings, store) as service:
            for origin in {url.partition("/product/")[0] for url in urls}:
                await service.domains.add(f"{origin}/", WHO, **PACE)
            await service.submissions.submit(urls, Options(), WHO)
        yield store


def count_left(unit: Unit) -> tuple[int, int]:
    """How many tasks, and how many pictures, are not over."""
    open_tasks = crawl_tasks.c.status.not_in([status.value for status in OVER])
    queries = (
        select(func.count()).where(open_tasks),
        select(func.count()).where(images.c.status == PENDING),
    )
    tasks, pictures = (int(unit.run(query).scalar_one()) for query in queries)
    return tasks, pictures


def count_products(unit: Unit) -> int:
    return int(unit.run(select(func.count()).select_from(source_products)).scalar_one())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=Path, required=True)
    parser.add_argument("--concurrency", type=int, required=True)
    options = parser.parse_args()
    urls = options.urls.read_text().split()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(uvloop.run(crawl(urls, options.concurrency, Path(folder)))))


if __name__ == "__main__":
    main()
