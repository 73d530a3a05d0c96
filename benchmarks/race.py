"""Runs the contestants as processes, measures them from outside and checks what they wrote."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage
from threading import Timer

from benchmarks.pages import Product
from benchmarks.peers import PYTHON as PEERS_PYTHON
from benchmarks.peers import ROOT
from benchmarks.site import Site

TIMEOUT_SECONDS = 900.0
PRODUCT_PATH = re.compile(r"http://127\.0\.1\.(\d+):\d+/product/(\d+)\.html")


class MissingContestantError(Exception):
    """A contestant was asked for whose file is not there."""


class WrongResultsError(Exception):
    """A contestant did not do what all must do; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A script that crawls, and the interpreter that has its packages."""

    name: str
    module: str
    python: Path
    extraction: str

    @property
    def file(self) -> Path:
        return ROOT / "benchmarks" / "contestants" / f"{self.module}.py"


CONTESTANTS = (
    Contestant("penstock", "penstock_fetch", Path(sys.executable), "regex"),
    Contestant("penstock-lines", "penstock_lines", Path(sys.executable), "regex"),
    Contestant("penstock-durable", "penstock_durable", Path(sys.executable), "regex"),
    Contestant("scrapy", "scrapy_spider", PEERS_PYTHON, "parsel"),
    Contestant("crawlee", "crawlee_parsel", PEERS_PYTHON, "parsel"),
    Contestant("crawlee-http", "crawlee_http", PEERS_PYTHON, "parsel"),
    Contestant("aiohttp", "aiohttp_loop", PEERS_PYTHON, "regex"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One run. Time is the contestant's own; CPU and memory are the whole process, from outside."""

    contestant: str
    pages: int
    seconds: float
    wall_seconds: float
    cpu_seconds: float
    peak_rss_mb: float

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.seconds

    @property
    def cpu_ms_per_page(self) -> float:
        return self.cpu_seconds * 1000 / self.pages


@dataclass(frozen=True, slots=True)
class Disqualified:
    """A run whose results are wrong or missing: its speed means nothing."""

    contestant: str
    reason: str


def choose(names: list[str]) -> list[Contestant]:
    """The contestants of these names; a name or a file that does not exist is an error."""
    known = {contestant.name: contestant for contestant in CONTESTANTS}
    for name in names:
        if name not in known:
            raise MissingContestantError(f"no contestant {name!r}; there are {', '.join(known)}")
        if not known[name].file.exists():
            file = known[name].file.relative_to(ROOT)
            raise MissingContestantError(f"{file} is missing; leave out {name} with --only")
    return [known[name] for name in names]


def run(
    contestant: Contestant, site: Site, concurrency: int, folder: Path
) -> Result | Disqualified:
    """One crawl of the whole site, checked against what the site says."""
    urls, out = folder / "urls.txt", folder / "out.jsonl"
    urls.write_text("\n".join(site.urls()))
    out.unlink(missing_ok=True)
    command = [str(contestant.python), "-m", f"benchmarks.contestants.{contestant.module}"]
    command += ["--urls", str(urls), "--out", str(out), "--concurrency", str(concurrency)]
    try:
        result = measure(contestant.name, command, site.pages, folder)
        check(out, site)
    except WrongResultsError as error:
        return Disqualified(contestant.name, str(error))
    return result


def measure(name: str, command: list[str], pages: int, folder: Path) -> Result:
    with (folder / "stdout").open("w") as stdout, (folder / "stderr").open("w") as stderr:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=stdout, stderr=stderr)
        usage = wait(process)
        wall = time.perf_counter() - started
    if process.returncode:
        raise WrongResultsError(f"exit {process.returncode}: {last_line(folder / 'stderr')}")
    seconds = read_seconds(last_line(folder / "stdout"))
    cpu = usage.ru_utime + usage.ru_stime
    return Result(name, pages, seconds, wall, cpu, usage.ru_maxrss / 1024)


def wait(process: subprocess.Popen[bytes]) -> struct_rusage:
    """What the process and its children used, when it has ended or its time is up."""
    timer = Timer(TIMEOUT_SECONDS, process.kill)
    timer.start()
    try:
        # Linux counts the peak from before the exec, so this runner must stay the smallest.
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def read_seconds(line: str) -> float:
    try:
        return float(json.loads(line)["seconds"])
    except (ValueError, KeyError, TypeError) as error:
        raise WrongResultsError(f"the last line of its output is no report: {line!r}") from error


def last_line(path: Path) -> str:
    lines = path.read_text().splitlines()
    return lines[-1] if lines else "no output"


def check(out: Path, site: Site) -> None:
    """Every allowed page once, with its title and price, and no forbidden one."""
    if not out.exists():
        raise WrongResultsError("no results file")
    seen: set[Product] = set()
    with out.open() as lines:
        for line in lines:
            product = read_product(json.loads(line))
            if product in seen:
                raise WrongResultsError(f"{site.url(product)} twice")
            seen.add(product)
    if len(seen) != site.pages:
        raise WrongResultsError(f"{len(seen)} of {site.pages} pages")


def read_product(row: dict[str, str]) -> Product:
    found = PRODUCT_PATH.fullmatch(row["url"])
    if not found:
        raise WrongResultsError(f"{row['url']} is not to be fetched")
    product = Product(int(found[1]), int(found[2]))
    if (row.get("title"), row.get("price")) != (product.title, product.price):
        raise WrongResultsError(f"wrong title or price for {row['url']}")
    return product
