"""Penstock's cost per page with few and with many URLs queued, one process per depth."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import ROOT
from benchmarks.site import Site

DEPTHS = (100, 10_000, 1_000_000)
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Depth:
    """The best of the rounds at one depth; noise only ever adds."""

    depth: int
    cpu_ms_per_page: float
    bytes_per_queued_url: float


def measure(site: Site, folder: Path) -> list[Depth]:
    """All depths, in turn, several times."""
    urls = folder / "allowed.txt"
    urls.write_text("\n".join(site.url(product) for product in site.products()))
    runs = [run(urls, depth) for _ in range(ROUNDS) for depth in DEPTHS]
    return [
        Depth(
            depth,
            min(found.cpu_ms_per_page for found in runs if found.depth == depth),
            min(found.bytes_per_queued_url for found in runs if found.depth == depth),
        )
        for depth in DEPTHS
    ]


def run(urls: Path, depth: int) -> Depth:
    command = [sys.executable, "-m", "benchmarks.queued", "--urls", str(urls)]
    command += ["--depth", str(depth)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"{depth:>9,} queued {found['cpu_ms_per_page']:6.3f} ms", file=sys.stderr)
    return Depth(**found)


def render(depths: Sequence[Depth]) -> str:
    """What a page costs at each depth, and what a queued URL weighs at the deepest."""
    first, last = depths[0], depths[-1]
    costs = ", ".join(f"{found.cpu_ms_per_page:.3f} with {found.depth:,}" for found in depths)
    growth = last.cpu_ms_per_page / first.cpu_ms_per_page
    return (
        f"Penstock's CPU ms per page by URLs queued: {costs} (growth {growth:.2f}). "
        f"A queued URL takes {last.bytes_per_queued_url:.0f} bytes "
        f"(resident memory with {last.depth:,}). Best of {ROUNDS} rounds each."
    )
