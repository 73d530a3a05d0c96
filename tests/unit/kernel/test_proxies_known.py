"""The pool and other processes: what it tells, and what it takes over."""

import pytest

from penstock.kernel.model import Proxy, ProxyFailed
from penstock.kernel.proxies import Address, Carried, Delta, Known, parse_proxy
from tests.clocks import HandClock
from tests.unit.kernel.test_proxies import fail_in_a_row, passes, pool_of, three

A = parse_proxy("http://jo:pw@a:1")
ADDRESS = Address.of(A)


def test_what_happened_is_told_once() -> None:
    clock = HandClock()
    pool = pool_of("http://jo:pw@a:1", "http://b:2", clock=clock)
    pool.lease("shop.test")
    clock.move(1)
    pool.failed(A)
    clock.move(1)
    pool.succeeded(A, Carried(0.25, 700))
    pool.succeeded(A)

    assert pool.take_deltas() == {
        ADDRESS: Delta(
            successes=2,
            failures=1,
            in_a_row=0,
            answers=1,
            seconds=0.25,
            bytes=700,
            used=1000.0,
            succeeded=1002.0,
            failed=1001.0,
            healthy=False,
        )
    }
    assert pool.take_deltas() == {}
    assert (pool.members[0].successes, pool.members[0].failures) == (2, 1)


async def test_a_check_that_passes_is_told() -> None:
    pool = pool_of("http://jo:pw@a:1")
    pool.failed(A)
    await pool.check_unhealthy(passes)

    assert pool.take_deltas()[ADDRESS].healthy is True


def test_what_could_not_be_told_is_told_later_in_its_order() -> None:
    pool = pool_of("http://jo:pw@a:1")
    pool.failed(A)
    pool.failed(A)
    deltas = pool.take_deltas()
    pool.succeeded(A)
    pool.failed(A)

    pool.put_back(deltas)

    delta = pool.take_deltas()[ADDRESS]
    assert (delta.successes, delta.failures, delta.in_a_row) == (1, 3, 1)


def test_proxies_come_and_go_but_those_of_the_settings_stay() -> None:
    pool = pool_of("http://jo:pw@a:1")
    seen = pool.members
    other = parse_proxy("socks5://c:3#de")

    pool.update([Known(A), Known(other)])
    assert [member.proxy for member in seen] == [A, other]
    assert pool.lease("shop.test", "de") == other

    pool.update([])
    assert [member.proxy for member in seen] == [A]


def test_counts_of_this_process_outlive_an_update() -> None:
    pool = pool_of("http://jo:pw@a:1")
    pool.succeeded(A)

    pool.update([Known(A)])

    assert pool.members[0].successes == 1


def test_a_new_password_is_used_and_late_reports_still_count() -> None:
    pool = pool_of()
    pool.update([Known(A)])
    changed = parse_proxy("http://jo:another@a:1")

    pool.update([Known(changed)])
    pool.succeeded(A)

    assert pool.lease("shop.test") == changed
    assert pool.members[0].successes == 1


@pytest.mark.parametrize(
    "known",
    [Known(A, active=False), Known(A, healthy=False), Known(A, problem="no key opens it")],
)
def test_what_others_cannot_use_is_not_used_here(known: Known) -> None:
    pool = pool_of("http://jo:pw@a:1")

    pool.update([known])
    assert isinstance(pool.lease("shop.test"), ProxyFailed)

    pool.update([Known(A)])
    assert pool.lease("shop.test") == A


def test_what_happened_here_meanwhile_is_not_forgotten() -> None:
    pool = pool_of("http://jo:pw@a:1")
    pool.failed(A)

    pool.update([Known(A, healthy=True, failures_in_a_row=4)])

    assert not pool.members[0].healthy
    assert pool.members[0].failures_in_a_row == 5


async def test_failures_of_all_processes_make_it_inactive_until_it_is_enabled() -> None:
    pool = pool_of("http://jo:pw@a:1")
    await fail_in_a_row(pool, 5)

    pool.update([Known(A, failures_in_a_row=6)])
    assert not pool.members[0].active

    pool.take_deltas()
    pool.update([Known(A)])
    assert pool.members[0].usable


def test_uses_by_others_count_for_whose_turn_it_is() -> None:
    clock = HandClock()
    pool = three(clock)
    first, second, third = (member.proxy for member in pool.members)
    pool.lease("shop.test")
    clock.move(10)

    pool.update([Known(first, idle=10), Known(second, idle=1), Known(third, idle=20)])

    assert [pool.lease(f"{n}.test") for n in range(3)] == [third, first, second]


async def test_one_that_is_removed_while_it_is_checked_does_no_harm() -> None:
    pool = pool_of()
    pool.update([Known(A, healthy=False), Known(parse_proxy("http://b:2"), healthy=False)])

    async def remove(proxy: Proxy) -> bool:
        pool.update([])
        return True

    assert await pool.check_unhealthy(remove) == 2
    assert pool.members == []
