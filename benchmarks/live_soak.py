"""Twenty live pages in one process tree for a while: what that takes must not grow.

    python -m benchmarks.live_soak [--minutes 20] [--feeds 20] [--write]

`penstock live run` watches matches of the local site, each in a page that is kept open in a shared
Chromium. The site is a process of its own and is not measured.
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
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx

from benchmarks.live_samples import KINDS, Sample, as_json, look_at, share_fresh, trends_of
from benchmarks.plots import Panel, Series, render_plot
from benchmarks.report import machine, render_table
from tests.browsers import Place, new_place
from tests.private_server import family_of, is_alive
from tests.site.live_match import critical_moments
from tests.site.live_pages import LIVE_HOSTS
from tools.provision.processes import free_port

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures" / "live-soak.md"
PENSTOCK = Path(sys.executable).with_name("penstock")
KEY = "a-key-for-the-soak"
EVERY_SECONDS = 10.0
#: Browsers fill their caches, and every feed opens its page, before anything is judged.
WARM_UP_SECONDS = 180.0
SHORT_WARM_UP = 0.25
START_SECONDS = 60.0
END_SECONDS = 60.0
FRESH_SECONDS, FRESH_SHARE = 10, 0.99
MOST_MB, MOST_MB_PER_FEED = 4096, 200
#: A match lasts so many times as long as the soak: there is no break in it, which would be a rest.
LONGER = 3


@dataclass(slots=True)
class Soak:
    """What was seen."""

    minutes: float
    feeds: int
    samples: list[Sample] = field(default_factory=list)
    updates: int = 0
    restarts: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    left: int = 0
    """Processes that outlived the service."""

    @property
    def warm_up(self) -> float:
        return min(WARM_UP_SECONDS, SHORT_WARM_UP * self.minutes * 60)

    @property
    def warm(self) -> list[Sample]:
        return [one for one in self.samples if one.seconds >= self.warm_up]

    @property
    def is_well(self) -> bool:
        return all(is_kept for _, _, _, is_kept in verdicts(self)) and not self.left


def verdicts(found: Soak) -> list[tuple[str, str, str, bool]]:
    """What was promised: what, how it is, how it has to be, and whether it is."""
    fresh = share_fresh(found.warm, FRESH_SECONDS)
    most = max(one.pss for one in found.samples)
    most_of_feed = max(max(one.feeds_mb, default=0.0) for one in found.samples)
    return [
        (
            f"data younger than {FRESH_SECONDS} s",
            f"{fresh:.2%} of looks",
            f"{FRESH_SHARE:.0%}",
            fresh >= FRESH_SHARE,
        ),
        ("memory of all (PSS)", f"{most:,.0f} MB", f"{MOST_MB:,} MB", most <= MOST_MB),
        (
            "memory of one feed",
            f"{most_of_feed:,.0f} MB",
            f"{MOST_MB_PER_FEED} MB",
            most_of_feed <= MOST_MB_PER_FEED,
        ),
        *(
            (
                f"growth of {trend.name}",
                f"{trend.line.growth:+,.1f}",
                f"{trend.allowed:,.0f}",
                trend.is_flat,
            )
            for trend in trends_of(found.samples, found.warm_up)
        ),
    ]


# ── the service


@contextmanager
def running(command: list[str], environment: Mapping[str, str], log: Path) -> Iterator[int]:
    """A program in a session of its own; it is told to end, and then made to."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def settings_of(site_port: int, folder: Path, place: Place) -> dict[str, str]:
    """The service as it is shipped, but for where its things are."""
    known = f"*.test=127.0.0.1:{site_port}"
    return {
        "PENSTOCK_ADMISSION__KNOWN_HOSTS": known,
        "PENSTOCK_POLICIES__SHIPPED": "false",
        "PENSTOCK_API__SERVICE_KEY": KEY,
        "PENSTOCK_STORE__FOLDER": str(folder / "store"),
        "PENSTOCK_SHARED__LOCK_FILE": str(folder / "lock"),
        "PENSTOCK_LOG__LEVEL": "WARNING",
        **{f"PENSTOCK_BROWSER__{key.upper()}": str(v) for key, v in place.settings().items()},
    }


