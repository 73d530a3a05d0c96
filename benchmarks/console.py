"""`python -m benchmarks.console`: how long pages of the console take with a million of each."""

import asyncio
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from benchmarks import peers
from benchmarks.crowd import make_crowd
from benchmarks.monitor import ENGINES, store_of
from benchmarks.report import machine, render_table
from benchmarks.watched import tidy
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.store import migrate
from penstock.store.settings import StoreSettings
from penstock.store.store import open_store
from tests.consoles import RunningConsole, console_on, kind_of, walk
from tests.site import Site

ROWS, LOOKS = 1_000_000, 5
#: Looks that no link leads to: other orders, filters, words that nothing or much has.
ASKED = (
    "/console/monitor/targets?order=due",
    "/console/monitor/targets?order=address",
    "/console/monitor/targets?q=product/777777",
    "/console/monitor/targets?q=nowhere",
    "/console/monitor/targets?source=shop3&status=ACTIVE",
    "/console/monitor/targets?kind=paused",
    "/console/monitor/runs?source=shop3&status=FAILED",
    "/console/monitor/quarantine?status=RELEASED",
    "/console/scrape?status=failed",
    "/console/scrape?workspace=nobody",
    "/console/scrape/jobs?status=failed",
    "/console/stream/dead?domain=nowhere.test",
    "/console/catalog?brand=Brand+7&sort=price_asc",
    "/console/catalog?category=Nothing",
    "/console/catalog/tasks?status=failed&domain=shop3.test",
    "/console/catalog/errors?since=7+days",
    "/console/catalog/dead?error_type=nothing",
    "/console/live/errors?type=crash",
    "/console/events?topic=nothing",
)


class Page(NamedTuple):
    """How long a page took, in ms: the first time, in the middle and at worst."""

    first: float
    middle: float
    worst: float

    def __str__(self) -> str:
        return f"{self.first:,.0f} / {self.middle:,.0f} / {self.worst:,.0f}"


def main() -> None:
    options = read_options()
    configure("ERROR")
    found = {engine: asyncio.run(measure(engine, options.rows)) for engine in options.engines}
    text = f"{datetime.now(UTC):%Y-%m-%d}; {machine()}.\n\n{tell(found, options.rows)}"
    print(text)
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "console.md"
        page.write_text(f"# The console\n\nMade by `make bench`.\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.console", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="of each kind")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--write", action="store_true", help="also write docs/figures/console.md")
    return parser.parse_args()


async def measure(engine: str, rows: int) -> Mapping[str, Page]:
    """Every page of a console on so many rows of each kind, in a new store."""
    with store_of(engine) as url, TemporaryDirectory() as folder:
        where = {"url": url, "folder": Path(folder)}
        await crowd(where, rows)
        return await visit(where)


async def crowd(where: Mapping[str, Any], rows: int) -> None:
    """Fill a store."""
    settings = StoreSettings(**where)
    async with open_store(settings, SystemClock()) as store:
        await migrate.upgrade(store)
        await make_crowd(store, rows)
    await tidy(settings)


async def visit(where: Mapping[str, Any], looks: int = LOOKS) -> Mapping[str, Page]:
    """Every page of a console on a store that is filled, so many times."""
    folder = Path(where["folder"])
    started = partial(console_on, folder, store=where, shared={"lock_file": folder / "lock"})
    async with Site() as site:
        async with started(site) as console:
            paths = await _paths(console)
        # Another one, which has seen nothing yet.
        async with started(site) as console:
            found = {path: await look(console, path, looks) for path in paths}
    return dict(sorted(found.items()))


async def _paths(console: RunningConsole) -> list[str]:
    """One page of each kind, the second part of each list, and what is asked for besides."""
    paths = await walk(console)
    for path in list(paths):
        page = LexborHTMLParser((await console.get(path)).text)
        paths += [link.attributes["href"] or "" for link in page.css("a[rel=next]")]
    return [*paths, *ASKED]


async def look(console: RunningConsole, path: str, looks: int) -> Page:
    """Ask for a page several times."""
    times = []
    for _ in range(looks):
        began = time.perf_counter()
        answer = await console.get(path)
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
    print(f"{path}: {times[0]:.0f} ms, in the middle {median(times):.0f} ms", file=sys.stderr)
    return Page(times[0], median(times), max(times))


def tell(found: Mapping[str, Mapping[str, Page]], rows: int) -> str:
    """The pages of all engines as a table, those alike together."""
    named = {engine: _by_kind(pages) for engine, pages in found.items()}
    kinds: Sequence[str] = sorted({kind for pages in named.values() for kind in pages})
    cells = [(kind, *(str(pages.get(kind, "-")) for pages in named.values())) for kind in kinds]
    return (
        f"The console with {rows:,} targets, offers, prices, results, queued URLs, scrape tasks, "
        "crawl tasks and attempts, products, errors, events, deliveries and errors of feeds "
        "each, on a real port of the same process: the first look / the median / the worst of "
        f"{LOOKS}, in ms. "
        "A link `after=` is the second part of a list.\n\n" + render_table(("page", *found), cells)
    )


def _by_kind(pages: Mapping[str, Page]) -> Mapping[str, Page]:
    return {_kind(path): page for path, page in pages.items()}


def _kind(path: str) -> str:
    query = path.partition("?")[2]
    asked = "after=…" if "after=" in query else query
    return f"{kind_of(path)}?{asked}" if asked else kind_of(path)


if __name__ == "__main__":
    main()
