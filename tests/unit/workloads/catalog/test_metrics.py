"""Metrics of the crawler: what was committed is counted once, by domain and by what came of it."""

from typing import Any

import pytest

from penstock.core.metrics import Metrics
from penstock.kernel.model import Failure, Outcome, Page, Refused, Request, SiteWide, UrlSpecific
from penstock.products.images import FailedImage
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending, Release, Retry
from penstock.workloads.catalog.metrics import CatalogMetrics
from penstock.workloads.catalog.model import DOWNLOADS, IMAGES, PARSES, SITEMAPS
from tests.unit.core.test_metrics import Readings

URL = "https://shop.example/1"
COUNTERS = {
    DOWNLOADS: "catalog_pages_total",
    PARSES: "catalog_parses_total",
    IMAGES: "catalog_images_total",
}
ALL = tuple(COUNTERS.values())
LATER: dict[str, Any] = {}


def outcome(
    failure: Failure | None = None, *, unchanged: bool = False, domain: str = "shop.example"
) -> Outcome:
    page = None if failure else Page(URL, 200, {}, b"<p>", 0.1)
    return Outcome(Request(URL), page, failure, (), domain=domain, unchanged=unchanged)


class Counting:
    """The metrics, and what Prometheus reads of them."""

    def __init__(self) -> None:
        self._metrics = Metrics()
        self.catalog = CatalogMetrics(self._metrics)

    def note(
        self, lane: str, made: Outcome, ending: Ending | None = None, content: Any = None
    ) -> None:
        claim = Claim("i1", lane, {}, "shop.example", 5, "d", "", 0, 0, 1, 1)
        self.catalog.note(Result(claim, made, ending or Done(), content))

    def value(self, name: str, **labels: str) -> float:
        return Readings(self._metrics.text()).value(name, **labels)

    @property
    def total(self) -> float:
        return sum(self.value(name) for name in ALL)


@pytest.mark.parametrize("lane", COUNTERS)
def test_each_lane_has_a_counter_of_its_own(lane: str) -> None:
    counting = Counting()

    counting.note(lane, outcome())

    assert counting.value(COUNTERS[lane], domain="shop.example", result="ok") == 1
    assert counting.total == 1


@pytest.mark.parametrize(
    "failure",
    [
        UrlSpecific("http_404", "gone"),
        SiteWide("timeout", "slow"),
        Refused("robots_denied", "Disallow: /", gate="robots"),
    ],
    ids=lambda failure: failure.reason,
)
def test_failures_are_counted_by_their_reason(failure: Failure) -> None:
    counting = Counting()

    counting.note(DOWNLOADS, outcome(failure))

    assert counting.value("catalog_pages_total", result=failure.reason) == 1
    assert counting.total == 1


def test_a_page_that_has_not_changed_is_no_new_page() -> None:
    counting = Counting()

    counting.note(DOWNLOADS, outcome(unchanged=True))
    counting.note(DOWNLOADS, outcome())

    assert counting.value("catalog_pages_total", result="unchanged") == 1
    assert counting.value("catalog_pages_total", result="ok") == 1


def test_domains_are_counted_apart() -> None:
    counting = Counting()

    for name in ("one.example", "other.example", "one.example"):
        counting.note(DOWNLOADS, outcome(domain=name))

    assert counting.value("catalog_pages_total", domain="one.example") == 2
    assert counting.value("catalog_pages_total", domain="other.example") == 1


@pytest.mark.parametrize("ending", [Retry(60, LATER), Release(), Bury(LATER)], ids=str)
def test_what_is_not_over_yet_or_could_not_be_read_is_not_counted(ending: Ending) -> None:
    counting = Counting()

    counting.note(IMAGES, outcome(SiteWide("dns", "no such name")), ending)

    assert counting.total == 0


def test_a_page_that_gave_no_product_is_counted_once_and_by_the_reason() -> None:
    counting = Counting()

    counting.catalog.unread("i1", "PRICE_NOT_FOUND")
    assert counting.total == 0, "it is not committed yet"
    counting.note(PARSES, outcome())
    counting.note(PARSES, outcome())

    assert counting.value("catalog_parses_total", result="PRICE_NOT_FOUND") == 1
    assert counting.value("catalog_parses_total", result="ok") == 1


def test_what_is_never_committed_is_not_remembered_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.workloads.catalog.metrics.MOST_TROUBLES", 2)
    counting = Counting()

    for item in ("i1", "i2", "i3"):
        counting.catalog.unread(item, "PRICE_NOT_FOUND")
    counting.note(PARSES, outcome())

    assert counting.value("catalog_parses_total", result="ok") == 1


def test_a_picture_that_is_none_is_broken() -> None:
    counting = Counting()

    counting.note(IMAGES, outcome(), content=FailedImage("p1", "it is no picture"))

    assert counting.value("catalog_images_total", result="broken") == 1
    assert counting.total == 1


def test_sitemaps_are_no_pages() -> None:
    counting = Counting()

    counting.note(SITEMAPS, outcome())

    assert counting.total == 0
