"""The proxy pool, whatever happens to its members: properties 18 to 21."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.model import Proxy, ProxyFailed
from penstock.kernel.proxies import Address, Carried, Delta, ProxyPool
from tests.clocks import HandClock
from tests.unit.kernel.test_proxies import fails, passes, pool_of

sizes = st.integers(min_value=1, max_value=6)
#: A member to flip between healthy and unhealthy, or None to take the next proxy.
steps = st.lists(st.none() | st.integers(0, 5), max_size=40)


def pool_of_size(size: int, clock: HandClock | None = None, cooldown: float = 30) -> ProxyPool:
    endpoints = [f"http://proxy{number}:1" for number in range(size)]
    return pool_of(*endpoints, clock=clock, cooldown=cooldown)


def next_healthy(health: list[bool], uses: list[int]) -> int | None:
    """The healthy one that was used longest ago, of several the first."""
    healthy = [number for number, is_healthy in enumerate(health) if is_healthy]
    return min(healthy, key=lambda number: uses[number], default=None)


# Feature: scraping-microservices, Property 18: Proxy round-robin skips unhealthy
@pytest.mark.property_number(18)
@settings(max_examples=200, deadline=None)
@given(sizes, steps)
async def test_the_healthy_ones_are_used_in_turn(size: int, doings: list[int | None]) -> None:
    pool, health, uses = pool_of_size(size, cooldown=0), [True] * size, [0] * size
    for moment, doing in enumerate(doings, start=1):
        if doing is not None:
            number = doing % size
            health[number] = not health[number]
            if health[number]:
                pool.enable(pool.members[number].proxy)
            else:
                pool.failed(pool.members[number].proxy)
            continue
        expected = next_healthy(health, uses)

        lease = pool.lease("shop.test")

        if expected is None:
            assert isinstance(lease, ProxyFailed)
        else:
            assert lease == pool.members[expected].proxy
            uses[expected] = moment

    a_round = [pool.lease("shop.test") for _ in range(sum(health))]
    assert {str(lease) for lease in a_round} == {
        str(member.proxy) for member in pool.members if member.healthy
    }


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


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.none() | st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 9)), max_size=60
    ),
    st.randoms(),
)
def test_the_sum_of_deltas_is_what_was_counted(
    doings: list[tuple[int, bool, int] | None], chance: Random
) -> None:
    """None takes the deltas; sometimes they cannot be told and are put back."""
    pool = pool_of_size(3)
    proxies = [member.proxy for member in pool.members]
    told: dict[Address, Delta] = {}
    carried: Counter[Proxy] = Counter()
    for doing in [*doings, None]:
        if doing is None:
            deltas = pool.take_deltas()
            if chance.random() < 0.3:
                pool.put_back(deltas)
                deltas = {}
            told = add(told, deltas)
        elif doing[1]:
            pool.succeeded(proxies[doing[0]], Carried(0.5, doing[2]))
            carried[proxies[doing[0]]] += doing[2]
        else:
            pool.failed(proxies[doing[0]])
    told = add(told, pool.take_deltas())

    for member in pool.members:
        total = told.get(Address.of(member.proxy), Delta())
        assert (total.successes, total.failures) == (member.successes, member.failures)
        assert total.in_a_row == member.failures_in_a_row
        assert (total.answers, total.seconds) == (member.successes, member.successes / 2)
        assert total.bytes == carried[member.proxy]


def add(told: dict[Address, Delta], deltas: dict[Address, Delta]) -> dict[Address, Delta]:
    return told | {
        address: told.get(address, Delta()).then(delta) for address, delta in deltas.items()
    }
