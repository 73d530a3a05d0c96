"""The composition root: settings in, a running platform out. Nothing else names back ends.

What fetches is here; what works from a store is in `engine`, with what that needs to be imported.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from penstock.app.extras import needed
from penstock.core.clock import Clock, SystemClock
from penstock.core.errors import PolicyError, SettingsError
from penstock.core.lock import only_process
from penstock.core.log import get_logger
from penstock.core.metrics import Metrics
from penstock.core.supervise import Supervisor
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission, Lookup, SystemLookup
from penstock.kernel.assembly import Parts, assemble
from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.circuits import Circuits, RuleSet
from penstock.kernel.fallback import FallbackBreaker, FallbackPacing, FallbackRobotsCache, Link
from penstock.kernel.fetchers.browser.fetcher import BrowserFetcher
from penstock.kernel.fetchers.browser.kept import KeptPages
from penstock.kernel.fetchers.browser.means import Means
from penstock.kernel.fetchers.browser.pool import BrowserPool
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.identity import Identities
from penstock.kernel.model import Proxy
from penstock.kernel.pacing import MemoryPacing
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.policy import Pace, PolicyBook, Rate
from penstock.kernel.ports import Breaker, Pacing, RobotsCache
from penstock.kernel.proxies import ProxyPool
from penstock.kernel.reader import Reader
from penstock.kernel.retry import Retry
from penstock.kernel.robots import MemoryRobotsCache, Robots
from penstock.kernel.settings import BreakerSettings, open_policies
from penstock.kernel.switches import Switchboard, Switches, keep_obeying
from penstock.quality.standalone import StandaloneJudge
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.store.proxy_keeper import ProxyKeeper

GRACE_SECONDS = 30.0
ONE_AT_A_TIME = (
    "another Penstock process on this machine is fetching, and the two would not know of each "
    "other's requests: wait for it, or let them share one ledger with PENSTOCK_SHARED__URL=redis://…"
)


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything that runs, put together."""

    settings: Settings
    clock: Clock
    chance: random.Random
    metrics: Metrics
    policies: PolicyBook
    proxies: ProxyPool
    pipeline: Pipeline
    switches: Switches
    circuits: Circuits
    pacing: Pacing
    supervisor: Supervisor
    #: Of all background work in this process, for its health.
    supervisors: list[Supervisor]
    browsers: BrowserPool[Any]
    #: Pages that stay open.
    pages: KeptPages
    #: Whether pages are opened in browsers by this process.
    has_browsers: bool


@dataclass(frozen=True, slots=True)
class _State:
    """What several processes may share."""

    pacing: Pacing
    circuits: Circuits
    robots: RobotsCache
    keep_beating: Callable[[], Awaitable[None]] | None = None
    #: Obeyed where there is no store.
    switches: Switchboard | None = None