def url_of(host: str, minutes: float) -> str:
    """A match on a host that has no break for so long."""
    lasts = max(20.0, LONGER * minutes)
    for number in range(1, 100):
        breaks = [one.at for one in critical_moments(number, lasts) if one.match.state == "break"]
        if breaks[0] > (minutes + 2) * 60:
            return f"http://{host}/match/{number}?minutes={lasts:g}"
    raise AssertionError("all sides are out too early")


# ── the soak


async def soak(pid: int, client: httpx.AsyncClient, found: Soak) -> None:
    """Start all feeds and look every few seconds."""
    hosts = LIVE_HOSTS[: found.feeds]
    await _is_up(client)
    for host in hosts:
        body = {"match_id": host, "url": url_of(host, found.minutes), "adapter": "cricket"}
        (await client.post("/api/v1/live/feeds", json=body)).raise_for_status()
    began = time.monotonic()
    while (now := time.monotonic() - began) < found.minutes * 60:
        found.samples.append(await _sample(pid, client, hosts, now))
        _tell(found.samples[-1])
        await asyncio.sleep(max(0.0, EVERY_SECONDS - (time.monotonic() - began - now)))
    for host in hosts:
        row = (await client.get(f"/api/v1/live/feeds/{host}")).json()["data"]
        found.updates += row["last_sequence"]
        found.restarts += row["restarts"]
    for error in (await client.get("/api/v1/live/errors", params={"limit": 100})).json()["data"]:
        found.errors[error["error_type"]] += 1


async def _is_up(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            with suppress(httpx.TransportError):
                if (await client.get("/health")).status_code in (200, 503):
                    return
            await asyncio.sleep(0.2)


async def _sample(
    pid: int, client: httpx.AsyncClient, hosts: tuple[str, ...], now: float
) -> Sample:
    tree = await asyncio.to_thread(look_at, pid)
    ages = [await _age(client, host) for host in hosts]
    health = (await client.get("/health")).json()
    return Sample(
        seconds=now,
        pss=tree.pss,
        pss_by_kind=tree.pss_by_kind,
        rss=tree.rss,
        files=tree.files,
        processes=tree.processes,
        ages=ages,
        feeds_mb=[scraper["memory_mb"] for scraper in health["scrapers"]],
        load=os.getloadavg()[0],
    )


async def _age(client: httpx.AsyncClient, feed: str) -> int | None:
    answer = await client.get(f"/api/v1/live/{feed}")
    age = answer.headers.get("X-Data-Age-Seconds")
    return None if age is None else int(age)


def _tell(sample: Sample) -> None:
    ages = [99 if age is None else age for age in sample.ages]
    sys.stdout.write(
        f"{sample.seconds / 60:5.1f} min  {sample.pss:6.0f} MB  {sample.files:5} files  "
        f"{sample.processes:3} processes  age {max(ages):2}  load {sample.load:.1f}\n"
    )
    sys.stdout.flush()


def run(minutes: float, feeds: int, folder: Path, place: Place) -> Soak:
    """The whole soak; whatever runs in the end is counted."""
    found, site_port, port = Soak(minutes, feeds), free_port(), free_port()
    site = [sys.executable, "-m", "tests.site", "--port", str(site_port)]
    service = [str(PENSTOCK), "live", "run", "--port", str(port)]
    with running(site, {}, folder / "site.log"):
        settings = settings_of(site_port, folder, place)
        family: list[int] = []
        with running(service, settings, folder / "service.log") as pid:
            asyncio.run(_soak(pid, port, found))
            family = list(family_of(pid))
        found.left = sum(map(is_alive, family)) + len(place.files_left())
    return found


async def _soak(pid: int, port: int, found: Soak) -> None:
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers={"X-Service-Key": KEY}, timeout=30
    ) as client:
        await soak(pid, client, found)


# ── what came of it

