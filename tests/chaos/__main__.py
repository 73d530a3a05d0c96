"""The chaos scenarios whole: `python -m tests.chaos [--scenario NAME…] [--size long] [--write]`."""

import argparse
import asyncio
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from benchmarks.report import machine, render_table
from tests.chaos.engine.registry import SCENARIOS
from tests.chaos.engine.scenarios import Engine, Row, Scenario, play
from tests.chaos.engine.small import running_postgres

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures" / "chaos.md"
COLUMNS = (
    "scenario",
    "engine",
    "items",
    "faults",
    "lost",
    "phantom",
    "duplicated",
    "stuck",
    "miscounted",
    "refetched",
    "recovery s",
)
LEGEND = """\
Real worker processes on a local site, with real servers. The submitter journals what the queue
accepted; afterwards the store and the site's own log are compared with the journal.

- **lost**: acknowledged and not there, or over without an outcome or an event
- **phantom**: an item, outcome or event nobody asked for, or a page said to be fetched that was not
- **duplicated**: events beyond one per item
- **stuck**: waiting or claimed at the end
- **miscounted**: the counts say something else than the items
- **refetched**: pages fetched once more because their worker was lost before the commit; allowed
- **recovery**: seconds from the last fault until everything was over, or until a frozen worker's
  items were another's; nobody helps

`make chaos` writes the long form of this file."""


class Failed:
    """A scenario that did not come to its end."""

    def __init__(self, scenario: str, engine: Engine, reason: str) -> None:
        self.cells = (scenario, engine, reason, *[""] * (len(COLUMNS) - 3))


def cells_of(row: Row) -> tuple[str, ...]:
    found = row.found
    numbers = (found.items, row.faults, found.lost, found.phantom, found.duplicated, found.stuck)
    counted = [f"{number:,}" for number in (*numbers, found.miscounted, found.refetched)]
    return (row.scenario, row.engine, *counted, f"{row.recovery:.1f}")


def render(results: Sequence[Row | Failed], size: str, seed: int) -> str:
    rows = [each.cells if isinstance(each, Failed) else cells_of(each) for each in results]
    about = f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; the {size} form; seed {seed}."
    return "\n\n".join(("# Chaos", about, render_table(COLUMNS, rows), LEGEND)) + "\n"


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="penstock-chaos-") as name:
        yield Path(name) / "arena"


async def _play(scenario: Scenario, engine: Engine, options: argparse.Namespace) -> Row | Failed:
    if reason := scenario.missing():
        return Failed(scenario.name, engine, f"skipped: {reason}")
    size = scenario.long if options.size == "long" else scenario.small
    try:
        with _folder() as folder:
            folder.mkdir()
            if engine == "sqlite":
                return await play(scenario, folder, None, size=size, seed=options.seed)
            with running_postgres() as server:
                return await play(scenario, folder, server, size=size, seed=options.seed)
    except Exception as error:  # whatever it is, the other scenarios are still to be played
        traceback.print_exc()
        return Failed(scenario.name, engine, f"failed: {error!r}"[:200])


async def _play_all(options: argparse.Namespace) -> list[Row | Failed]:
    results: list[Row | Failed] = []
    for name in options.scenario or SCENARIOS:
        for engine in _engines(SCENARIOS[name], options.engine):
            began = monotonic()
            result = await _play(SCENARIOS[name], engine, options)
            results.append(result)
            cells = result.cells if isinstance(result, Failed) else cells_of(result)
            _say(f"{monotonic() - began:6.0f} s  {' | '.join(cells)}")
    return results


def _engines(scenario: Scenario, wanted: Engine | None) -> list[Engine]:
    return [engine for engine in scenario.engines if wanted in (None, engine)]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--scenario", nargs="+", choices=[*SCENARIOS], metavar="NAME")
    parser.add_argument("--engine", choices=["sqlite", "postgresql"], help="both by default")
    parser.add_argument("--size", choices=["small", "long"], default="long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"to {FIGURES.name}")
    return parser.parse_args()


def main() -> int:
    options = _parse()
    results = asyncio.run(_play_all(options))
    text = render(results, options.size, options.seed)
    _say(f"\n{text}")
    if options.write:
        FIGURES.write_text(text)
    is_well = all(isinstance(each, Row) and each.is_well for each in results)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
