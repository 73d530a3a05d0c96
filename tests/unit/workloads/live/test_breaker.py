"""The breaker of a feed: trips on failures in a row, rests, and is closed by good looks."""

import pytest

from penstock.workloads.live.breaker import FeedBreaker
from penstock.workloads.live.settings import LiveSettings
from tests.clocks import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def breaker(clock: HandClock) -> FeedBreaker:
    return FeedBreaker("match456", LiveSettings(), clock)


async def look(breaker: FeedBreaker, *results: bool | None) -> None:
    for well in results:
        assert await breaker.rejects() is None
        await breaker.report(await breaker.enter(), well=well)


async def test_five_failures_in_a_row_open_it_for_a_minute(
    breaker: FeedBreaker, clock: HandClock
) -> None:
    await look(breaker, *[False] * 4, True, *[False] * 4)
    assert breaker.is_closed

    await look(breaker, False)

    assert (breaker.state, breaker.failure_count) == ("OPEN", 5)
    assert await breaker.rejects() == 60
    clock.move(59)
    assert await breaker.rejects() == 1
    clock.move(1)
    assert await breaker.rejects() is None
    assert breaker.state == "HALF_OPEN"
    assert breaker.total_rejections == 2


async def test_five_good_looks_in_a_row_close_it(breaker: FeedBreaker, clock: HandClock) -> None:
    await look(breaker, *[False] * 5)
    clock.move(60)

    await look(breaker, *[True] * 4)
    assert (breaker.state, breaker.success_count, breaker.failure_count) == ("HALF_OPEN", 4, 0)

    await look(breaker, True)
    assert (breaker.state, breaker.success_count) == ("CLOSED", 0)


async def test_a_bad_look_on_the_way_back_opens_it_for_another_minute(
    breaker: FeedBreaker, clock: HandClock
) -> None:
    await look(breaker, *[False] * 5)
    clock.move(60)
    await look(breaker, *[True] * 4, False)
    assert (breaker.state, breaker.success_count) == ("OPEN", 0)
    assert await breaker.rejects() == 60


async def test_what_teaches_nothing_is_not_counted_and_blocks_nobody(
    breaker: FeedBreaker, clock: HandClock
) -> None:
    await look(breaker, *[False] * 4, None, False)
    clock.move(60)
    await look(breaker, None, True)
    assert (breaker.state, breaker.total_calls) == ("HALF_OPEN", 6)


async def test_whoever_does_not_ask_first_is_told(breaker: FeedBreaker) -> None:
    await look(breaker, *[False] * 5)
    with pytest.raises(RuntimeError, match="ask `rejects` first"):
        await breaker.enter()


async def unreadable(breaker: FeedBreaker, seconds: float) -> None:
    """A look as a scraper does it that cannot read the page: seen, and then rested."""
    assert await breaker.rejects() is None
    leave = await breaker.enter()
    breaker.open_for(seconds)
    await breaker.report(leave, well=True)


@pytest.mark.parametrize("seconds", [300.0, 5.0])
async def test_a_page_that_cannot_be_read_is_tried_once_per_rest(
    breaker: FeedBreaker, clock: HandClock, seconds: float
) -> None:
    for _ in range(3):
        await unreadable(breaker, seconds)
        assert breaker.state == "OPEN"
        assert await breaker.rejects() == seconds
        clock.move(seconds)
        assert breaker.state == "HALF_OPEN"


async def test_a_try_that_does_not_see_the_page_opens_it_for_as_long(
    breaker: FeedBreaker, clock: HandClock
) -> None:
    await unreadable(breaker, 300)
    clock.move(300)

    await look(breaker, False)

    assert await breaker.rejects() == 300


async def test_the_first_page_that_can_be_read_closes_it(
    breaker: FeedBreaker, clock: HandClock
) -> None:
    await unreadable(breaker, 300)
    clock.move(300)

    leave = await breaker.enter()
    breaker.close()
    await breaker.report(leave, well=True)

    assert breaker.is_closed
    await look(breaker, *[False] * 4)
    assert breaker.is_closed
    await look(breaker, False)
    assert await breaker.rejects() == 60


async def test_it_is_shown_with_the_keys_and_forms_of_the_health_report(
    breaker: FeedBreaker, clock: HandClock
) -> None:
    clock.move(1)
    await look(breaker, True, True, *[False] * 5)
    clock.move(10)
    await breaker.rejects()

    assert breaker.to_dict() == {
        "name": "match456_scraper",
        "state": "OPEN",
        "failure_count": 5,
        "success_count": 0,
        "total_calls": 7,
        "total_successes": 2,
        "total_failures": 5,
        "total_rejections": 1,
        "last_state_change": "2026-03-04T12:00:01Z",
    }


async def test_numbers_are_those_of_the_settings(clock: HandClock) -> None:
    settings = LiveSettings(
        circuit_breaker_threshold=2,
        circuit_breaker_timeout_seconds=7,
        circuit_breaker_success_threshold=1,
    )
    breaker = FeedBreaker("m1", settings, clock)
    await look(breaker, False, False)
    assert await breaker.rejects() == 7
    clock.move(7)
    await look(breaker, True)
    assert breaker.is_closed
