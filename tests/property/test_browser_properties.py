"""Properties of browsers: when one is replaced, who it says it is, and how fast it acts."""

import asyncio
import random
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.errors import PoolExhausted
from penstock.kernel.fetchers.browser.pool import BrowserPool, Seat
from penstock.kernel.identity import (
    HEIGHTS,
    REGIONS,
    WIDTHS,
    Identities,
    Persona,
    action_pause,
    agents,
)
from penstock.kernel.policy import DomainPolicy, Pace, Rate
from penstock.kernel.settings import BrowserSettings, IdentitySettings
from tests.clocks import HandClock

EXAMPLES = settings(max_examples=200, deadline=None)
SEEDS = st.integers(0, 2**32)
MAJORS = st.integers(100, 300)
#: Where the middle of each region is, roughly: north, east, and how far it reaches in degrees.
MIDDLES = {
    "us": (39, -98, 28), "gb": (54, -2, 6), "de": (51, 10, 6), "fr": (47, 2, 7),
    "es": (40, -4, 7), "it": (42, 12, 7), "nl": (52, 5, 3), "pl": (52, 19, 6),
    "se": (62, 16, 8), "br": (-12, -52, 22), "jp": (37, 138, 10), "in": (22, 79, 16),
}  # fmt: skip


class StandIn:
    """Plays a Chromium: it can die, and ends when it is told to."""

    def __init__(self) -> None:
        self.is_alive = True
        self.is_hung = False
        self.has_ended = False

    def memory(self) -> int:
        return 1

    async def end(self) -> None:
        self.is_alive, self.has_ended = False, True


def new_pool(**changes: int) -> tuple[BrowserPool[StandIn], list[StandIn]]:
    launched: list[StandIn] = []

    async def launch() -> StandIn:
        launched.append(StandIn())
        return launched[-1]

    chosen = BrowserSettings(**{"acquire_seconds": 0, "min_free_memory_mb": 0, **changes})
    return BrowserPool(chosen, launch, HandClock(), lambda: 10**12), launched


def personas(seed: int) -> Identities:
    return Identities(IdentitySettings(), random.Random(seed))


# Feature: scraping-microservices, Property 12: Browser instance recycling after page threshold
@EXAMPLES
@given(
    limit=st.integers(1, 12),
    together=st.integers(1, 6),
    share=st.integers(1, 4),
    steps=st.lists(st.booleans(), max_size=80),
)
def test_a_browser_is_replaced_on_release_after_its_pages(
    limit: int, together: int, share: int, steps: list[bool]
) -> None:
    async def play() -> None:
        pool, launched = new_pool(
            page_limit=limit, pool_size=together, pool_max=together, contexts_per_browser=share
        )
        held: list[Seat[StandIn]] = []
        pages: dict[StandIn, int] = {}
        for takes in steps:
            if takes and len(held) < together:
                seat = await pool.acquire(1)
                assert pages.get(seat.browser, 0) < limit
                held.append(seat)
            elif held:
                seat = held.pop(0)
                pages[seat.browser] = pages.get(seat.browser, 0) + 1
                await pool.release(seat)
            others = {seat.browser for seat in held}
            worn_out = {browser for browser, count in pages.items() if count >= limit}
            assert max(pages.values(), default=0) <= limit
            assert all(browser.has_ended for browser in worn_out - others)
            assert pool.stats().recycled_count == len(worn_out)
            assert pool.browsers == len([one for one in launched if not one.has_ended])
        stats = pool.stats()
        assert (stats.in_use, stats.available) == (len(held), together - len(held))
        assert stats.pages_processed == sum(pages.values())

    asyncio.run(play())


# Feature: scraping-microservices, Property 14: Fingerprint attributes within valid ranges
@EXAMPLES
@given(seed=SEEDS, major=MAJORS, region=st.sampled_from([None, "nowhere", *REGIONS]))
def test_looks_are_of_the_curated_ones(seed: int, major: int, region: str | None) -> None:
    persona = personas(seed).persona(region, major)

    assert persona.agent in agents(major)
    assert f"Chrome/{major}.0.0.0" in persona.agent
    assert persona.platform.in_agent in persona.agent
    assert "Headless" not in persona.agent
    assert 1280 == WIDTHS[0] <= persona.width <= WIDTHS[1] == 1920
    assert 720 == HEIGHTS[0] <= persona.height <= HEIGHTS[1] == 1080


# Feature: scraping-microservices, Property 15: Fingerprint geo-consistency with proxy region
@EXAMPLES
@given(seed=SEEDS, region=st.sampled_from(sorted(REGIONS)), upper=st.booleans())
def test_looks_fit_the_region_of_the_proxy(seed: int, region: str, upper: bool) -> None:
    persona = personas(seed).persona(region.upper() if upper else region)

    north, east, reach = MIDDLES[region]
    assert persona.locale.rpartition("-")[2].lower() == region
    assert persona.languages[0] == persona.locale
    assert persona.city in REGIONS[region].cities
    assert abs(persona.city.latitude - north) <= reach
    assert abs(persona.city.longitude - east) <= reach
    assert ZoneInfo(persona.city.time_zone)


# Feature: scraping-microservices, Property 16: Fingerprint rotation across sessions
@EXAMPLES
@given(seed=SEEDS, regions=st.lists(st.sampled_from([None, *REGIONS]), min_size=2, max_size=30))
def test_no_two_in_a_row_look_the_same(seed: int, regions: list[str | None]) -> None:
    ours = personas(seed)

    drawn = [ours.persona(region) for region in regions]

    for one, next_one in pairwise(drawn):
        assert seen_of(one) != seen_of(next_one)


def seen_of(persona: Persona) -> tuple[object, ...]:
    return (persona.agent, persona.width, persona.height, persona.city.time_zone, persona.language)


# Feature: scraping-microservices, Property 17: Action delays within configured range
@EXAMPLES
@given(seed=SEEDS, low=st.integers(0, 10_000), more=st.integers(0, 10_000))
def test_the_pause_between_actions_is_in_its_range(seed: int, low: int, more: int) -> None:
    chance = random.Random(seed)
    default = DomainPolicy(Pace((Rate(1, 1.0),), 0.0, 1), "shop.test").action_delay_ms

    assert low / 1000 <= action_pause((low, low + more), chance) <= (low + more) / 1000
    assert default == (500, 2000)
    assert 0.5 <= action_pause(default, chance) <= 2.0


async def test_a_pool_without_a_free_seat_says_so() -> None:
    pool, _ = new_pool(pool_size=1, pool_max=1)
    await pool.acquire()

    with pytest.raises(PoolExhausted):
        await pool.acquire()
