"""What the runs add up to: a table for the terminal, for `docs/figures` and as JSON."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from os import cpu_count
from pathlib import Path
from statistics import median

from benchmarks import depths
from benchmarks.peers import versions
from benchmarks.race import CONTESTANTS, Disqualified, Result
from benchmarks.site import SHOPS

PEERS = ("scrapy", "crawlee", "crawlee-http")
EXTRACTION = {contestant.name: contestant.extraction for contestant in CONTESTANTS}


@dataclass(frozen=True, slots=True)
class Race:
    """All runs of one benchmark, in the order they were made."""

    pages: int
    concurrency: int
    rounds: int
    runs: Sequence[Result | Disqualified]
    queued: Sequence[depths.Depth] = ()

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(run.contestant for run in self.runs))


@dataclass(frozen=True, slots=True)
class Figures:
    """The medians of a contestant's rounds."""

    contestant: str
    pages_per_second: float
    slowest: float
    fastest: float
    cpu_ms_per_page: float
    peak_rss_mb: float

    def gains_over(self, peer: "Figures") -> tuple[float, float, float]:
        """Speed, CPU and memory; above 1 is better than the peer."""
        return (
            self.pages_per_second / peer.pages_per_second,
            peer.cpu_ms_per_page / self.cpu_ms_per_page,
            peer.peak_rss_mb / self.peak_rss_mb,
        )


def summarise(race: Race, name: str) -> Figures | Disqualified:
    """One wrong round disqualifies the contestant."""
    results = []
    for run in race.runs:
        match run:
            case Disqualified(contestant=contestant) if contestant == name:
                return run
            case Result(contestant=contestant) if contestant == name:
                results.append(run)
    speeds = [result.pages_per_second for result in results]
    return Figures(
        name,
        median(speeds),
        min(speeds),
        max(speeds),
        median(result.cpu_ms_per_page for result in results),
        median(result.peak_rss_mb for result in results),
    )


def policy(race: Race) -> str:
    """What lets every contestant run unthrottled here."""
    return (
        f"Policy for all: robots.txt obeyed (one forbidden page per host must stay unfetched), "
        f"no delay and no rate limit, {race.concurrency} requests at once over {SHOPS} hosts, "
        f"no limit per host (Penstock: 8 at once), loopback addresses allowed."
    )


def machine() -> str:
    cpu_info = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in cpu_info if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    return f"{cpu_count()} cores, {model}, Python {platform.python_version()}"


def render(race: Race) -> str:
    """Both tables in Markdown, with the policy and the machine."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    packages = ", ".join(f"{name} {version}" for name, version in versions().items())
    summaries = [summarise(race, name) for name in race.names]
    queued = [depths.render(race.queued)] if race.queued else []
    return "\n\n".join(
        (
            f"{today}; {machine()}; {packages}.",
            f"{race.pages} product pages of 18 KB, {race.rounds} rounds, median (slowest-fastest).",
            policy(race),
            render_figures(summaries),
            "parsel builds a tree of the page and a regex does not, a large part of the CPU: "
            "ratios between rows that read differently are not ratios of the crawlers alone.",
            "How many times better than Scrapy / Crawlee / Crawlee's bare HttpCrawler with parsel "
            "by hand (above 1: faster, less CPU, less memory):",
            render_ratios([summary for summary in summaries if isinstance(summary, Figures)]),
            *queued,
        )
    )


def render_figures(summaries: Sequence[Figures | Disqualified]) -> str:
    rows = []
    for summary in summaries:
        match summary:
            case Disqualified(contestant, reason):
                rows.append((contestant, f"disqualified: {reason}", "", "", ""))
            case Figures():
                name = summary.contestant
                span = f"({summary.slowest:,.0f}-{summary.fastest:,.0f})"
                speed = f"{summary.pages_per_second:,.0f} {span}"
                cpu, memory = f"{summary.cpu_ms_per_page:.2f}", f"{summary.peak_rss_mb:.0f}"
                rows.append((name, speed, cpu, memory, EXTRACTION[name]))
    return render_table(("contestant", "pages/s", "CPU ms/page", "peak MB", "reads by"), rows)


def render_ratios(figures: Sequence[Figures]) -> str:
    by_name = {figure.contestant: figure for figure in figures}
    rows = []
    for own in figures:
        by_peer = [render_gains(own, by_name.get(name)) for name in PEERS]
        rows.append((own.contestant, *map(" / ".join, zip(*by_peer, strict=True))))
    return render_table(("contestant", "pages/s", "CPU", "memory"), rows)


def render_gains(own: Figures, peer: Figures | None) -> tuple[str, ...]:
    """A dash where the peer did not run or was disqualified."""
    if peer is None:
        return ("-", "-", "-")
    return tuple(f"{gain:.1f}" for gain in own.gains_over(peer))


def render_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(
        f"| {' | '.join(map(str.ljust, line, widths))} |" for line in (header, rule, *rows)
    )


def as_json(race: Race) -> dict[str, object]:
    """Everything measured, for other tools."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "policy": policy(race),
        "pages": race.pages,
        "concurrency": race.concurrency,
        "rounds": race.rounds,
        "summary": [asdict(summarise(race, name)) for name in race.names],
        "runs": [asdict(run) for run in race.runs],
        "queued": [asdict(depth) for depth in race.queued],
    }
