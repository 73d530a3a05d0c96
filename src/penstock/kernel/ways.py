"""Step 7 of the path: by which fetcher and through which proxy a site is contacted."""

from collections.abc import Mapping

from penstock.core.clock import Clock
from penstock.kernel.model import Blocked, Failure, Proxy, ProxyFailed, Request, Visit, Wait
from penstock.kernel.ports import Fetcher
from penstock.kernel.proxies import ProxyPool
from penstock.kernel.reader import Reader


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
        """Whether the page is an empty shell, and its policy lets a browser fill it."""
        return (
            isinstance(failure, Blocked)
            and failure.reason == "empty_shell"
            and visit.policy.fetcher == "auto"
            and "browser" in self._fetchers
            and self.fetcher_for(visit) == "http"
            and not visit.request.fetcher
        )

    def choose_proxy(self, visit: Visit) -> Proxy | ProxyFailed | None:
        """One proxy for all hops of an attempt; cookies do not survive a change of it."""
        choice, kept = visit.policy.proxy, visit.proxy
        if kept and choice.use == "always" and choice.region in (None, kept.region):
            return kept
        chosen = None
        if choice.use == "always":
            chosen = self._proxies.lease(visit.domain, choice.region, visit.failed_proxies)
        if not isinstance(chosen, ProxyFailed) and chosen != kept:
            visit.proxy, visit.cookies = chosen, {}
        return chosen

    def judge_proxy(self, visit: Visit, proxy: Proxy, failure: Failure | None) -> None:
        """Tell the pool how a proxy did; one that failed is not used by this visit again."""
        if isinstance(failure, ProxyFailed):
            self._proxies.failed(proxy)
            visit.failed_proxies += (proxy,)
            visit.proxy = None
        else:
            self._proxies.succeeded(proxy)

    def _look_at_proxies(self, visit: Visit) -> Wait | None:
        choice = visit.policy.proxy
        if choice.use == "never" or visit.proxy:
            return None
        seconds = self._proxies.look(visit.domain, choice.region)
        if seconds is None:
            return None
        return Wait(self._clock.monotonic() + seconds, "proxy", "every proxy rests for this domain")

    def _look_at_fetcher(self, visit: Visit) -> Wait | None:
        fetcher = self._fetchers.get(self.fetcher_for(visit))
        seconds = fetcher.look() if fetcher else None
        if seconds is None:
            return None
        return Wait(self._clock.monotonic() + seconds, "browser", "every browser is busy", False)


def _asks_for_browser(request: Request) -> bool:
    """Whether only a browser can do what is asked for."""
    return bool(request.wait_for or request.scroll or request.screenshot)