LEGEND = """\
`penstock live run`, as it is shipped, watches matches on as many hosts of a local site, each in a
page that stays open in a shared Chromium; a ball is bowled every five seconds. Every ten seconds
the process tree (Python, Playwright's driver, Chromium) is looked at, and every feed is read over
the API. What processes share is counted once (PSS). The site is a process beside it.

Without the two habits that this soak led to, the renderers gained 760 MB an hour: pages that are
kept collect their garbage every minute, of which Chromium by itself lets 120 MB pile up in each;
and they are opened anew every ten minutes, for the browser's tools keep 3.5 KB of every request
that a page makes.

- **per hour**: what is gained from one renewal of the pages to the next, moment by moment after the
  warm-up, with its standard error. The feeds began together, so their pages are opened anew
  together, and between two renewals their memory rises: that is no growth, and a line through all
  of it would take it for some.
- **grows by**: what that makes from the first moment to the last; **allowed** is the most

`make soak MINUTES=20` writes this file."""


def render(found: Soak) -> str:
    """The figures in Markdown."""
    load = sum(one.load for one in found.samples) / len(found.samples)
    errors = ", ".join(f"{kind} {n}" for kind, n in sorted(found.errors.items())) or "none"
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; {found.feeds} feeds for {found.minutes:g} "
        f"minutes, of which the first {found.warm_up / 60:g} are the warm-up; "
        f"{len(found.samples)} looks; load {load:.1f} on average.\n\n"
        f"Updates stored: {found.updates:,}. Scrapers started anew: {found.restarts}. "
        f"Errors: {errors}. Processes and files left in the end: {found.left}."
    )
    promised = [
        (what, is_, must, "yes" if kept else "**no**") for what, is_, must, kept in verdicts(found)
    ]
    trends = [
        (
            trend.name,
            f"{trend.mean:,.1f}",
            f"{trend.most:,.1f}",
            f"{trend.line.slope:+,.1f} ± {trend.line.error:,.1f}",
            f"{trend.line.growth:+,.1f}",
            f"{trend.allowed:,.0f}",
        )
        for trend in trends_of(found.samples, found.warm_up)
    ]
    columns = ("figure", "mean", "most", "per hour", "grows by", "allowed")
    parts = (
        "# Soak of live pages",
        about,
        render_table(("promise", "is", "at most / at least", "kept"), promised),
        "![Memory, files, processes and age of data over the minutes](live-soak.svg)",
        render_table(columns, trends),
        LEGEND,
    )
    return "\n\n".join(parts) + "\n"


def plot(found: Soak) -> str:
    """The same as a picture."""
    samples = found.samples
    ages = [[float(age) for age in one.ages if age is not None] or [0.0] for one in samples]
    panels = (
        Panel(
            f"memory of the whole tree, PSS in MB; {MOST_MB:,} at most",
            [
                Series("all", [one.pss for one in samples]),
                *(Series(kind, [one.pss_by_kind[kind] for one in samples]) for kind in KINDS),
            ],
        ),
        Panel(
            "memory of one feed, MB",
            [
                Series("largest", [max(one.feeds_mb, default=0.0) for one in samples]),
                Series("mean", [_mean(one.feeds_mb) for one in samples]),
            ],
            MOST_MB_PER_FEED,
        ),
        Panel("open files", [Series("all", [float(one.files) for one in samples])]),
        Panel("processes", [Series("all", [float(one.processes) for one in samples])]),
        Panel(
            "age of data, seconds",
            [Series("oldest", [max(each) for each in ages]), Series("mean", [*map(_mean, ages)])],
            FRESH_SECONDS,
        ),
    )
    return render_plot("Soak of live pages", [one.seconds / 60 for one in samples], panels)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--feeds", type=int, default=20, help=f"at most {len(LIVE_HOSTS)}")
    parser.add_argument("--samples", type=Path, help="a file for all that was measured, as JSON")
    parser.add_argument("--write", action="store_true", help=f"to {FIGURES.name}")
    options = parser.parse_args()
    with new_place() as place, tempfile.TemporaryDirectory(prefix="penstock-soak-") as folder:
        found = run(options.minutes, options.feeds, Path(folder), place)
        sys.stdout.write((Path(folder) / "service.log").read_text()[-3000:])
    if options.samples:
        options.samples.write_text(json.dumps([as_json(one) for one in found.samples]))
    text = render(found)
    sys.stdout.write(text)
    if options.write:
        FIGURES.write_text(text)
        FIGURES.with_suffix(".svg").write_text(plot(found))
    return 0 if found.is_well else 1


if __name__ == "__main__":
    sys.exit(main())
