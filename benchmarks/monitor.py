"""`python -m benchmarks.monitor`: what the price monitor costs per target, and how it grows."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import peers, site
from benchmarks.engine import Figures, contest, database
from benchmarks.report import machine, render_table

TARGETS = (1_000, 100_000, 1_000_000)
PRICES = (100_000, 1_000_000, 10_000_000)
ENGINES = ("SQLite", "PostgreSQL")
COSTS = {
    "scheduling": "put in a run",
    "first": "recorded, offer is new",
    "again": "recorded, offer is known",
}
AT_ONCE, ASKED = 64, 200
LOOKS = {
    "history": "history, as consumers see it",
    "ops": "history with provenance",
    "current": "current_visible_prices",
}


def main() -> None:
    options = read_options()
    parts = {"costs": costs, "runs": runs, "prices": prices}
    chosen = [parts[name](options) for name in options.only or parts]
    text = "\n\n".join((f"{datetime.now(UTC):%Y-%m-%d}; {machine()}.", *chosen))
    print(text)
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "monitor.md"
        page.write_text(f"# The price monitor\n\nMade by `make bench`.\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.monitor", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=("costs", "runs", "prices"))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--targets", type=_numbers, default=TARGETS, help="rows, with commas")
    parser.add_argument("--prices", type=_numbers, default=PRICES, help="rows, with commas")
    parser.add_argument("--pages", type=int, default=10_000, help="read in a whole run")
    parser.add_argument("--rounds", type=int, default=3, help="whole runs")
    parser.add_argument("--write", action="store_true", help="also write docs/figures/monitor.md")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


@contextmanager
def store_of(engine: str) -> Iterator[str]:
    """The URL of a new and empty store; none where it is a file."""
    if engine == "SQLite":
        yield ""
        return
    with database() as url:
        yield url


def costs(options: Namespace) -> str:
    """What a target costs the store, by the number of targets."""
    rows = []
    for engine in options.engines:
        found = [_costs_at(engine, number) for number in options.targets]
        for kind, words in COSTS.items():
            each = [figures[kind] for figures in found]
            cells = [f"{cost * 1000:.0f}" for cost in each]
            growth = max(each[1:], default=each[0]) / each[0]
            rows.append((f"{engine}, {words}", *cells, f"{growth:.2f}"))
    headings = [f"{number:,} targets" for number in options.targets]
    return (
        "What a target costs the store: to be put in a run, 200 due targets of 10 shops in one "
        "tick; and to be recorded with its price, 200 in one settlement that ends 10 runs. "
        "Every target in the table has an offer, a product, a price and a result; there are the "
        "runs of a week in which each was read daily, 20 together. Five rounds with other targets, "
        "of each shop 20 that were added one after another, as the scheduler has them; then three "
        "times the same with other prices. Best of the rounds; growth is from the first column to "
        "the largest of the others.\n\n"
        + render_table(("µs per target", *headings, "growth"), rows)
    )


def _costs_at(engine: str, number: int) -> Figures:
    with store_of(engine) as url:
        found = contest(Path(sys.executable), "monitor_costs", url, number)
    told = ", ".join(f"{kind} {cost * 1000:.0f} µs" for kind, cost in found.items())
    print(f"{engine}, {number:,} targets: {told}", file=sys.stderr)
    return found


def runs(options: Namespace) -> str:
    """Targets per second through whole runs."""
    found: dict[tuple[str, str], list[Figures]] = {}
    with site.serve(options.pages) as shops, TemporaryDirectory() as folder:
        urls = Path(folder) / "urls"
        urls.write_text("\n".join(shops.url(product) for product in shops.products()))
        for _ in range(options.rounds):
            for engine in options.engines:
                for manner, figures in _run(engine, urls).items():
                    found.setdefault((engine, manner), []).append(figures)
    rows = [_run_row(*key, figures) for key, figures in found.items()]
    return (
        f"Whole runs: {options.pages:,} targets on {site.SHOPS} shops (nginx, pages of 18 KB, on "
        f"the same cores), pacing off, {AT_ONCE} at once, from the first tick to the last commit, "
        "pages kept; first everything is new, then every page is unchanged (304). One process; "
        "medians of "
        f"{options.rounds} rounds.\n\n" + render_table(("", "targets/s", "CPU ms/target"), rows)
    )


def _run(engine: str, urls: Path) -> dict[str, Any]:
    with store_of(engine) as url:
        found = contest(Path(sys.executable), "monitor_run", url, AT_ONCE, "--urls", str(urls))
    speeds = {manner: f"{each['targets_per_second']:.0f}/s" for manner, each in found.items()}
    print(f"{engine}: {speeds}", file=sys.stderr)
    return dict(found)


def _run_row(engine: str, manner: str, figures: Sequence[Figures]) -> tuple[str, str, str]:
    speed = median(each["targets_per_second"] for each in figures)
    cpu = median(each["cpu_ms"] for each in figures)
    return f"{engine}, {manner}", f"{speed:,.0f}", f"{cpu:.2f}"


def prices(options: Namespace) -> str:
    """What it takes to see the prices of one product, by the number of all prices."""
    rows = []
    extra = "--depths", ",".join(map(str, options.prices))
    for engine in options.engines:
        with store_of(engine) as url:
            found = contest(Path(sys.executable), "monitor_prices", url, ASKED, *extra)
        for kind, words in LOOKS.items():
            cells = [_look(found[str(depth)][kind]) for depth in options.prices]
            print(f"{engine}, {words}: {cells}", file=sys.stderr)
            rows.append((f"{engine}, {words}", *cells))
    headings = [f"{depth:,} prices" for depth in options.prices]
    return (
        "Prices of one product, sold by 4 shops, of 2,500 products; the newest 1,000 of them. "
        f"Milliseconds, median and 95th percentile of {ASKED} products; in brackets how many "
        "prices the answer has.\n\n" + render_table(("p50 / p95 ms", *headings), rows)
    )


def _look(figures: Figures) -> str:
    return f"{figures['p50']:.1f} / {figures['p95']:.1f} ({figures['rows']:,.0f})"


if __name__ == "__main__":
    main()
