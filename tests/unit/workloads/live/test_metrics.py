"""Metrics of live pages: what Prometheus reads, and that nothing is left of a feed that is gone."""

import pytest

from penstock.core.metrics import Metrics
from penstock.workloads.live.context import ScraperContext
from penstock.workloads.live.metrics import LiveMetrics
from penstock.workloads.live.model import ErrorType
from penstock.workloads.live.settings import LiveSettings
from tests.clocks import HandClock
from tests.unit.core.test_metrics import Readings

SPECIFIED = {
    "scraper_errors_total",
    "scraper_updates_total",
    "scraper_update_latency_seconds",
    "scraper_memory_bytes",
    "active_scrapers_count",
    "data_staleness_seconds",
}


class Measuring:
    """The metrics, and what Prometheus reads of them."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.live = LiveMetrics(self.metrics)
        self.clock = HandClock()

    def scraper(self, match_id: str, memory: int = 0) -> ScraperContext:
        url = f"https://live.example/{match_id}"
        scraper = ScraperContext.begin("uuid-1", match_id, url, LiveSettings(), self.clock)
        scraper.memory_bytes = memory
        return scraper

    def value(self, name: str, **labels: str) -> float:
        return Readings(self.metrics.text()).value(name, **labels)


@pytest.fixture
def measuring() -> Measuring:
    return Measuring()


@pytest.mark.parametrize("name", sorted(SPECIFIED))
def test_metrics_have_the_names_that_monitoring_knows(name: str, measuring: Measuring) -> None:
    assert f"# TYPE {name} " in measuring.metrics.text()


def test_good_looks_are_counted_with_how_long_they_took(measuring: Measuring) -> None:
    measuring.live.looked("m1", 0.3, changed=True)
    measuring.live.looked("m1", 0.1, changed=False)
    measuring.live.looked("m2", 1.5, changed=False)

    assert measuring.value("scraper_updates_total", match_id="m1") == 2
    assert measuring.value("scraper_updates_total", match_id="m1", status="changed") == 1
    assert measuring.value("scraper_updates_total", status="unchanged") == 2
    latency = "scraper_update_latency_seconds"
    assert measuring.value(f"{latency}_count", match_id="m1") == 2
    assert measuring.value(f"{latency}_sum", match_id="m1") == pytest.approx(0.4)
    assert measuring.value(f"{latency}_bucket", match_id="m1", le="0.25") == 1
    assert measuring.value(f"{latency}_sum", match_id="m2") == 1.5


@pytest.mark.parametrize("kind", ErrorType)
def test_errors_are_counted_by_feed_and_type(kind: ErrorType, measuring: Measuring) -> None:
    measuring.live.failed("m1", kind)

    assert measuring.value("scraper_errors_total", match_id="m1", error_type=kind.value) == 1
    assert measuring.value("scraper_errors_total") == 1


def test_restarts_and_lost_updates_are_counted(measuring: Measuring) -> None:
    measuring.live.restarted("age")
    measuring.live.restarted("staleness")
    measuring.live.restarted("age")
    measuring.live.show_dropped(2)
    measuring.live.show_dropped(3)

    assert measuring.value("scraper_restarts_total", reason="age") == 2
    assert measuring.value("scraper_restarts_total") == 3
    assert measuring.value("scraper_dropped_updates_total") == 3


def test_scrapers_are_shown_with_memory_and_staleness(measuring: Measuring) -> None:
    one, other = measuring.scraper("m1", 100), measuring.scraper("m2", 50)
    measuring.clock.move(130)
    other.looked(0.1)
    measuring.clock.move(7)

    measuring.live.show_scrapers([one, other], {"m1", "m2"})

    assert measuring.value("active_scrapers_count", status="degraded") == 1
    assert measuring.value("active_scrapers_count", status="healthy") == 1
    assert measuring.value("scraper_memory_bytes", match_id="m1") == 100
    assert measuring.value("data_staleness_seconds", match_id="m1") == 137
    assert measuring.value("data_staleness_seconds", match_id="m2") == 7


def test_where_no_scraper_runs_that_is_shown_and_not_left_out(measuring: Measuring) -> None:
    measuring.live.show_scrapers([], set())

    assert 'active_scrapers_count{status="healthy"} 0.0' in measuring.metrics.text()


def test_nothing_is_left_of_a_feed_that_is_gone(measuring: Measuring) -> None:
    live, stays, goes = measuring.live, measuring.scraper("stays"), measuring.scraper("goes")
    for match_id in ("stays", "goes"):
        live.looked(match_id, 0.1, changed=True)
        live.failed(match_id, ErrorType.NETWORK)
    live.show_scrapers([stays, goes], {"stays", "goes"})
    live.show_circuits({"stays": "CLOSED", "goes": "OPEN"})
    assert "goes" in measuring.metrics.text()

    live.show_scrapers([stays], {"stays"})
    live.show_circuits({"stays": "CLOSED"})

    assert '"goes"' not in measuring.metrics.text()
    assert measuring.value("scraper_updates_total", match_id="stays") == 1
    assert measuring.value("scraper_update_latency_seconds_count", match_id="stays") == 1


def test_a_feed_between_two_scrapers_keeps_its_counts(measuring: Measuring) -> None:
    measuring.live.looked("m1", 0.1, changed=True)

    measuring.live.show_scrapers([], {"m1"})

    assert measuring.value("scraper_updates_total", match_id="m1") == 1


@pytest.mark.parametrize(("state", "value"), [("CLOSED", 0), ("OPEN", 1), ("HALF_OPEN", 2)])
def test_circuits_are_shown(state: str, value: float, measuring: Measuring) -> None:
    measuring.live.show_circuits({"m1": state})

    assert f'scraper_circuit_state{{match_id="m1"}} {value}.0' in measuring.metrics.text()


def test_what_waits_for_the_store_is_shown(measuring: Measuring) -> None:
    measuring.live.show_buffer(12, 3400)

    assert measuring.value("scraper_buffered_updates") == 12
    assert measuring.value("scraper_journal_bytes") == 3400
