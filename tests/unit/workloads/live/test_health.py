"""Health of live pages: the whole in the form that monitoring knows, and what it amounts to."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.workloads.live.breaker import FeedBreaker
from penstock.workloads.live.context import ScraperContext
from penstock.workloads.live.health import Health, HealthStatus, judge
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.windows import RecentLooks
from tests.clocks import HandClock

MIB = 1024 * 1024
BEGAN = datetime(2025, 11, 12, 8, 0, tzinfo=UTC)


class Process:
    """A process that watches feeds, with a clock that is moved by hand."""

    def __init__(self) -> None:
        self.clock = HandClock(BEGAN)
        self.looks = RecentLooks(self.clock)
        self.health = Health(self.clock, self.looks)
        self.scrapers: list[ScraperContext] = []
        self.breakers: list[FeedBreaker] = []

    def begin(self, match_id: str, memory_mb: float = 0, cpu: float = 0) -> ScraperContext:
        settings = LiveSettings()
        url = f"https://live.example/{match_id}"
        scraper = ScraperContext.begin("uuid-1", match_id, url, settings, self.clock)
        scraper.memory_bytes, scraper.cpu_percent = int(memory_mb * MIB), cpu
        self.scrapers.append(scraper)
        self.breakers.append(FeedBreaker(match_id, settings, self.clock))
        return scraper

    def status(self, wanted: int | None = None) -> HealthStatus:
        number = len(self.scrapers) if wanted is None else wanted
        return self.health.status(self.scrapers, self.breakers, number)


@pytest.mark.parametrize(
    ("active", "wanted", "errors", "all_well", "status"),
    [
        (0, 0, 0, True, "healthy"),
        (5, 5, 0, True, "healthy"),
        (5, 5, 4, True, "healthy"),
        (5, 5, 5, True, "degraded"),
        (5, 5, 10, True, "degraded"),
        (5, 5, 11, True, "down"),
        (5, 5, 0, False, "degraded"),
        (5, 5, 11, False, "down"),
        (4, 5, 0, True, "degraded"),
        (0, 5, 0, True, "down"),
        (0, 0, 7, True, "degraded"),
        (0, 0, 11, True, "down"),
    ],
)
def test_scrapers_and_errors_amount_to_a_status(
    active: int, wanted: int, errors: int, all_well: bool, status: str
) -> None:
    assert judge(active, wanted, errors, all_well=all_well) == status


def test_a_process_without_feeds_is_healthy_and_has_nothing_to_show() -> None:
    shown = Process().status().to_dict()

    assert shown == {
        "status": "healthy",
        "timestamp": "2025-11-12T08:00:00Z",
        "active_scraper_count": 0,
        "total_matches_scraping": 0,
        "scrapers": [],
        "resources": {
            "total_memory_mb": 0,
            "average_memory_mb": 0,
            "peak_memory_mb": 0,
            "total_cpu_percent": 0,
        },
        "errors": {"last_minute": 0, "last_hour": 0, "circuit_breakers": []},
        "performance": {"average_latency_ms": 0, "p95_latency_ms": 0, "updates_per_minute": 0},
    }


def test_scrapers_breakers_errors_and_latencies_are_shown() -> None:
    process = Process()
    scraper = process.begin("match456", memory_mb=850.5, cpu=15.2)
    process.begin("match457", memory_mb=100, cpu=5)
    for latency in (0.3, 0.6):
        process.looks.looked(latency)
        scraper.looked(latency)
    process.looks.failed()

    shown: dict[str, Any] = json.loads(json.dumps(process.status().to_dict()))

    assert shown["status"] == "healthy"
    assert (shown["active_scraper_count"], shown["total_matches_scraping"]) == (2, 2)
    assert [each["match_id"] for each in shown["scrapers"]] == ["match456", "match457"]
    assert shown["scrapers"][0]["total_updates"] == 2
    assert shown["resources"] == {
        "total_memory_mb": 950.5,
        "average_memory_mb": 475.25,
        "peak_memory_mb": 950.5,
        "total_cpu_percent": 20.2,
    }
    assert (shown["errors"]["last_minute"], shown["errors"]["last_hour"]) == (1, 1)
    circuits = shown["errors"]["circuit_breakers"]
    assert [each["name"] for each in circuits] == ["match456_scraper", "match457_scraper"]
    assert shown["performance"] == {
        "average_latency_ms": 450,
        "p95_latency_ms": 600,
        "updates_per_minute": 2,
    }


def test_one_stale_scraper_degrades_the_whole() -> None:
    process = Process()
    fresh, _stale = process.begin("m1"), process.begin("m2")

    process.clock.move(121)
    fresh.looked(0.1)

    assert process.status().status == "degraded"


def test_feeds_without_any_scraper_are_down() -> None:
    assert Process().status(wanted=3).to_dict()["status"] == "down"


def test_errors_of_the_last_minute_count_and_those_before_are_over() -> None:
    process = Process()
    process.begin("m1")
    for _ in range(11):
        process.looks.failed()

    assert process.status().status == "down"
    process.clock.move(60)
    assert process.status().status == "healthy"
    assert process.status().total_errors_last_hour == 11


def test_peak_memory_is_the_highest_total_also_if_nobody_asked_then() -> None:
    process = Process()
    one, other = process.begin("m1", memory_mb=300), process.begin("m2", memory_mb=400)
    process.health.measured(process.scrapers)
    one.memory_bytes = other.memory_bytes = 0
    process.health.measured(process.scrapers)

    status = process.status()

    assert (status.total_memory_mb, status.peak_memory_mb) == (0, 700)
