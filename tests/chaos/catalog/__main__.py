"""The attack on crawlers whole: `python -m tests.chaos.catalog [--size long] [--write]`."""

import argparse
import asyncio
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import machine, render_table
from tests.chaos.catalog.attack import LONG, SMALL, Played, Size, play

FIGURES = Path(__file__).resolve().parents[3] / "docs" / "figures" / "chaos-catalog.md"
COLUMNS = (
    "pages",
    "pictures",
    "kills",
    "restarts",
    "lost",
    "twofold",
    "phantom",
    "wrong",
    "stuck",
    "trespassed",
    "unfound",
    "unexplained",
    "unsound",
    "refetched",
    "seconds",
    "recovery s",
)
LEGEND = """\
`penstock scheduler` and two `penstock worker` crawl twenty local shops, with a PostgreSQL, a
RabbitMQ, a Redis and an S3 server of their own; search is the store's, and fed by the outbox.
Workers are killed with -9 and others started in their place, RabbitMQ and PostgreSQL are killed
with -9 and started again on their data, as often each as the table says, and one of the shops is
down for longer than all retries of a page take together. In the end everything is compared with
what the shops show: three pages are forbidden by robots and have to fail for that, all others have
to be products.

- **lost**: a task without its end; a product, price, picture, blob or event that is not there
- **twofold**: more than one good download, parsing, product, price or event of a page
- **phantom**: what no page has, or what is said to be fetched and was not
- **wrong**: a value, or a picture's kind, place or size, that is not the page's
- **stuck**: a task, picture, item or event that is not over
- **trespassed**: asked for though robots forbid it
- **unfound**: not the first that its own title finds
- **unexplained**: requests beyond those of attempts and of workers that were lost
- **unsound**: what `penstock catalog audit` finds
- **refetched**: pages and pictures whose worker was lost before the commit; allowed
- **recovery**: seconds from the last fault until everything was over; nobody helps"""


def render(played: Played, size: Size, name: str, seed: int) -> str:
    found = played.found
    numbers = (
        *(found.tasks, found.pictures, size.kills, 2 * size.restarts),
        *(found.lost, found.twofold, found.phantom, found.wrong, found.stuck),
        *(found.trespassed, found.unfound, found.unexplained, found.unsound, found.refetched),
    )
    measured = (played.seconds, played.recovery)
    row = [f"{n:,}" for n in numbers] + [f"{number:.0f}" for number in measured]
    about = f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; the {name} form; seed {seed}."
    table = render_table(COLUMNS, [row])
    return "\n\n".join(("# Chaos of the product crawler", about, table, LEGEND)) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.catalog", description=__doc__)
    parser.add_argument("--size", choices=["small", "long"], default="long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"to {FIGURES.name}")
    options = parser.parse_args()
    size = LONG if options.size == "long" else SMALL
    with tempfile.TemporaryDirectory(prefix="penstock-chaos-") as folder:
        played = asyncio.run(play(Path(folder), size=size, seed=options.seed))
    text = render(played, size, options.size, options.seed)
    sys.stdout.write(text)
    if options.write:
        FIGURES.write_text(text)
    return 0 if played.found.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
