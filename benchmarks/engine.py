"""`python -m benchmarks.engine`: what durability costs, and the queue beside procrastinate's."""

import json
import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import peers, race, site
from benchmarks.__main__ import interleave, tell
from benchmarks.report import machine, render_table
from tests import postgres_server, rabbitmq_server
from tests.postgres_server import PrivatePostgres
from tests.private_server import serving
from tests.rabbitmq_server import PrivateRabbitMQ

DEPTHS = (10_000, 100_000, 1_000_000)
Figures = Mapping[str, Any]


def main() -> None:
    options = read_options()
    peers.install()
    text = "\n\n".join((_heading(), *measure(options)))
    print(text)
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "engine.md"
        page.write_text(f"# The engine\n\nMade by `make bench`.\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=20_000, help="put and finished per round")
    parser.add_argument("--depths", default=",".join(map(str, DEPTHS)), help="rows waiting")
    parser.add_argument("--write", action="store_true", help="also write docs/figures/engine.md")
    return parser.parse_args()


def measure(options: Namespace) -> Iterator[str]:
    yield durability(options)
    yield queues(options)
    yield depths(options)


def durability(options: Namespace) -> str:
    """The same crawl without a store, with one, and with one and messages, in turns."""
    with site.serve(options.pages) as shops, broker() as url, TemporaryDirectory() as folder:
        laps = [
            Lap("penstock"),
            Lap("penstock-lines"),
            Lap("penstock-durable"),
            Lap("penstock-durable", url),
        ]
        for lap in interleave(laps, options.rounds):
            lap.run(shops, Path(folder))
    rows = [lap.row(laps[0]) for lap in laps]
    return (
        f"{options.pages} pages of 18 KB, every gate on, pacing off, 32 at once; lines means "
        "that the outcome of each is written to a file, as `penstock fetch --json` does; "
        "durable means that every URL, outcome and event is committed (SQLite, synchronous=FULL); "
        "the one with Celery is told of its items through RabbitMQ, one worker process, the server "
        f"on the same cores; medians of {options.rounds} alternating rounds.\n\n"
        + render_table(("", "pages/s", "CPU ms/page", "peak MB", "ratio"), rows)
    )


@dataclass(slots=True)
class Lap:
    """One way to crawl, and its runs."""

    contestant: str
    broker: str = ""
    runs: list[race.Result] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return median(run.pages_per_second for run in self.runs)

    def run(self, shops: site.Site, folder: Path) -> None:
        os.environ["PENSTOCK_BROKER__URL"] = self.broker
        (contestant,) = race.choose([self.contestant])
        run = race.run(contestant, shops, 32, folder)
        print(tell(run), "through RabbitMQ" if self.broker else "", file=sys.stderr)
        if isinstance(run, race.Disqualified):
            sys.exit(f"{run.contestant}: {run.reason}")
        self.runs.append(run)

    def row(self, first: "Lap") -> tuple[str, ...]:
        return (
            f"{self.contestant}{', Celery' if self.broker else ''}",
            f"{self.speed:,.0f}",
            f"{median(run.cpu_ms_per_page for run in self.runs):.2f}",
            f"{median(run.peak_rss_mb for run in self.runs):.0f}",
            f"{self.speed / first.speed:.2f}",
        )


def queues(options: Namespace) -> str:
    """Puts and ends per second, with procrastinate as the measure."""
    runs: dict[str, list[Figures]] = {}
    for _ in range(options.rounds):
        for name, figures in one_round(options.items):
            runs.setdefault(name, []).append(figures)
            print(f"{name:24} {figures['finished']:10,.0f} finished/s", file=sys.stderr)
    kinds = ("single", "batched", "finished")
    best = {
        name: {kind: median(run[kind] for run in each) for kind in kinds}
        for name, each in runs.items()
    }
    peer = best["procrastinate"]
    rows = [
        (name, *(f"{found[kind]:,.0f} ({found[kind] / peer[kind]:.1f}x)" for kind in kinds))
        for name, found in best.items()
    ]
    return (
        f"Items per second, {options.items:,} of them; put one by one (32 callers at once), put "
        "500 at a time, and claimed and finished (procrastinate: 32 jobs at once, its own way); "
        "procrastinate and Penstock on the same PostgreSQL; medians of "
        f"{options.rounds} rounds, in brackets times procrastinate.\n\n"
        + render_table(("queue", "put singly", "put in batches", "finished"), rows)
    )


def one_round(number: int) -> Iterator[tuple[str, Figures]]:
    yield "penstock, SQLite", contest(Path(sys.executable), "penstock_queue", "", number)
    with database() as url:
        yield "penstock, PostgreSQL", contest(Path(sys.executable), "penstock_queue", url, number)
    with database() as url:
        yield "procrastinate", contest(peers.PYTHON, "procrastinate_queue", url, number)


def depths(options: Namespace) -> str:
    """What a claim with its end costs, by the number of rows that wait."""
    rows = []
    with database() as url:
        for name, where in (("SQLite", ""), ("PostgreSQL", url)):
            extra = ["--depths", options.depths]
            found = contest(Path(sys.executable), "penstock_queue", where, 2000, *extra)["costs"]
            costs = list(found.values())
            cells = [f"{cost * 1000:.0f}" for cost in costs]
            rows.append((name, *cells, f"{costs[-1] / costs[0]:.2f}"))
            print(f"{name}: {cells}", file=sys.stderr)
    headings = ("µs per item", *(f"{int(depth):,} waiting" for depth in options.depths.split(",")))
    return (
        "Claiming and finishing one item (500 at a time, over 1,000 groups), by the number of "
        "items that wait; best of 3.\n\n" + render_table((*headings, "growth"), rows)
    )


def broker() -> AbstractContextManager[str]:
    """A new RabbitMQ server."""
    return serving(PrivateRabbitMQ(rabbitmq_server.find_program()))


def database() -> AbstractContextManager[str]:
    """A new PostgreSQL server with its default settings."""
    return serving(PrivatePostgres(postgres_server.find_program()))


def contest(python: Path, module: str, url: str, number: int, *extra: str) -> Figures:
    command = [str(python), "-m", f"benchmarks.contestants.{module}", "--number", str(number)]
    command += [*(["--url", url] if url else []), *extra]
    done = subprocess.run(command, cwd=peers.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{module}: {done.stderr[-2000:]}")
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def _heading() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}; {machine()}."


if __name__ == "__main__":
    main()
