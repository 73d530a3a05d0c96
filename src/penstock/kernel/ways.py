"""Step 7 of the path: by which fetcher and through which proxy a site is contacted."""

from collections.abc import Mapping

from penstock.core.clock import Clock
from penstock.kernel.model import Blocked, Failure, Proxy, ProxyFailed, Request, Visit, Wait
from penstock.kernel.ports import Fetcher, NotNow
from penstock.kernel.proxies import Carried, ProxyPool
from penstock.kernel.reader import Reader

PROXIES_REST = "proxies_rest"
RESTING = "every proxy rests for this domain"


class Ways:
    """Chooses among our fetchers and proxies, and knows which of them are free."""

    def __init__(
        self, fetchers: Mapping[str, Fetcher], proxies: ProxyPool, reader: Reader, clock: Clock
    ) -> None:
        self._fetchers = fetchers
        self._proxies = proxies
        self._reader = reader
        self._clock = clock

    def look(self, visit: Visit) -> Wait | None:
        """None if a visit could go; else when to look again. Spends nothing."""
        return self._look_at_proxies(visit) or self._look_at_fetcher(visit)

    def lacks(self, visit: Visit) -> str:
        """What is missing for a visit that must go through a proxy; empty if nothing is."""
        choice = visit.policy.proxy
        return self._proxies.lack(choice.region) if choice.use == "always" else ""

    def fetcher_named(self, name: str) -> Fetcher | None:
        """The fetcher of this name, if this process has it."""
        return self._fetchers.get(name)

    def fetcher_for(self, visit: Visit) -> str:
        """Which fetcher gets the page: the caller says, else the policy, else the adapter."""
        request, policy = visit.request, visit.policy
        if visit.errand:
            return "http"
        if chosen := visit.fetcher or request.fetcher:
            return chosen
        if "fetcher" in policy.said_by:
            return "http" if policy.fetcher == "auto" else policy.fetcher
        if _asks_for_browser(request):
            return "browser"
        if request.extract is not None and self._reader.needs_browser(visit.url, request.extract):
            return "browser"
        return "http"

    def needs_browser_after_all(self, visit: Visit, failure: Failure | None) -> bool:
        """Whether the page is an empty shell that a browser may fill."""
        return (
            isinstance(failure, Blocked)
            and failure.reason == "empty_shell"
            and _may_escalate(visit)
            and "browser" in self._fetchers
            and self.fetcher_for(visit) == "http"
            and not visit.request.fetcher
        )

    async def choose_proxy(self, visit: Visit) -> Proxy | ProxyFailed | None:
        """One proxy for all hops of an attempt; cookies do not survive a change of it.

        Raises `NotNow` if all that could be used rest for the domain.
        """
        if self._keeps_proxy(visit):
            return await self._use_again(visit)
        chosen = None
        if visit.policy.proxy.use == "always":
            chosen = await self._lease(visit)
        if not isinstance(chosen, ProxyFailed) and chosen != visit.proxy:
            visit.proxy, visit.cookies = chosen, {}
        return chosen

    def judge_proxy(
        self,
        visit: Visit,
        proxy: Proxy,
        failure: Failure | None,
        carried: Carried | None = None,
    ) -> None:
        """Tell the pool how a proxy did; one that failed is not used by this visit again."""
        if isinstance(failure, ProxyFailed):
            self._proxies.failed(proxy)
            visit.failed_proxies += (proxy,)
            visit.proxy = None
        else:
            self._proxies.succeeded(proxy, carried)

    def _keeps_proxy(self, visit: Visit) -> bool:
        choice, kept = visit.policy.proxy, visit.proxy
        if kept is None or choice.use == "never":
            return False
        return choice.region in (None, kept.region)

    async def _lease(self, visit: Visit) -> Proxy | ProxyFailed:
        choice, domain = visit.policy.proxy, visit.domain
        wish = choice.region, visit.failed_proxies, choice.rest_seconds
        while isinstance(proxy := self._proxies.lease(domain, *wish), Proxy):
            rest = choice.rest_seconds
            if rest is None or await self._proxies.is_rested(proxy, domain, rest):
                return proxy
        if (seconds := self._proxies.look(domain, *wish)) is not None:
            raise NotNow(PROXIES_REST, RESTING, seconds)
        return proxy

    async def _use_again(self, visit: Visit) -> Proxy | None:
        """The proxy of the attempt, which a further hop must not use too often either."""
        proxy, domain, rest = visit.proxy, visit.domain, visit.policy.proxy.rest_seconds
        if proxy is None or rest is None:
            return proxy
        seconds = self._proxies.lease_again(proxy, domain, rest)
        if seconds is None and not await self._proxies.is_rested(proxy, domain, rest):
            seconds = self._proxies.rest_of(proxy, domain, rest) or 0.0
        if seconds is not None:
            raise NotNow(PROXIES_REST, RESTING, seconds)
        return proxy

    def _look_at_proxies(self, visit: Visit) -> Wait | None:
        choice = visit.policy.proxy
        if choice.use == "never":
            return None
        seconds = None
        if visit.proxy is None:
            seconds = self._proxies.look(visit.domain, choice.region, rest=choice.rest_seconds)
        elif choice.rest_seconds is not None:
            seconds = self._proxies.rest_of(visit.proxy, visit.domain, choice.rest_seconds)
        if seconds is None:
            return None
        return Wait(self._clock.monotonic() + seconds, "proxy", RESTING)

    def _look_at_fetcher(self, visit: Visit) -> Wait | None:
        fetcher = self._fetchers.get(self.fetcher_for(visit))
        seconds = fetcher.look() if fetcher else None
        if seconds is None:
            return None
        return Wait(self._clock.monotonic() + seconds, "browser", "every browser is busy", False)


def _may_escalate(visit: Visit) -> bool:
    """What a policy says about fetchers goes before what a request would like."""
    if "fetcher" in visit.policy.said_by:
        return visit.policy.fetcher == "auto"
    return visit.request.escalates


def _asks_for_browser(request: Request) -> bool:
    """Whether only a browser can do what is asked for."""
    return bool(request.wait_for or request.scroll or request.screenshot)