@asynccontextmanager
async def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    lookup: Lookup | None = None,
    chance: random.Random | None = None,
    fetches: bool = True,
) -> AsyncIterator[Platform]:
    """Put a platform together and run its background work until the block is left."""
    clock = clock or SystemClock()
    chance = chance or random.Random()
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        if fetches and not settings.shared.url:
            stack.enter_context(only_process(settings.shared.lock_file, ONE_AT_A_TIME))
        if lookup is None:
            lookup = SystemLookup(settings.admission.dns_threads)
        admission = Admission(settings.admission, lookup)
        policies = open_book(settings)
        http = await stack.enter_async_context(HttpFetcher(settings.http, admission, clock))
        identities = Identities(settings.identity, chance)
        means = Means(settings.browser, identities, clock, chance, settings.http.max_bytes)
        browsers = await stack.enter_async_context(BrowserFetcher(means, admission))
        staying = replace(means, settings=settings.live.as_browser(settings.browser))
        pages = await stack.enter_async_context(KeptPages(staying, admission))
        state = await _state(settings, clock, stack)
        proxies = ProxyPool(settings.proxies, clock, state.pacing if settings.shared.url else None)
        switches = Switches()
        parts = Parts(
            admission=admission,
            policies=policies,
            robots=Robots(state.robots, settings.robots, clock),
            circuits=state.circuits,
            pacing=state.pacing,
            proxies=proxies,
            identities=identities,
            retry=_retry(settings, chance),
            reader=open_reader(settings),
            fetchers={http.name: http, browsers.name: browsers, pages.name: pages},
            switches=switches,
            clock=clock,
            metrics=metrics,
            http_settings=settings.http,
            pacing_settings=settings.pacing,
            robots_settings=settings.robots,
        )
        supervisor = await stack.enter_async_context(Supervisor(clock))
        board = state.switches
        if settings.store.exists:
            board, keeper = await _from_store(settings, clock, stack, proxies, seeds=fetches)
            supervisor.start("proxies of the store", keeper.keep)
            stack.push_async_callback(keeper.flush)
        _start_upkeep(supervisor, settings, parts, state, http)
        if board:
            look = board.paused
            supervisor.start("switches", lambda: keep_obeying(look, switches, clock))
        yield Platform(
            settings=settings,
            clock=clock,
            chance=chance,
            metrics=metrics,
            policies=policies,
            proxies=proxies,
            pipeline=assemble(parts),
            switches=switches,
            circuits=state.circuits,
            pacing=state.pacing,
            supervisor=supervisor,
            supervisors=[supervisor],
            browsers=browsers.pool,
            pages=pages,
            has_browsers=fetches and browsers.is_offered,
        )


def _start_upkeep(
    supervisor: Supervisor, settings: Settings, parts: Parts, state: _State, http: HttpFetcher
) -> None:
    """What is done beside fetching: policies, presence and proxies are kept up to date."""
    policies, proxies, clock = parts.policies, parts.proxies, parts.clock
    supervisor.start("policy reload", lambda: _reload_policies(policies, settings, clock))
    if state.keep_beating:
        supervisor.start("presence", state.keep_beating)
    if proxies.members or settings.store.exists:
        supervisor.start("proxy checks", lambda: proxies.keep_checking(http.test_proxy))


def _retry(settings: Settings, chance: random.Random) -> Retry:
    """How often attempts are repeated; some workloads have rules of their own."""
    own = {
        "stream": settings.stream.as_retry(),
        "catalog": settings.catalog.as_retry(),
        "live": settings.live.as_retry(),
    }
    return Retry(settings.retry, chance, own)


def open_book(settings: Settings) -> PolicyBook:
    """The policies of all domains, above the paces of the workloads."""
    paces = {
        "scrape": settings.scrape.as_policy(),
        "monitor": settings.monitor.as_policy(),
        "stream": settings.stream.as_policy(),
        "catalog": settings.catalog.as_policy(),
        "live": settings.live.as_policy(),
    }
    return open_policies(settings.pacing, settings.policies, paces)


async def _from_store(
    settings: Settings, clock: Clock, stack: AsyncExitStack, pool: ProxyPool, *, seeds: bool
) -> tuple[Switchboard, "ProxyKeeper"]:
    """Switches and proxies in the store, which is not opened for anything else here."""
    from penstock.store.proxies import open_box  # noqa: PLC0415 - heavy, and often not needed
    from penstock.store.proxy_keeper import ProxyKeeper  # noqa: PLC0415
    from penstock.store.store import open_store  # noqa: PLC0415
    from penstock.store.switches import StoredSwitches  # noqa: PLC0415

    store = await stack.enter_async_context(open_store(settings.store, clock))
    box = open_box(settings.proxies, settings.store)
    keeper = ProxyKeeper(store, pool, settings.proxies, box, clock, seeds=seeds)
    await keeper.begin()
    return StoredSwitches(store), keeper


