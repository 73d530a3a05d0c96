"""`python -m benchmarks.browsers`: pages in Chromium, beside Crawlee's PlaywrightCrawler."""

import json
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import peers, race, scripted, site
from benchmarks.__main__ import interleave
from benchmarks.report import machine, render_table
from penstock.kernel.fetchers.browser import chromium

FULL_CHROMIUM = "/usr/lib/chromium/chromium"
HEADERS = ("", "pages/s", "CPU ms/page", "peak MB", "times its pages/s", "times its memory")


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl; CPU and memory are those of all processes together."""

    seconds: float
    pages: int
    cpu_seconds: float
    peak_mb: float


@dataclass(slots=True)
class Entrant:
    """A contestant in one manner, and its runs."""

    name: str
    module: str
    python: Path
    manner: str
    runs: list[Run] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return median(run.pages / run.seconds for run in self.runs)

    @property
    def cpu_ms(self) -> float:
        return median(run.cpu_seconds * 1000 / run.pages for run in self.runs)

    @property
    def memory(self) -> float:
        return median(run.peak_mb for run in self.runs)

    def row(self, own: "Entrant") -> tuple[str, ...]:
        """The figures, and how Penstock's compare."""
        return (
            self.name,
            f"{self.speed:.1f}",
            f"{self.cpu_ms:.0f}",
            f"{self.memory:.0f}",
            f"{own.speed / self.speed:.2f}",
            f"{own.memory / self.memory:.2f}",
        )


def main() -> None:
    options = read_options()
    try:
        text = measure(options)
    except (site.SiteUnavailableError, race.WrongResultsError) as error:
        sys.exit(str(error))
    print(text)
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "browsers.md"
        page.write_text(f"# Browsers\n\nMade by `make bench`.\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.browsers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=400, help="over all hosts")
    parser.add_argument("--concurrency", type=int, default=8, help="pages at once")
    parser.add_argument("--only", default="", help="the entrants whose names contain this")
    parser.add_argument("--write", action="store_true", help="also write docs/figures/browsers.md")
    return parser.parse_args()


def measure(options: Namespace) -> str:
    """Both comparisons, in turns."""
    peers.install()
    shell = chromium.find()
    if shell is None:
        raise site.SiteUnavailableError("there is no Chromium: install chromium-headless-shell")
    alike, by_default = entrants_alike(shell), entrants_by_default(shell)
    chosen = [one for one in alike + by_default if options.only in one.name]
    with site.serve(options.pages, scripted.write_pages) as shops, TemporaryDirectory() as folder:
        for entrant in interleave(chosen, options.rounds):
            entrant.runs.append(run(entrant, shops, options.concurrency, Path(folder)))
            print(tell(entrant), file=sys.stderr)
    return render(options, alike, by_default)


def entrants_alike(shell: str) -> list[Entrant]:
    """Everybody with the same browser and the same rules for what is not loaded."""
    crawlee = ("crawlee_playwright", peers.PYTHON)
    return [
        Entrant("penstock", "penstock_browser", Path(sys.executable), "same"),
        Entrant("crawlee", *crawlee, f"same:{shell}"),
        Entrant("crawlee, a new context per page", *crawlee, f"fresh:{shell}"),
    ]


def entrants_by_default(shell: str) -> list[Entrant]:
    """Everybody as it comes; Crawlee also with the browser that has a window."""
    crawlee = ("crawlee_playwright", peers.PYTHON)
    found = [
        Entrant("penstock, defaults", "penstock_browser", Path(sys.executable), "defaults"),
        Entrant("crawlee, defaults, headless shell", *crawlee, f"defaults:{shell}"),
    ]
    if full := find_full_chromium():
        found.append(Entrant("crawlee, defaults, full Chromium", *crawlee, f"defaults:{full}"))
    return found


def find_full_chromium() -> str | None:
    """Debian's Chromium, installed if we may."""
    if not Path(FULL_CHROMIUM).exists() and (apt := shutil.which("apt-get")):
        subprocess.run([apt, "install", "-y", "--no-install-recommends", "chromium"], check=False)
    return shutil.which(FULL_CHROMIUM)


def run(entrant: Entrant, shops: site.Site, concurrency: int, folder: Path) -> Run:
    """One crawl of the whole site, checked against what the site says."""
    urls, out, report = folder / "urls.txt", folder / "out.jsonl", folder / "report.json"
    urls.write_text("\n".join(shops.urls()))
    out.unlink(missing_ok=True)
    command = [str(entrant.python), "-m", f"benchmarks.contestants.{entrant.module}"]
    command += ["--urls", str(urls), "--out", str(out), "--concurrency", str(concurrency)]
    command += ["--manner", entrant.manner]
    tree = [sys.executable, "-m", "benchmarks.tree", str(report), *command]
    done = subprocess.run(
        tree,
        cwd=peers.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=race.TIMEOUT_SECONDS,
    )
    if done.returncode:
        raise race.WrongResultsError(f"{entrant.name}: {done.stderr[-2000:]}")
    race.check(out, shops)
    seconds = race.read_seconds(done.stdout.splitlines()[-1])
    return Run(seconds, shops.pages, **json.loads(report.read_text()))


def tell(entrant: Entrant) -> str:
    last = entrant.runs[-1]
    speed, cpu = last.pages / last.seconds, last.cpu_seconds * 1000 / last.pages
    return f"{entrant.name:36} {speed:6.1f} pages/s {cpu:6.0f} ms {last.peak_mb:6.0f} MB"


def render(options: Namespace, alike: list[Entrant], by_default: list[Entrant]) -> str:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    packages = ", ".join(f"{name} {peers.versions()[name]}" for name in ("crawlee", "playwright"))
    return "\n\n".join(
        (
            f"{today}; {machine()}; {packages}.",
            f"{options.pages} product pages that a script fills from a file of data, with a style "
            f"sheet, two scripts and {scripted.CARDS + 2} places for {scripted.PICTURES} pictures "
            f"(0.9 MB together), over {site.SHOPS} hosts, {options.concurrency} at once, "
            "robots.txt obeyed; CPU and memory are those of all processes together (memory: what "
            "is shared counted once, at the peak); medians "
            f"of {options.rounds} alternating rounds.",
            "The same for both: Debian's headless shell, no pictures, fonts and media, wait for "
            "the same element. Penstock has a fresh context for each page and carries everything "
            "through its egress proxy, which admits each request; Crawlee shares one context and "
            "its cache between pages unless told not to.",
            table(alike),
            "Each with its defaults: Penstock as it is asked for a product (no pictures, waits "
            "until the page is quiet, extracts and judges); Crawlee loads everything and puts on "
            "a fingerprint. Playwright's own browsers could not be downloaded where this was "
            "made, so its two kinds stand for them: the headless shell, which Playwright takes "
            "when nothing is said, and Debian's full Chromium.",
            table(by_default),
        )
    )


def table(entrants: Sequence[Entrant]) -> str:
    ran = [entrant for entrant in entrants if entrant.runs]
    return render_table(HEADERS, [entrant.row(ran[0]) for entrant in ran])


if __name__ == "__main__":
    main()
