"""The cache of credentials, on any course of asking and waiting: property 30."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.clocks import HandClock
from tests.site import Hit, Reply, Site
from tests.unit.workloads.scrape.backends import HOST, as_json, open_client, path_of

WORKSPACES, PROVIDERS = ("w1", "w2"), ("linkedin", "indeed")


@dataclass(frozen=True)
class Ask:
    """Somebody asks, so many seconds after the last one did."""

    workspace: str
    provider: str
    after: float


#: Quarters of a second add up without rounding: a moment at the edge is on the side we say.
spans = st.integers(0, 1600).map(lambda quarters: quarters / 4)
asks = st.lists(
    st.builds(
        Ask,
        st.sampled_from(WORKSPACES),
        st.sampled_from(PROVIDERS),
        st.one_of(st.sampled_from([0.0, 299.0, 300.0, 301.0]), spans),
    ),
    min_size=1,
    max_size=8,
)


# Feature: scraping-microservices, Property 30: Credential cache TTL behavior
@pytest.mark.property_number(30)
@settings(max_examples=100, deadline=None)
@given(asks, st.sampled_from([300.0, 60.0, 0.0]))
def test_a_credential_is_asked_for_again_if_and_only_if_it_is_too_old(
    course: list[Ask], lifetime: float
) -> None:
    asyncio.run(follow(course, lifetime))


async def follow(course: list[Ask], lifetime: float) -> None:
    clock = HandClock()
    answered: dict[tuple[str, str], tuple[float, int]] = {}
    calls = 0

    def next_one(hit: Hit) -> Reply:
        return as_json({"token": str(len(site.hits_of(HOST)))})

    async with Site() as site, open_client(site, clock, cache_seconds=lifetime) as client:
        for workspace in WORKSPACES:
            for provider in PROVIDERS:
                site.reply(HOST, path_of(workspace, provider), next_one)
        for ask in course:
            clock.move(ask.after)
            key = (ask.workspace, ask.provider)
            asked_at, number = answered.get(key, (float("-inf"), 0))
            if clock.monotonic() - asked_at >= lifetime:
                calls += 1
                number = calls
                answered[key] = (clock.monotonic(), number)

            found = await client.get_credential(*key)

            assert found.reveal() == {"token": str(number)}
            assert len(site.hits_of(HOST)) == calls