async def _state(settings: Settings, clock: Clock, stack: AsyncExitStack) -> _State:
    """Pacing, breaker and robots: in this process, or shared through Redis."""
    # What is held during a fetch must outlast the longest one.
    pages = settings.browser.page_seconds + settings.browser.acquire_seconds
    longest = max(settings.http.timeout_seconds, pages) + GRACE_SECONDS
    lease = max(settings.pacing.lease_seconds, longest)
    rules = {"": settings.breaker, "stream": settings.stream.as_breaker()}
    # A probe that hangs holds its slot for as long as the longest fetch may take.
    rules = {
        name: rule.model_copy(update={"probe_seconds": max(rule.probe_seconds, longest)})
        for name, rule in rules.items()
    }
    local: dict[str, Breaker] = {name: MemoryBreaker(rule, clock) for name, rule in rules.items()}
    pacing = MemoryPacing(clock, lease)
    robots = MemoryRobotsCache(clock, settings.robots.cache_bytes)
    shared = settings.shared
    if not shared.url:
        return _State(pacing, _circuits(rules, local), robots)
    redis = _redis()
    server = await stack.enter_async_context(redis.connect(shared))
    link = Link(clock, shared.retry_seconds)
    safe = Pace((Rate(1, 1 / shared.safe_requests_per_second),), delay=0.0, concurrency=1)
    breakers: dict[str, Breaker] = {
        name: FallbackBreaker(redis.RedisBreaker(server, rule, clock), local[name], link)
        for name, rule in rules.items()
    }
    return _State(
        pacing=FallbackPacing(redis.RedisPacing(server, clock, lease), pacing, safe, link, clock),
        circuits=_circuits(rules, breakers),
        robots=FallbackRobotsCache(redis.RedisRobotsCache(server), robots, link),
        keep_beating=redis.Presence(server, clock).keep_beating,
        switches=redis.RedisSwitches(server, shared.prefix),
    )


def _circuits(rules: Mapping[str, BreakerSettings], breakers: Mapping[str, Breaker]) -> Circuits:
    """The platform's rule set, and those of workloads that have their own."""
    sets = {
        name: RuleSet(rule.rules, breakers[name], knocks=rule.probe == "head")
        for name, rule in rules.items()
    }
    return Circuits(sets.pop(""), sets)


def _redis() -> ModuleType:
    return needed("penstock.kernel.redis", "redis", "PENSTOCK_SHARED__URL")


async def _reload_policies(policies: PolicyBook, settings: Settings, clock: Clock) -> None:
    """Pick up changed policy files; a file with a mistake changes nothing but the log."""
    while True:
        await clock.sleep(settings.policies.reload_seconds)
        try:
            if policies.reload_if_changed():
                get_logger().warning("policies reloaded", domains=len(policies.entries))
        except PolicyError as error:
            get_logger().error("policies not reloaded; the old ones stay", error=str(error))


def open_reader(settings: Settings) -> Reader:
    """Penstock's adapters and those the settings name, and a judge of single pages."""
    registry = open_registry(settings.extract.adapters)
    return Reader(registry, StandaloneJudge(settings.quality))


async def check_shared(settings: Settings) -> None:
    """Raise if the server that is to hold the shared state does not answer."""
    async with AsyncExitStack() as stack:
        await _state(settings, SystemClock(), stack)


async def check_browser(settings: Settings) -> None:
    """Raise if no browser can be started."""
    clock, chance = SystemClock(), random.Random()
    identities = Identities(settings.identity, chance)
    means = Means(settings.browser, identities, clock, chance, settings.http.max_bytes)
    async with BrowserFetcher(means, Admission(settings.admission, SystemLookup(1))) as browsers:
        if trouble := await browsers.pool.check():
            raise SettingsError(trouble)


async def check_proxy(settings: Settings, proxy: Proxy) -> bool:
    """Whether a proxy accepts connections."""
    admission = Admission(settings.admission, SystemLookup(1))
    async with HttpFetcher(settings.http, admission, SystemClock()) as http:
        return await http.test_proxy(proxy)


@asynccontextmanager
async def shared_switches(settings: Settings) -> AsyncIterator[Switchboard]:
    """The switches on the server that processes share their state on."""
    redis = _redis()
    async with redis.connect(settings.shared) as server:
        yield redis.RedisSwitches(server, settings.shared.prefix)
