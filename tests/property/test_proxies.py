"""The proxy pool, whatever happens to its members: properties 18 to 21."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.model import Proxy, ProxyFailed
from penstock.kernel.proxies import ProxyPool
from tests.clocks import HandClock
from tests.unit.kernel.test_proxies import fails, passes, pool_of

sizes = st.integers(min_value=1, max_value=6)
#: A member to flip between healthy and unhealthy, or None to take the next proxy.
steps = st.lists(st.none() | st.integers(0, 5), max_size=40)


def pool_of_size(size: int, clock: HandClock | None = None, cooldown: float = 30) -> ProxyPool:
    endpoints = [f"http://proxy{number}:1" for number in range(size)]
    return pool_of(*endpoints, clock=clock, cooldown=cooldown)


def next_healthy(health: list[bool], turn: int) -> int | None:
    """The first healthy one from its turn on, round the table."""
    order = [(turn + offset) % len(health) for offset in range(len(health))]
    return next((number for number in order if health[number]), None)


# Feature: scraping-microservices, Property 18: Proxy round-robin skips unhealthy
@pytest.mark.property_number(18)
@settings(max_examples=200, deadline=None)
@given(sizes, steps)
async def test_round_robin_goes_over_the_healthy_ones_only(
    size: int, doings: list[int | None]
) -> None:
    pool, health, turn = pool_of_size(size, cooldown=0), [True] * size, 0
    for doing in doings:
        if doing is not None:
            number = doing % size
            health[number] = not health[number]
            if health[number]:
                pool.enable(pool.members[number].proxy)
            else:
                pool.failed(pool.members[number].proxy)
            continue
        expected = next_healthy(health, turn)

        lease = pool.lease("shop.test")

        if expected is None:
            assert isinstance(lease, ProxyFailed)
        else:
            assert lease == pool.members[expected].proxy
            turn = expected + 1


# Feature: scraping-microservices, Property 19: Failed proxy marked unhealthy
@pytest.mark.property_number(19)
@settings(max_examples=150, deadline=None)
@given(sizes, st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
async def test_failed_proxy_is_not_chosen_until_a_check_restores_it(
    size: int, failed: set[int], recovered: set[int]
) -> None:
    pool = pool_of_size(size, cooldown=0)
    proxies = [member.proxy for member in pool.members]
    bad = {proxies[number] for number in failed if number < size}
    well = {proxies[number] for number in recovered if number < size}

    async def recovers(proxy: Proxy) -> bool:
        return proxy in well

    for proxy in bad:
        pool.failed(proxy)
    assert {member.proxy for member in pool.members if not member.healthy} == bad
    await pool.check_unhealthy(fails)
    assert chosen_in_a_round(pool) == set(proxies) - bad

    await pool.check_unhealthy(recovers)
    assert chosen_in_a_round(pool) == set(proxies) - (bad - well)

    await pool.check_unhealthy(passes)
    assert chosen_in_a_round(pool) == set(proxies)


def chosen_in_a_round(pool: ProxyPool) -> set[Proxy]:
    leases = (pool.lease("shop.test") for _ in pool.members)
    return {lease for lease in leases if isinstance(lease, Proxy)}


# Feature: scraping-microservices, Property 20: Proxy per-domain cooldown
@pytest.mark.property_number(20)
@settings(max_examples=150, deadline=None)
@given(
    sizes,
    st.sampled_from([0, 1, 30, 45]),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), max_size=40),
)
def test_proxy_rests_between_visits_to_one_domain(
    size: int, cooldown: int, visits: list[tuple[int, str]]
) -> None:
    clock = HandClock()
    pool = pool_of_size(size, clock, cooldown)
    used: dict[tuple[Proxy, str], float] = {}
    for pause, domain in visits:
        clock.move(pause)
        now = clock.monotonic()
        since = [now - used.get((member.proxy, domain), -1e9) for member in pool.members]
        wait = pool.look(domain)

        lease = pool.lease(domain)

        if isinstance(lease, Proxy):
            assert now - used.get((lease, domain), -1e9) >= cooldown
            assert wait is None
            used[lease, domain] = now
        else:
            assert max(since) < cooldown
            assert wait == cooldown - max(since)


# Feature: scraping-microservices, Property 21: Proxy metrics accuracy
@pytest.mark.property_number(21)
@settings(max_examples=150, deadline=None)
@given(sizes, st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=60))
def test_successes_and_failures_are_counted_exactly(
    size: int, results: list[tuple[int, bool]]
) -> None:
    pool = pool_of_size(size)
    counted: Counter[tuple[int, bool]] = Counter()
    for chosen, success in results:
        number = chosen % size
        counted[number, success] += 1
        (pool.succeeded if success else pool.failed)(pool.members[number].proxy)

    for number, member in enumerate(pool.members):
        assert (member.successes, member.failures) == (
            counted[number, True],
            counted[number, False],
        )
