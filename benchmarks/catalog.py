"""`python -m benchmarks.catalog`: pages per second, and a catalogue of a million products."""

import asyncio
import json
import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import peers, race, shelves, site
from benchmarks.__main__ import interleave
from benchmarks.engine import broker, database
from benchmarks.monitor import ENGINES, store_of
from benchmarks.report import machine, render_table
from tests import redis_server, search_server
from tests.private_server import serving
from tests.redis_server import PrivateRedis
from tests.search_server import PrivateSearch
from tests.stores import run_sql

PROCESSES = 2
AT_ONCE = 32
ASKED = 60
PINS = ("scrapy", "psycopg[binary]", "uvloop")
SCRAPED = """
    CREATE TABLE scraped (url TEXT PRIMARY KEY, name TEXT NOT NULL, price NUMERIC(10, 2),
        currency TEXT, availability TEXT, brand TEXT, sku TEXT, rating NUMERIC(3, 2),
        reviews INTEGER)
"""
Figures = Mapping[str, Any]


def main() -> None:
    options = read_options()
    parts = {"crawl": crawls, "products": products}
    load = os.getloadavg()[0]
    chosen = [part for name in options.only or parts for part in parts[name](options)]
    text = "\n\n".join((heading(load), *chosen))
    print(text)
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "catalog.md"
        page.write_text(f"# The product crawler\n\nMade by `make bench`.\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.catalog", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=("crawl", "products"))
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3, help="crawls of each kind")
    parser.add_argument("--products", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--no-server", action="store_true", help="measure no search server")
    parser.add_argument("--write", action="store_true", help="also write docs/figures/catalog.md")
    return parser.parse_args()


def heading(load: float) -> str:
    pins = dict(line.split("==") for line in peers.REQUIREMENTS.read_text().split())
    packages = ", ".join(f"{name} {pins[name]}" for name in PINS)
    return f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; load before it {load:.1f}; {packages}."


# ── crawling


@dataclass(slots=True)
class Lap:
    """One way to crawl, with or without pictures, and its runs."""

    name: str
    run: Callable[[Path, Path, bool], Figures]
    pictures: bool
    runs: list[Figures] = field(default_factory=list)

    def take(self, urls: Path, folder: Path) -> None:
        found = self.run(urls, folder, self.pictures)
        self.runs.append(found)
        speed = found["pages"] / found["seconds"]
        print(f"{self.name}, pictures: {self.pictures}: {speed:.0f} pages/s", file=sys.stderr)

    def row(self) -> tuple[str, ...]:
        speeds = [run["pages"] / run["seconds"] for run in self.runs]
        cpu = median(run["cpu_seconds"] * 1000 / run["pages"] for run in self.runs)
        span = f"({min(speeds):,.0f}-{max(speeds):,.0f})"
        with_pictures = f"with {shelves.PICTURES} pictures" if self.pictures else "pages alone"
        return f"{self.name}, {with_pictures}", f"{median(speeds):,.0f} {span}", f"{cpu:.1f}"


def crawls(options: Namespace) -> Iterator[str]:
    peers.install()
    laps: list[Lap] = []
    for pictures in (False, True):
        some = [Lap("penstock", crawl, pictures), Lap("scrapy", scrape, pictures)]
        write = shelves.write_with_pictures if pictures else None
        with site.serve(options.pages, write) as shops, TemporaryDirectory() as name:
            urls = Path(name) / "urls.txt"
            urls.write_text("\n".join(shops.url(product) for product in shops.products()))
            for lap in interleave(some, options.rounds):
                with TemporaryDirectory() as folder:
                    lap.take(urls, Path(folder))
        laps += some
    yield (
        f"{options.pages:,} pages of 18 KB over {site.SHOPS} shops (nginx), crawled by "
        f"{PROCESSES} processes with {AT_ONCE} requests at once each, pacing off, into a new "
        "PostgreSQL; servers, site and crawlers share the cores. Penstock: two `penstock worker` "
        "and a scheduler, RabbitMQ, Redis, every page kept as a blob in a folder; from the start "
        "of the scheduler until the last product, price and picture is committed, each in its "
        "state; every page is downloaded and parsed in two steps that survive a kill. Scrapy: "
        "two spiders with half of the URLs each, that read JSON-LD alone and write a hundred "
        "items in a transaction to one table; pictures with its FilesPipeline, which keeps what "
        "comes without looking at it; what it has is lost with it. CPU is of the crawlers alone. "
        f"Median of {options.rounds} alternating rounds (slowest-fastest).\n\n"
        + render_table(("", "pages/s", "CPU ms/page"), [lap.row() for lap in laps])
    )


def crawl(urls: Path, folder: Path, pictures: bool) -> Figures:
    """With the product crawler."""
    del pictures
    with crawl_servers(folder) as environment:
        command = [sys.executable, "-m", "benchmarks.contestants.penstock_catalog"]
        command += ["--urls", str(urls), "--concurrency", str(AT_ONCE)]
        done = subprocess.run(
            command,
            cwd=peers.ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(f"penstock: {done.stderr[-2000:]}")
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def crawl_servers(folder: Path) -> Iterator[dict[str, str]]:
    """The servers that the crawler needs, as settings."""
    with ExitStack() as stack:
        redis = PrivateRedis(redis_server.find_program(), folder)
        stack.callback(redis.kill)
        redis.start()
        yield {
            "PENSTOCK_STORE__URL": stack.enter_context(database()),
            "PENSTOCK_BROKER__URL": stack.enter_context(broker()),
            "PENSTOCK_SHARED__URL": redis.url,
        }


def scrape(urls: Path, folder: Path, pictures: bool) -> Figures:
    """With two spiders at once."""
    every = urls.read_text().split()
    with database() as url:
        asyncio.run(run_sql(url, SCRAPED))
        spiders = []
        for place in range(PROCESSES):
            mine = folder / f"urls-{place}.txt"
            mine.write_text("\n".join(every[place::PROCESSES]))
            spiders.append(
                _start_spider(url, mine, folder / f"files-{place}" if pictures else None)
            )
        reports = [_report(spider) for spider in spiders]
        rows = asyncio.run(run_sql(url, "SELECT count(price) FROM scraped"))
        number = rows[0][0]
    if number != len(every):
        sys.exit(f"scrapy: {number} products of {len(every)} pages")
    return {
        "pages": len(every),
        "seconds": max(report["seconds"] for report in reports),
        "cpu_seconds": sum(report["cpu_seconds"] for report in reports),
    }


def _start_spider(url: str, urls: Path, pictures: Path | None) -> subprocess.Popen[str]:
    command = [str(peers.PYTHON), "-m", "benchmarks.contestants.scrapy_catalog"]
    command += ["--urls", str(urls), "--out", str(urls.with_suffix(".out"))]
    command += ["--concurrency", str(AT_ONCE), "--manner", f"{url} {pictures or ''}".strip()]
    return subprocess.Popen(
        command, cwd=peers.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _report(spider: subprocess.Popen[str]) -> Figures:
    out, error = spider.communicate(timeout=race.TIMEOUT_SECONDS)
    if spider.returncode:
        sys.exit(f"scrapy: {error[-2000:]}")
    found: Figures = json.loads(out.splitlines()[-1])
    if found["errors"]:
        sys.exit(f"scrapy: {found['errors']} errors: {error[-2000:]}")
    return found


# ── a large catalogue


def products(options: Namespace) -> Iterator[str]:
    depths = sorted({options.products // 10, options.products})
    found = {}
    for engine in options.engines:
        # The server gets what the first store has.
        with_server = not options.no_server and engine == options.engines[0]
        found[engine] = measure(engine, depths, with_server)
    yield writing(found, depths)
    yield filtering(found, depths)
    yield searching(found)
    yield sizes(found)


def measure(engine: str, depths: Sequence[int], with_server: bool) -> Figures:
    command = [sys.executable, "-m", "benchmarks.contestants.catalog_products"]
    command += ["--number", str(ASKED), "--depths", ",".join(map(str, depths))]
    with ExitStack() as stack:
        if url := stack.enter_context(store_of(engine)):
            command += ["--url", url]
        if with_server:
            server = stack.enter_context(serving(PrivateSearch(search_server.find_program())))
            command += ["--server", server]
        done = subprocess.run(
            command, cwd=peers.ROOT, stdout=subprocess.PIPE, text=True, check=False
        )
    if done.returncode:
        sys.exit(f"{engine}: {done.returncode}")
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps({engine: found}), file=sys.stderr)
    return found


def writing(found: Mapping[str, Figures], depths: Sequence[int]) -> str:
    at = [
        (engine, depth, figures["at"][str(depth)])
        for engine, figures in found.items()
        for depth in depths
    ]
    rows = [
        (f"{engine}, {depth:,} products", *(f"{rate:,.0f}" for rate in each["writing"].values()))
        for engine, depth, each in at
    ]
    sizes = [f"{size} together" for size in at[0][2]["writing"]]
    return (
        "New products per second, written by one writer through `write_entries` with link, "
        "identifiers and price, by how many are written in one transaction.\n\n"
        + render_table(("products/s", *sizes), rows)
    )


def filtering(found: Mapping[str, Figures], depths: Sequence[int]) -> str:
    columns = [(engine, str(depth)) for engine in found for depth in depths]
    names = found[columns[0][0]]["at"][columns[0][1]]["filters"]
    rows = [
        (name, *(_times(found[engine]["at"][depth]["filters"][name]) for engine, depth in columns))
        for name in names
    ]
    headings = [f"{engine}, {int(depth):,}" for engine, depth in columns]
    return (
        f"Filters: a page of 50 products with all that is told of them; {ASKED} times each, "
        "every time with other words and bounds. Milliseconds.\n\n"
        + render_table(("p50 / p95 ms", *headings), rows)
    )


def searching(found: Mapping[str, Figures]) -> str:
    ends = dict(found)
    for each in found.values():
        if "server" in each:
            ends["OpenSearch"] = each["server"]
    names = next(iter(ends.values()))["search"]
    rows = [(name, *(_times(end["search"][name]) for end in ends.values())) for name in names]
    built = ("to build it", *(_built(end["build"]) for end in ends.values()))
    return (
        f"Search among all of them: a page of 20 with highlights and total; {ASKED} times each, "
        "every time another word; no query cache. Milliseconds.\n\n"
        + render_table(("p50 / p95 ms", *ends), [*rows, built])
    )


def _times(figures: Figures) -> str:
    return f"{figures['p50']:,.1f} / {figures['p95']:,.1f}"


def _built(figures: Figures) -> str:
    return f"{figures['seconds']:,.0f} s, {figures['documents'] / figures['seconds']:,.0f}/s"


def sizes(found: Mapping[str, Figures]) -> str:
    names = next(iter(found.values()))["sizes"]
    rows = [
        (engine, *(f"{figures['sizes'][name]:,.0f}" for name in names))
        for engine, figures in found.items()
    ]
    rows += [
        ("OpenSearch", "", "", "", f"{each['server']['megabytes']:,.0f}")
        for each in found.values()
        if "server" in each
    ]
    return "On disk, with all indexes.\n\n" + render_table(("MB", *names), rows)


if __name__ == "__main__":
    main()
