"""`python -m benchmarks.stream`: URLs from Redis, pages back into it, their events to Kafka."""

import asyncio
import hashlib
import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import redis

from benchmarks import peers, race, site
from benchmarks.__main__ import interleave, tell
from benchmarks.pages import Product, render
from benchmarks.report import machine, render_table
from tests import durable_redis, kafka_server
from tests.durable_redis import DurableRedis
from tests.kafka_server import PrivateKafka
from tests.private_server import serving

QUEUE = "crawler_queue"
AT_ONCE = 32
PARTITIONS = 6
#: So many URLs or pages go to or from Redis at a time.
CHUNK = 500
WARM_PAGES = 1000
PINS = ("aiohttp", "aiokafka", "redis", "scrapy", "scrapy-redis", "uvloop")
#: The digest of every page's bytes, by its URL.
Digests = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Backends:
    """Where a contestant finds its URLs and leaves what it made of them."""

    redis_url: str
    kafka: str
    topic: str


@dataclass(slots=True)
class Lap:
    """One way to carry the pages, and its runs."""

    name: str
    module: str
    python: Path = peers.PYTHON
    manner: str = ""
    asks_robots: bool = True
    runs: list[race.Result] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return median(self._speeds)

    @property
    def _speeds(self) -> list[float]:
        return [run.pages_per_second for run in self.runs]

    def run(self, pages: "Pages", kafka: str, folder: Path) -> None:
        """One run on a Redis and a topic of its own; what it left there is checked."""
        urls = [*pages.allowed, *pages.forbidden]
        with storage() as redis_url:
            back_ends = Backends(redis_url, kafka, asyncio.run(new_topic(kafka)))
            push(redis_url, urls)
            try:
                run = race.measure(
                    self.name, self._command(back_ends, urls, folder), len(pages.allowed), folder
                )
                check(back_ends, pages.expected(self.asks_robots))
            except race.WrongResultsError as error:
                sys.exit(f"{self.name}: {error}")
        print(tell(run), file=sys.stderr)
        self.runs.append(run)

    def _command(self, back_ends: Backends, urls: Sequence[str], folder: Path) -> list[str]:
        file = folder / "urls.txt"
        file.write_text("\n".join(urls))
        words = (back_ends.redis_url, back_ends.kafka, back_ends.topic, self.manner)
        command = [str(self.python), "-m", f"benchmarks.contestants.{self.module}"]
        command += ["--urls", str(file), "--out", str(folder / "out")]
        return [*command, "--concurrency", str(AT_ONCE), "--manner", " ".join(words).strip()]

    def row(self, others: Sequence["Lap"]) -> tuple[str, ...]:
        return (
            self.name,
            f"{self.speed:,.0f} ({min(self._speeds):,.0f}-{max(self._speeds):,.0f})",
            f"{median(run.cpu_ms_per_page for run in self.runs):.2f}",
            *(f"{self.speed / other.speed:.2f}" for other in others),
        )


@dataclass(frozen=True, slots=True)
class Pages:
    """What the site serves: pages that everybody gets, and those that robots forbid."""

    allowed: Digests
    forbidden: Digests

    @classmethod
    def of(cls, shops: site.Site, number: int) -> "Pages":
        """The first pages of a site, and the forbidden ones of all shops."""
        products = list(shops.products())[:number]
        return cls(
            {shops.url(product): digest(product) for product in products},
            {
                f"{shops.origin(shop)}/private/1.html": digest(Product(shop, 0))
                for shop in site.shops()
            },
        )

    def expected(self, asks_robots: bool) -> Digests:
        return self.allowed if asks_robots else {**self.allowed, **self.forbidden}


def digest(product: Product) -> str:
    return hashlib.sha256(render(product).encode()).hexdigest()


