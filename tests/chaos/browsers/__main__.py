"""The soak at length: `python -m tests.chaos.browsers [--pages N] [--write]`."""

import argparse
import asyncio
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from benchmarks.report import machine, render_table
from tests.browsers import new_place
from tests.chaos.browsers.soak import LONG, Moment, Size, Soak, soak

FIGURES = Path(__file__).resolve().parents[3] / "docs" / "figures" / "soak.md"
COLUMNS = ("figure", "first", "last", "per 1,000 pages", "grows by", "allowed")
LEGEND = """\
`penstock up` as a process, asked over its API for pages of a local site that only a browser can
read, 8 at once. Of every ten pages three fail: not there, never answered, hung in a loop, crashed
for lack of memory, or broken by an error of their own script. After every round the service is
looked at.

- **first**, **last**: means of the first and the last quarter after the warm-up, which is the first
  quarter of the rounds
- **per 1,000 pages**: the slope of the line of least squares through all rounds after the warm-up,
  with its standard error
- **grows by**: what that line gains from its first round to its last; above **allowed**, the soak
  has failed

`make chaos` writes the long form of this file."""


def render(found: Soak, size: Size, seconds: float, seed: int) -> str:
    """The figures in Markdown."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; {size.pages:,} pages in {seconds:,.0f} s, "
        f"{found.failed:,} of them failed; rounds of {size.in_a_round}; seed {seed}."
    )
    endings = ", ".join(f"{error} {number:,}" for error, number in found.errors.items())
    parts = ("# Soak", about, f"Failed: {endings}.", render_table(COLUMNS, _rows(found)), LEGEND)
    return "\n\n".join(parts) + "\n"


def _rows(found: Soak) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    quarter = max(1, len(found.warm) // 4)
    for place, (figure, line) in enumerate(found.lines()):
        values = [moment.values[place] for moment in found.warm]
        first, last = sum(values[:quarter]) / quarter, sum(values[-quarter:]) / quarter
        slope = f"{line.slope * 1000:+.1f} ± {line.error * 1000:.1f}"
        cells = (f"{first:.1f}", f"{last:.1f}", slope, f"{line.growth:+.1f}", f"{figure.allowed:g}")
        rows.append((figure.name, *cells))
    return rows


def _tell(moment: Moment) -> None:
    values = "  ".join(f"{value:7.1f}" for value in moment.values)
    sys.stdout.write(f"{moment.pages:6,} pages  {values}\n")
    sys.stdout.flush()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.browsers", description=__doc__)
    parser.add_argument("--pages", type=int, default=LONG.pages)
    parser.add_argument("--round", type=int, default=LONG.in_a_round, help="pages of one round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"to {FIGURES.name}")
    return parser.parse_args()


def main() -> int:
    options = _parse()
    size, began = Size(options.pages, options.round), monotonic()
    with new_place() as place, tempfile.TemporaryDirectory(prefix="penstock-soak-") as folder:
        found = asyncio.run(soak(Path(folder), place, size, options.seed, _tell))
    text = render(found, size, monotonic() - began, options.seed)
    sys.stdout.write(text)
    if options.write:
        FIGURES.write_text(text)
    return 0 if found.is_flat and not found.spared else 1


if __name__ == "__main__":
    sys.exit(main())
