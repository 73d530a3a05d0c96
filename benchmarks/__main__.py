"""`python -m benchmarks`: Penstock beside Scrapy, Crawlee and a bare loop, on one local site."""

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from benchmarks import depths, peers, race, report, site

T = TypeVar("T")


def main() -> None:
    options = read_options()
    try:
        contestants = race.choose(options.only.split(","))
        if any(contestant.python == peers.PYTHON for contestant in contestants):
            peers.install()
        outcome = compete(contestants, options)
    except (race.MissingContestantError, site.SiteUnavailableError) as error:
        sys.exit(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(f"the peers could not be installed: {error}")
    publish(outcome, options)


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    everyone = ",".join(contestant.name for contestant in race.CONTESTANTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=10_000, help="over all hosts")
    parser.add_argument("--concurrency", type=int, default=32, help="requests at once")
    parser.add_argument("--only", default=everyone, help="names with commas between them")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--write", action="store_true", help="also write docs/figures/bench.md")
    return parser.parse_args()


def compete(contestants: list[race.Contestant], options: Namespace) -> report.Race:
    with site.serve(options.pages) as shops, TemporaryDirectory() as folder:
        runs = []
        for contestant in interleave(contestants, options.rounds):
            runs.append(race.run(contestant, shops, options.concurrency, Path(folder)))
            print(tell(runs[-1]), file=sys.stderr)
        queued = []
        if any(contestant.name == "penstock" for contestant in contestants):
            queued = depths.measure(shops, Path(folder))
        return report.Race(shops.pages, options.concurrency, options.rounds, runs, queued)


def interleave(contestants: list[T], rounds: int) -> Iterator[T]:
    """Each round starts with another one, so that nobody always runs first or after the same."""
    for number in range(rounds):
        turn = number % len(contestants)
        yield from contestants[turn:] + contestants[:turn]


def tell(run: race.Result | race.Disqualified) -> str:
    match run:
        case race.Disqualified(contestant, reason):
            return f"{contestant:10} disqualified: {reason}"
        case race.Result():
            speed, cpu, memory = run.pages_per_second, run.cpu_ms_per_page, run.peak_rss_mb
            return f"{run.contestant:10} {speed:7,.0f} pages/s {cpu:6.2f} ms {memory:4.0f} MB"


def publish(outcome: report.Race, options: Namespace) -> None:
    text = report.render(outcome)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(report.as_json(outcome), indent=2) + "\n")
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "bench.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# Benchmark\n\nMade by `make bench`.\n\n{text}\n")


if __name__ == "__main__":
    main()
