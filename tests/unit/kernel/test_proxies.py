"""Proxies: how they are written, chosen, rested, doubted and trusted again."""

import pytest

from penstock.core.errors import SettingsError
from penstock.kernel.model import Proxy, ProxyFailed
from penstock.kernel.proxies import ProxyPool, parse_proxy
from penstock.kernel.settings import ProxySettings
from tests.clocks import HandClock

PASSWORD = "hunter2"


def pool_of(*endpoints: str, clock: HandClock | None = None, cooldown: float = 30) -> ProxyPool:
    settings = ProxySettings.model_validate(
        {"endpoints": endpoints, "domain_cooldown_seconds": cooldown}
    )
    return ProxyPool(settings, clock or HandClock())


def three(clock: HandClock | None = None) -> ProxyPool:
    return pool_of("http://a:1", "http://b:2", "http://c:3", clock=clock)


async def passes(proxy: Proxy) -> bool:
    return True


async def fails(proxy: Proxy) -> bool:
    return False


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://p.test:3128", Proxy("http", "p.test", 3128)),
        ("http://p.test", Proxy("http", "p.test", 8080)),
        ("https://p.test", Proxy("https", "p.test", 443)),
        (" socks5://p.test/ ", Proxy("socks5", "p.test", 1080)),
        ("SOCKS5://P.test:9", Proxy("socks5", "p.test", 9)),
        ("http://jo:pw@p.test:1", Proxy("http", "p.test", 1, "jo", "pw")),
        ("http://jo@p.test:1", Proxy("http", "p.test", 1, "jo")),
        ("http://j%40o:p%3A%2F%25@p.test:1", Proxy("http", "p.test", 1, "j@o", "p:/%")),
        ("http://p.test:1#DE", Proxy("http", "p.test", 1, region="de")),
        ("http://[2001:db8::1]:3128", Proxy("http", "2001:db8::1", 3128)),
    ],
)
def test_proxy_is_read_from_its_url(text: str, proxy: Proxy) -> None:
    assert parse_proxy(text) == proxy


