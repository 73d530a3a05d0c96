"""How a scraper does, by every number of the rules."""

import pytest

from penstock.workloads.live.context import MIB, ScraperContext
from penstock.workloads.live.settings import LiveSettings
from tests.clocks import HandClock

SETTINGS = LiveSettings()
HOUR = 3600.0


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def context(clock: HandClock) -> ScraperContext:
    return begin(clock)


def begin(
    clock: HandClock,
    settings: LiveSettings = SETTINGS,
    former: ScraperContext | None = None,
) -> ScraperContext:
    url = "https://live.test/match/1"
    return ScraperContext.begin("id", "m1", url, settings, clock, former=former)


def fail(context: ScraperContext, times: int) -> None:
    for _ in range(times):
        context.failed()


def keep_fresh(context: ScraperContext, clock: HandClock, seconds: float) -> None:
    clock.move(seconds)
    context.looked(0.1)


@pytest.mark.parametrize(
    ("hours", "after", "reason"),
    [(6, 6 * HOUR, None), (6, 6 * HOUR + 1, "age"), (0.5, 0.5 * HOUR + 1, "age")],
)
def test_an_old_scraper_starts_anew(
    clock: HandClock, hours: float, after: float, reason: str | None
) -> None:
    context = begin(clock, LiveSettings(max_lifetime_hours=hours))
    keep_fresh(context, clock, after)
    assert context.restart_reason() == reason


@pytest.mark.parametrize(("seconds", "reason"), [(300, None), (301, "staleness")])
def test_a_scraper_without_a_good_look_starts_anew(
    clock: HandClock, context: ScraperContext, seconds: float, reason: str | None
) -> None:
    clock.move(seconds)
    assert context.restart_reason() == reason

    context.looked(0.1)
    assert context.restart_reason() is None

    clock.move(seconds)
    assert context.restart_reason() == reason


@pytest.mark.parametrize(("errors", "reason"), [(10, None), (11, "errors")])
def test_too_many_errors_in_a_row_start_it_anew(
    context: ScraperContext, errors: int, reason: str | None
) -> None:
    fail(context, 9)
    context.looked(0.1)
    fail(context, errors)
    assert context.restart_reason() == reason


@pytest.mark.parametrize(("mebibytes", "reason"), [(1536, None), (1537, "memory")])
def test_a_browser_that_is_too_large_starts_it_anew(
    context: ScraperContext, mebibytes: int, reason: str | None
) -> None:
    context.browser_bytes = mebibytes * MIB
    assert context.restart_reason() == reason


def test_its_own_part_of_a_browser_is_no_reason(context: ScraperContext) -> None:
    context.memory_bytes = 4096 * MIB
    assert context.restart_reason() is None


@pytest.mark.parametrize(
    ("errors", "seconds", "status"),
    [
        *((0, 0, "healthy"), (2, 120, "healthy")),
        *((3, 0, "degraded"), (0, 121, "degraded"), (5, 300, "degraded")),
        *((6, 0, "failing"), (0, 301, "failing")),
    ],
)
def test_health_goes_by_errors_in_a_row_and_by_staleness(
    clock: HandClock, context: ScraperContext, errors: int, seconds: float, status: str
) -> None:
    context.looked(0.1)
    fail(context, errors)
    clock.move(seconds)
    assert context.health_status == status


def test_durations_do_not_mind_a_date_that_is_set(
    clock: HandClock, context: ScraperContext
) -> None:
    context.looked(0.1)
    clock.set_date(clock.now().replace(year=2030))
    assert (context.uptime, context.staleness, context.restart_reason()) == (0, 0, None)


def test_the_next_scraper_goes_on_with_the_totals_and_forgets_the_errors_in_a_row(
    clock: HandClock, context: ScraperContext
) -> None:
    context.looked(0.25)
    seen_at = context.last_update_time
    fail(context, 11)
    clock.move(400)

    following = begin(clock, former=context)

    assert (following.error_count, following.total_errors, following.total_updates) == (0, 11, 1)
    assert (following.uptime, following.staleness) == (0, 400)
    assert following.last_update_time == seen_at
    assert following.health_status == "failing"
    assert following.restart_reason() is None
    clock.move(301)
    assert following.restart_reason() == "staleness"


def test_it_is_shown_with_the_keys_and_forms_of_the_health_report(
    clock: HandClock, context: ScraperContext
) -> None:
    keep_fresh(context, clock, 8999.5)
    fail(context, 2)
    clock.move(5.25)
    context.memory_bytes, context.cpu_percent = int(850.5 * MIB), 15.2

    assert context.to_dict() == {
        "scraper_id": "id",
        "match_id": "m1",
        "url": "https://live.test/match/1",
        "start_time": "2026-03-04T12:00:00Z",
        "last_update": "2026-03-04T14:29:59Z",
        "uptime_seconds": 9004,
        "error_count": 2,
        "total_errors": 2,
        "total_updates": 1,
        "health_status": "healthy",
        "memory_mb": 850.5,
        "cpu_percent": 15.2,
        "polling_interval": 2.5,
    }


def test_no_update_is_shown_before_there_was_one(context: ScraperContext) -> None:
    assert context.to_dict()["last_update"] is None
    assert context.last_update_ms is None
    assert context.health_row().last_update_age_seconds is None


def test_the_log_of_health_gets_it_as_numbers(clock: HandClock, context: ScraperContext) -> None:
    context.memory_bytes = 3 * MIB
    keep_fresh(context, clock, 60)
    clock.move(1.5)

    row = context.health_row()

    assert (row.match_id, row.health_status, row.memory_mb) == ("m1", "healthy", 3.0)
    assert (row.update_latency_ms, row.uptime_seconds) == (100, 61.5)
    assert row.last_update_age_seconds == 1.5
    assert row.at == int(clock.now().timestamp() * 1000)
    assert context.last_update_ms == row.at - 1500