def main() -> None:
    options = read_options()
    peers.install()
    load = os.getloadavg()[0]
    text = "\n\n".join((heading(load), *compete(options)))
    print(text)
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "stream.md"
        page.write_text(f"# The page fetcher\n\nMade by `make bench`.\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.stream", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--only", default="", help="contestants whose names begin so, with commas")
    parser.add_argument("--write", action="store_true", help="also write docs/figures/stream.md")
    return parser.parse_args()


def contestants(only: str) -> list[Lap]:
    everyone = [
        Lap("penstock", "penstock_stream", Path(sys.executable)),
        Lap("loop", "stream_loop", asks_robots=False),
        Lap("scrapy-redis", "scrapy_redis_spider", manner="redis"),
        Lap("scrapy-redis, memory", "scrapy_redis_spider", manner="memory"),
    ]
    return [lap for lap in everyone if lap.name.startswith(tuple(only.split(",")))]


def compete(options: Namespace) -> Iterator[str]:
    laps = contestants(options.only)
    with site.serve(options.pages) as shops, broker() as kafka, TemporaryDirectory() as name:
        folder, pages = Path(name), Pages.of(shops, options.pages)
        warm_up(Pages.of(shops, WARM_PAGES), kafka, folder)
        for lap in interleave(laps, options.rounds):
            lap.run(pages, kafka, folder)
    yield conditions(len(pages.allowed), options.rounds)
    others = laps[1:]
    headings = ("", "pages/s", "CPU ms/page", *(f"times {other.name}" for other in others))
    yield render_table(headings, [lap.row(others) for lap in laps])


def warm_up(pages: Pages, kafka: str, folder: Path) -> None:
    """A broker that was just started is slow: nobody is to be the first."""
    Lap("warm-up", "stream_loop", asks_robots=False).run(pages, kafka, folder)


def conditions(pages: int, rounds: int) -> str:
    return (
        f"{pages:,} pages of 18 KB over {site.SHOPS} hosts: their URLs are in a Redis list before "
        "the clock starts; every body goes into the same Redis (appendonly, appendfsync always), "
        f"every event to Kafka (one broker, {PARTITIONS} partitions, acks=all) and is waited for; "
        f"one process, {AT_ONCE} at once, no pacing. After every run each body in the cache is "
        "compared with what the site serves and the topic is read: every page once. Redis, Kafka "
        "and the site share the cores. Penstock has every gate on, its ledgers in the same Redis, "
        "and moves URLs instead of popping them; the loop (aiohttp, redis, aiokafka) has no gate, "
        "asks no robots and loses what it has when it is killed; Scrapy obeys robots, with "
        "scrapy-redis's own scheduler as its manual begins, and with Scrapy's in memory, which "
        f"loses what it has. CPU is that of the process, start-up included. Median of {rounds} "
        "alternating rounds (slowest-fastest)."
    )


def broker() -> AbstractContextManager[str]:
    """The servers of a new Kafka."""
    return serving(PrivateKafka(kafka_server.find_program()))


def storage() -> AbstractContextManager[str]:
    """A new Redis that keeps what it answered."""
    return serving(DurableRedis(durable_redis.find_program()))


async def new_topic(kafka: str) -> str:
    return await kafka_server.new_topic(kafka, PARTITIONS)


def push(redis_url: str, urls: Sequence[str]) -> None:
    with redis.Redis.from_url(redis_url) as client:
        for some in in_chunks(urls):
            client.rpush(QUEUE, *some)


def check(back_ends: Backends, expected: Digests) -> None:
    """Every page has one event, and its body is in the cache as it was served."""
    messages = asyncio.run(kafka_server.read(back_ends.kafka, back_ends.topic))
    events = [json.loads(message.value) for message in messages]
    times = Counter(event["url"] for event in events)
    if times != Counter(expected.keys()):
        raise race.WrongResultsError(tell_difference(times, expected))
    for message, event in zip(messages, events, strict=True):
        url = event["url"]
        if message.key != name_of(url).encode() or event["content_hash"] != expected[url]:
            raise race.WrongResultsError(f"wrong event for {url}")
    check_bodies(back_ends.redis_url, expected)


def tell_difference(times: Counter[str], expected: Digests) -> str:
    missing = len(expected.keys() - times.keys())
    needless = len(times.keys() - expected.keys())
    repeated = sum(number - 1 for number in times.values())
    return f"{missing} pages without event, {needless} not to be fetched, {repeated} repeated"


def check_bodies(redis_url: str, expected: Digests) -> None:
    with redis.Redis.from_url(redis_url) as client:
        if waiting := client.llen(QUEUE):
            raise race.WrongResultsError(f"{waiting} URLs are left in the list")
        for urls in in_chunks(list(expected)):
            bodies = client.mget([f"webpage:{name_of(url)}" for url in urls])
            for url, body in zip(urls, bodies, strict=True):
                if hashlib.sha256(body or b"").hexdigest() != expected[url]:
                    raise race.WrongResultsError(f"{url} is not in the cache as it was served")


def name_of(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()


def in_chunks(urls: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(urls), CHUNK):
        yield urls[first : first + CHUNK]


def heading(load: float) -> str:
    pins = dict(line.split("==") for line in peers.REQUIREMENTS.read_text().split())
    packages = ", ".join(f"{name} {pins[name]}" for name in PINS)
    return f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; load before it {load:.1f}; {packages}."


if __name__ == "__main__":
    main()
