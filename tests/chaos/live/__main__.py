"""Live pages under attack, whole: `python -m tests.chaos.live [--scenario NAME…] [--write]`."""

import argparse
import asyncio
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from os import getloadavg
from pathlib import Path
from time import monotonic

from benchmarks.report import machine, render_table
from tests.chaos.live.model import LIMIT_SECONDS, LONG, SMALL, Result, Size
from tests.chaos.live.scenarios import SCENARIOS, play
from tests.chaos.live.truth import Findings

FIGURES = Path(__file__).resolve().parents[3] / "docs" / "figures" / "chaos-live.md"
COLUMNS = (
    "scenario",
    "faults",
    "fresh after s",
    "at most s",
    "updates",
    "critical",
    "lost",
    "twofold",
    "disordered",
    "phantom",
    "unmarked",
    "note",
)
LEGEND = f"""\
`penstock live run` watches matches of a local site, most in pages that stay open in Chromium, some
by the data call of the page. Every scenario breaks one thing as often as the table says. In the end
all that is stored is compared with what happened in the matches. Then the service is ended, and no
process of it, no browser, driver or keeper, and no file of theirs may be left.

- **fresh after**: seconds from the end of the worst fault until every feed showed, over the API,
  what had been seen since; {LIMIT_SECONDS:.0f} at most. A killed service has come to the end of its
  fault when it is up again. Where pages leak, it is the longest time between two looks at any feed;
  where one hangs, that of the others or, if longer, of the page itself once it can be had again
- **critical**: changes that must not be missed, and that could be seen for long enough: for longer
  than the time between two looks; while the store is away all of them can
- **lost**, **twofold**: of these, not stored, or stored more than once
- **disordered**: behind something that happened after it, or with a number that does not follow
- **phantom**: what no match ever showed, or not yet when it was said to be seen
- **unmarked**: changes what must not be missed, and does not say so

`make chaos` writes the long form of this file."""


def cells_of(result: Result) -> tuple[str, ...]:
    found = result.found
    worst = f"{max(result.recoveries):.1f}" if result.recoveries else "never"
    numbers = (
        *(found.updates, found.critical, found.lost, found.twofold),
        *(found.disordered, found.phantom, found.unmarked),
    )
    return (
        result.scenario,
        str(len(result.recoveries)),
        worst,
        f"{result.limit:.0f}",
        *(f"{number:,}" for number in numbers),
        result.note,
    )


def render(results: list[Result], name: str, size: Size, load: float) -> str:
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; the {name} form: {size.pages} pages and "
        f"{size.calls} data calls, looked at every {size.tempo.interval:g} s; load {load:.1f} on "
        "average."
    )
    table = render_table(COLUMNS, [cells_of(each) for each in results])
    return "\n\n".join(("# Chaos of live pages", about, table, LEGEND)) + "\n"


async def play_one(name: str, size: Size) -> Result:
    """On a stand of its own; one that fails does not keep the others from being played."""
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-chaos-") as folder:
            return (await play([name], Path(folder), size))[name]
    except Exception as error:  # whatever it is, the other scenarios are still to be played
        traceback.print_exc()
        return Result(name, found=Findings(lost=1), note=f"failed: {error!r}"[:200])


async def play_all(names: list[str], size: Size) -> tuple[list[Result], float]:
    """What came of each, and the load of the machine meanwhile."""
    results, loads = [], []
    for name in names:
        began = monotonic()
        results.append(await play_one(name, size))
        loads.append(getloadavg()[1])
        told = [" | ".join(cells_of(results[-1])), *results[-1].found.details]
        sys.stdout.write(f"{monotonic() - began:6.0f} s  {'; '.join(told)}\n")
        sys.stdout.flush()
    return results, sum(loads) / len(loads)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.live", description=__doc__)
    parser.add_argument("--scenario", nargs="+", choices=[*SCENARIOS], metavar="NAME")
    parser.add_argument("--size", choices=["small", "long"], default="long")
    parser.add_argument("--write", action="store_true", help=f"to {FIGURES.name}")
    options = parser.parse_args()
    size = LONG if options.size == "long" else SMALL
    results, load = asyncio.run(play_all(options.scenario or [*SCENARIOS], size))
    text = render(results, options.size, size, load)
    sys.stdout.write(text)
    if options.write:
        FIGURES.write_text(text)
    return 0 if all(each.is_well for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
