"""The steps of the path for tests: on back ends in memory, and a clock that is set by hand."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.core.metrics import Metrics
from penstock.core.urls import Url, parse
from penstock.kernel.admission import Admission
from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.chronicle import Chronicle
from penstock.kernel.circuits import Circuits, RuleSet
from penstock.kernel.contact import Contact
from penstock.kernel.entrance import Entrance
from penstock.kernel.gates import Gates
from penstock.kernel.harvest import Harvest
from penstock.kernel.identity import Identities
from penstock.kernel.model import Errand, Failure, Page, Redirect, Request, Visit
from penstock.kernel.pacing import MemoryPacing
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.policy import DomainPolicy, Pace, PolicyBook, PolicyEntry, Rate
from penstock.kernel.ports import Fetcher, Hop
from penstock.kernel.proxies import ProxyPool
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Judgment
from penstock.kernel.records import Accept, Extraction, Product
from penstock.kernel.retry import Retry
from penstock.kernel.robots import MemoryRobotsCache, Robots
from penstock.kernel.robots_gate import RobotsGate
from penstock.kernel.settings import (
    AdmissionSettings,
    BreakerSettings,
    IdentitySettings,
    ProxySettings,
    RetrySettings,
    RobotsSettings,
)
from penstock.kernel.switches import Switches
from penstock.kernel.turns import Turns
from penstock.kernel.ways import Ways
from tests.clocks import HandClock

Answer = Page | Redirect | Failure
HOME = "https://shop.test/lamp"
PLATFORM = PolicyEntry(
    tokens_per_interval=100, interval_seconds=1, request_delay_ms=0, max_concurrent=2
)


def visit_to(url: str = HOME, policy: Mapping[str, Any] | None = None, **wishes: Any) -> Visit:
    """A visit that was just admitted; `policy` is what its domain is owed."""
    pace = Pace((Rate(100, 1.0),), delay=0.0, concurrency=2)
    parsed = parse(url)
    owed = DomainPolicy(pace, parsed.domain, **(policy or {}))
    return Visit(Request(url, **wishes), parsed, owed, began=1000.0)


def on_errand(visit: Visit, hops: int = 0, tries: int = 0) -> Errand:
    """Let a visit be under way to the robots.txt of its origin."""
    origin = visit.url.origin
    visit.errand = Errand(origin, parse(f"{origin}/robots.txt"), hops, tries)
    return visit.errand


def page_of(body: str = "", url: str = HOME, status: int = 200, **headers: str) -> Page:
    """A document that came back."""
    return Page(url, status, {"Content-Type": "text/html", **headers}, body.encode(), 0.1)


@dataclass
class Answering:
    """A fetcher that answers what a test says and takes as long as it says."""

    clock: HandClock
    name: str = "http"
    patience: float = 30.0
    answer: Answer | Exception | Callable[[Hop], Answer] = field(default_factory=page_of)
    seconds: float = 0.0
    busy: float | None = None
    hops: list[Hop] = field(default_factory=list)

    def look(self) -> float | None:
        return self.busy

    async def fetch(self, hop: Hop) -> Answer:
        self.hops.append(hop)
        self.clock.move(self.seconds)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(hop) if callable(self.answer) else self.answer


@dataclass
class Shelf:
    """An extractor that names pages to look at, too, and reads the first line of each."""

    ahead: Sequence[str] = ()
    browsers: bool = False

    def extract(self, page: Page, wanted: str) -> Extraction:
        return Extraction("product", {"name": page.text}, {}, None, "", "shelf@1.0.0")

    def further(self, page: Page, extraction: Extraction) -> Sequence[str]:
        return self.ahead

    def fill(self, extraction: Extraction, page: Page) -> Extraction:
        name = f"{extraction.fields['name']} {page.text}"
        return Extraction("product", {"name": name}, {}, None, "", "shelf@1.0.0")

    def needs_browser(self, url: Url, wanted: str) -> bool:
        return self.browsers


class Believer:
    """A judge that accepts everything."""

    def judge(self, extraction: Extraction) -> Judgment:
        return Judgment(Product(url=HOME, name=extraction.fields["name"]), {}, Accept())


class Steps:
    """All steps of a path, to be walked one at a time."""

    def __init__(
        self,
        folder: Path,
        *,
        policies: str = "",
        proxies: Sequence[str] = (),
        shelf: Shelf | None = None,
        knocks: bool = False,
    ) -> None:
        self.clock = HandClock()
        self.metrics = Metrics()
        self.chronicle = Chronicle(self.clock, self.metrics)
        self.http, self.browser = Answering(self.clock), Answering(self.clock, "browser")
        file = folder / "policies.yaml"
        file.write_text(f"domains: {{{policies}}}\n")
        admission = Admission(AdmissionSettings(deny=("denied.test",)), _nowhere)
        self.entrance = Entrance(admission, PolicyBook(PLATFORM, [file]))
        self.pacing = MemoryPacing(self.clock)
        self.breaker = MemoryBreaker(BreakerSettings(trip="consecutive", threshold=1), self.clock)
        self.circuits = Circuits(RuleSet("test", self.breaker, knocks))
        self.turns = Turns(self.pacing, Retry(RetrySettings(), random.Random(7)), 300)
        reader = Reader(shelf or Shelf(), Believer())
        settings = ProxySettings.model_validate({"endpoints": proxies})
        self.proxies = ProxyPool(settings, self.clock)
        fetchers: dict[str, Fetcher] = {"http": self.http, "browser": self.browser}
        self.ways = Ways(fetchers, self.proxies, reader, self.clock)
        self.robots_settings = RobotsSettings()
        cache = MemoryRobotsCache(self.clock, 1_000_000)
        self.answers = Robots(cache, self.robots_settings, self.clock)
        self.switches = Switches()
        self.robots = self._robots_gate()
        self.gates = self._gates()
        self.contact = self._contact()
        self.harvest = Harvest(reader, self.entrance, self.chronicle)

    def pipeline(self) -> Pipeline:
        """The path of these steps."""
        return Pipeline(
            entrance=self.entrance,
            robots=self.robots,
            gates=self.gates,
            turns=self.turns,
            ways=self.ways,
            contact=self.contact,
            circuits=self.circuits,
            retry=Retry(RetrySettings(), random.Random(7)),
            harvest=self.harvest,
            chronicle=self.chronicle,
            clock=self.clock,
            max_redirects=5,
        )

    def _robots_gate(self) -> RobotsGate:
        return RobotsGate(
            self.answers,
            "Penstock",
            entrance=self.entrance,
            turns=self.turns,
            chronicle=self.chronicle,
            clock=self.clock,
            settings=self.robots_settings,
        )

    def _gates(self) -> Gates:
        return Gates(
            switches=self.switches,
            robots=self.robots,
            circuits=self.circuits,
            ways=self.ways,
            turns=self.turns,
            chronicle=self.chronicle,
            clock=self.clock,
        )

    def _contact(self) -> Contact:
        return Contact(
            ways=self.ways,
            identities=Identities(IdentitySettings(), random.Random(7)),
            circuits=self.circuits,
            switches=self.switches,
            chronicle=self.chronicle,
            clock=self.clock,
            max_robots_bytes=self.robots_settings.max_bytes,
            max_retry_after=3600,
        )


async def _nowhere(host: str) -> list[str]:
    raise AssertionError(f"{host} is looked up, and no step here connects")
