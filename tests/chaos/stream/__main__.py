"""The attack on page fetchers whole: `python -m tests.chaos.stream [--size long] [--write]`."""

import argparse
import asyncio
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import machine, render_table
from tests import durable_redis, kafka_server
from tests.chaos.stream.attack import LONG, SMALL, Played, Size, play
from tests.durable_redis import DurableRedis
from tests.kafka_server import PrivateKafka

FIGURES = Path(__file__).resolve().parents[3] / "docs" / "figures" / "chaos-stream.md"
COLUMNS = (
    "URLs",
    "kills",
    "lost",
    "twofold",
    "phantom",
    "disagreeing",
    "stuck",
    "trespassed",
    "refetched",
    "held up",
    "resent",
    "pages/s before",
    "pages/s meanwhile",
    "recovery s",
)
LEGEND = """\
Two `penstock stream run` on forty local sites, with a Redis and a Kafka of their own. Two of the
sites go down and come back, fetchers are killed with -9 and others started in their place, Kafka
and Redis are killed with -9 and started again.

- **lost**: not fetched, or not a dead letter with its reason, though it has to be
- **twofold**: fetched and dead, or dead twice
- **phantom**: an event or a dead letter that nobody asked for
- **disagreeing**: an event whose body is not in the cache, or has another hash or length
- **stuck**: waiting or claimed at the end
- **trespassed**: asked for though robots forbid it
- **refetched**: pages whose fetcher was lost before it had settled them; allowed, but few a kill
- **held up**: the same of pages that were fetched while Kafka or Redis was away; allowed
- **resent**: events of the same fetch beyond the first; allowed
- **pages/s**: of the sites that were well, before two others went down and while they were
- **recovery**: seconds from the last fault until everything was over; nobody helps"""


def render(played: Played, size: Size, name: str, seed: int) -> str:
    found = played.found
    numbers = (found.urls, size.kills, found.lost, found.twofold, found.phantom)
    more = (
        found.disagreeing,
        found.stuck,
        found.trespassed,
        found.refetched,
        found.held_up,
        found.resent,
    )
    measured = (played.before, played.meanwhile, played.recovery)
    row = [f"{n:,}" for n in (*numbers, *more)] + [f"{number:.1f}" for number in measured]
    about = f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; the {name} form; seed {seed}."
    return (
        "\n\n".join(("# Chaos of the stream", about, render_table(COLUMNS, [row]), LEGEND)) + "\n"
    )


def play_once(size: Size, seed: int) -> Played:
    """On servers of its own."""
    kafka = PrivateKafka(kafka_server.find_program())
    redis = DurableRedis(durable_redis.find_program())
    try:
        kafka.start()
        redis.start()
        with tempfile.TemporaryDirectory(prefix="penstock-chaos-") as folder:
            return asyncio.run(play(Path(folder), kafka, redis, size=size, seed=seed))
    finally:
        kafka.stop()
        redis.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.stream", description=__doc__)
    parser.add_argument("--size", choices=["small", "long"], default="long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"to {FIGURES.name}")
    options = parser.parse_args()
    size = LONG if options.size == "long" else SMALL
    played = play_once(size, options.seed)
    text = render(played, size, options.size, options.seed)
    sys.stdout.write(text)
    if options.write:
        FIGURES.write_text(text)
    return 0 if played.is_well else 1


if __name__ == "__main__":
    sys.exit(main())
