"""How often a proxy visits a domain, over all processes that share their ledgers."""

from itertools import pairwise

from penstock.kernel.model import Proxy
from penstock.kernel.proxies import ProxyPool
from penstock.kernel.settings import ProxySettings
from tests.clocks import HandClock
from tests.contract.conftest import BackEnd

SETTINGS = ProxySettings.model_validate({"endpoints": ["http://jo:pw@a.test:1", "http://b.test:2"]})
REST = 0.5


async def lease(pool: ProxyPool, domain: str = "shop.test") -> Proxy | None:
    """A proxy that has rested everywhere."""
    while isinstance(proxy := pool.lease(domain, rest=REST), Proxy):
        if await pool.is_rested(proxy, domain, REST):
            return proxy
    return None


async def test_a_proxy_rests_for_a_domain_in_all_processes(
    back_end: BackEnd, clock: HandClock
) -> None:
    one, other = [ProxyPool(SETTINGS, clock, await back_end.pacing()) for _ in range(2)]
    first = await lease(one)
    second = await lease(other)

    assert first
    assert second
    assert first != second
    assert await lease(one) is await lease(other) is None
    assert await lease(one, "other.test")
    for pool in (one, other):
        assert 0 < (pool.look("shop.test", rest=REST) or 0) <= REST
    clock.move(REST)
    assert await lease(other)


async def test_never_more_than_the_limit_however_many_ask(
    back_end: BackEnd, clock: HandClock
) -> None:
    pools = [ProxyPool(SETTINGS, clock, await back_end.pacing()) for _ in range(3)]
    used: dict[Proxy, list[float]] = {}
    for _ in range(40):
        for pool in pools:
            if proxy := await lease(pool):
                used.setdefault(proxy, []).append(clock.monotonic())
        clock.move(0.1)

    for moments in used.values():
        pauses = [later - earlier for earlier, later in pairwise(moments)]
        assert min(pauses) >= REST - 1e-6
        assert len(moments) >= 6