@pytest.mark.parametrize(
    "text",
    [
        "",
        "p.test:3128",
        "ftp://p.test",
        "socks4://p.test",
        f"http://jo:{PASSWORD}@:3128",
        f"http://jo:{PASSWORD}@p.test/path",
        f"http://jo:{PASSWORD}@p.test:99999",
        f"http://jo:{PASSWORD}@p.test:port",
        f"http://jo:{PASSWORD}@[::1",
        f"http://jo:{PASSWORD}\u2100@p.test:1",
        f"http://j%00o:{PASSWORD}@p.test:1",
    ],
)
def test_what_is_no_proxy_is_refused_without_telling_the_password(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^PENSTOCK_PROXIES__ENDPOINTS: ") as error:
        parse_proxy(text)

    assert PASSWORD not in repr(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_printed_proxy_shows_neither_user_nor_password() -> None:
    proxy = parse_proxy(f"http://josephine:{PASSWORD}@p.test:1#de")

    for text in (str(proxy), repr(proxy), f"{proxy}", repr([proxy])):
        assert PASSWORD not in text
        assert "josephine" not in text
    assert str(proxy) == "http://p.test:1"


def test_empty_pool_has_nothing_to_lease_and_nothing_to_wait_for() -> None:
    pool = pool_of()

    assert isinstance(pool.lease("shop.test"), ProxyFailed)
    assert pool.look("shop.test") is None


def test_proxies_are_taken_in_turn() -> None:
    pool = three()

    assert [str(pool.lease(f"{n}.test"))[7:8] for n in range(5)] == ["a", "b", "c", "a", "b"]


def test_the_least_recently_used_one_is_taken() -> None:
    clock = HandClock()
    pool = three(clock)
    first, second, third = (member.proxy for member in pool.members)
    for avoid in ([second, third], [first, second]):
        pool.lease("shop.test", avoid=avoid)
        clock.move(1)

    assert pool.lease("a.test") == second
    assert pool.lease("b.test") == first
    assert pool.lease("c.test") == third


def test_one_that_stands_twice_in_the_settings_is_one() -> None:
    pool = pool_of("http://jo:pw@a:1#de", "http://jo:pw@a:1#de", "http://al:pw@a:1#de")

    assert [member.proxy.user for member in pool.members] == ["jo", "al"]
    with pytest.raises(SettingsError, match="http://a:1 stands there twice") as error:
        pool_of(f"http://jo:{PASSWORD}@a:1", "http://jo:pw@a:1")
    assert PASSWORD not in str(error.value)


def test_a_policy_may_ask_for_another_rest() -> None:
    clock = HandClock()
    pool = pool_of("http://a:1", clock=clock)
    pool.lease("shop.test", rest=0.5)

    assert pool.look("shop.test", rest=0.5) == 0.5
    assert pool.look("shop.test") == 30
    clock.move(0.5)
    assert pool.look("shop.test", rest=0.5) is None
    assert isinstance(pool.lease("shop.test", rest=0.5), Proxy)


def test_proxy_rests_for_the_domain_it_was_used_for_and_for_no_other() -> None:
    clock = HandClock()
    pool = pool_of("http://a:1", clock=clock)
    pool.lease("shop.test")
    clock.move(10)

    assert pool.look("shop.test") == 20
    assert isinstance(pool.lease("shop.test"), ProxyFailed)
    assert isinstance(pool.lease("other.test"), Proxy)
    clock.move(20)
    assert pool.look("shop.test") is None
    assert isinstance(pool.lease("shop.test"), Proxy)


@pytest.mark.parametrize("region", ["de", "DE"])
def test_region_narrows_the_choice(region: str) -> None:
    pool = pool_of("http://a:1#us", "http://b:2#DE", "http://c:3")

    lease = pool.lease("shop.test", region)

    assert str(lease) == "http://b:2"
    assert str(pool.lease("shop.test", "fr")) == (
        "proxy_failed: no healthy proxy in region fr is free"
    )


def test_proxies_that_failed_this_visit_are_avoided() -> None:
    pool = three()
    first, second, third = (member.proxy for member in pool.members)

    assert pool.lease("shop.test", avoid=[first, second]) == third
    assert isinstance(pool.lease("other.test", avoid=[first, second, third]), ProxyFailed)


async def test_failed_proxy_is_left_out_until_a_check_passes() -> None:
    pool = pool_of("http://a:1")
    (member,) = pool.members
    pool.failed(member.proxy)

    assert isinstance(pool.lease("shop.test"), ProxyFailed)
    assert await pool.check_unhealthy(fails) == 0
    assert isinstance(pool.lease("shop.test"), ProxyFailed)
    assert await pool.check_unhealthy(passes) == 1
    assert pool.lease("shop.test") == member.proxy


async def test_late_success_does_not_make_a_failed_proxy_healthy() -> None:
    pool = pool_of("http://a:1")
    (member,) = pool.members
    pool.failed(member.proxy)

    pool.succeeded(member.proxy)

    assert not member.healthy


async def test_healthy_proxies_are_not_checked() -> None:
    asked: list[Proxy] = []

    async def ask(proxy: Proxy) -> bool:
        asked.append(proxy)
        return True

    pool = three()
    pool.failed(pool.members[1].proxy)
    await pool.check_unhealthy(ask)

    assert asked == [pool.members[1].proxy]


async def fail_in_a_row(pool: ProxyPool, times: int) -> None:
    for _ in range(times):
        pool.failed(pool.members[0].proxy)
        await pool.check_unhealthy(passes)


async def test_more_than_ten_failures_in_a_row_make_a_proxy_inactive() -> None:
    pool = pool_of("http://a:1")
    (member,) = pool.members

    await fail_in_a_row(pool, 10)
    assert member.usable
    await fail_in_a_row(pool, 1)

    assert not member.active
    assert isinstance(pool.lease("shop.test"), ProxyFailed)


async def test_success_breaks_the_row() -> None:
    pool = pool_of("http://a:1")
    (member,) = pool.members

    await fail_in_a_row(pool, 10)
    pool.succeeded(member.proxy)
    await fail_in_a_row(pool, 10)

    assert member.usable


async def test_inactive_proxy_comes_back_when_somebody_enables_it() -> None:
    pool = pool_of("http://a:1")
    (member,) = pool.members
    await fail_in_a_row(pool, 11)

    pool.enable(member.proxy)

    assert pool.lease("shop.test") == member.proxy
    assert member.failures == 11


def test_proxy_that_left_the_pool_is_not_counted() -> None:
    pool = pool_of("http://a:1")
    stranger = parse_proxy("http://b:2")

    pool.failed(stranger)
    pool.succeeded(stranger)

    assert (pool.members[0].successes, pool.members[0].failures) == (0, 0)
