"""Steps 7 to 9 of the path: a site is contacted once, and its answer is a page or a failure."""

from penstock.core.clock import Clock
from penstock.core.urls import parse
from penstock.kernel import blocks, statuses
from penstock.kernel.belongings import browsing_for, headers_for
from penstock.kernel.chronicle import Chronicle
from penstock.kernel.circuits import Circuits
from penstock.kernel.identity import Identities
from penstock.kernel.model import (
    Blocked,
    Failure,
    Page,
    Pass,
    Proxy,
    ProxyFailed,
    RateLimited,
    Redirect,
    Refused,
    Visit,
)
from penstock.kernel.ports import Fetcher, Hop, NotNow
from penstock.kernel.proxies import Carried
from penstock.kernel.switches import Switches
from penstock.kernel.ways import Ways

TASK_TIMEOUT = Refused("task_timeout", "the time that the caller grants is over", gate="timeout")
#: Fetchers that open pages in browsers.
IN_BROWSERS = frozenset({"browser", "kept"})
#: What came back, if anything did, and why it is no page, if it is none.
Answer = tuple[Page | Redirect | None, Failure | None]


class Contact:
    """Contacts sites, one hop at a time; whatever happens, breaker and proxy pool hear of it."""

    def __init__(
        self,
        *,
        ways: Ways,
        identities: Identities,
        circuits: Circuits,
        switches: Switches,
        chronicle: Chronicle,
        clock: Clock,
        max_robots_bytes: int,
        max_retry_after: float,
    ) -> None:
        self._ways = ways
        self._identities = identities
        self._circuits = circuits
        self._switches = switches
        self._chronicle = chronicle
        self._clock = clock
        self._max_robots_bytes = max_robots_bytes
        self._max_retry_after = max_retry_after

    async def make(self, visit: Visit, leave: Pass) -> Answer:
        """Contact what the visit contacts next, with the breaker's leave.

        Raises `Paused` if somebody broke it off, and `NotNow` if a fetcher of ours could not.
        """
        well: bool | None = None
        began = self._clock.monotonic()
        try:
            proxy = await self._ways.choose_proxy(visit)
            if isinstance(proxy, ProxyFailed):
                return None, proxy
            sent = self._clock.monotonic()
            answer = await self._fetch(visit, proxy)
            reply, failure = self._examine(visit, answer)
            well = _site_is_well(visit, failure)
            if proxy:
                self._ways.judge_proxy(visit, proxy, failure, self._carried(visit, reply, sent))
            return reply, failure
        except NotNow:
            # The caller has lost this time, the site has not used it.
            visit.spent_before += self._clock.monotonic() - began
            began = self._clock.monotonic()
            raise
        finally:
            if not visit.errand:
                visit.spent += self._clock.monotonic() - began
            await self._tell_breaker(visit, leave, well)

    async def knock(self, visit: Visit, leave: Pass) -> Failure | None:
        """Ask the root of a site that was down whether it is up again; the breaker hears of it.

        A failure that says nothing about the site is handed back: it is the visit's own.
        """
        well: bool | None = None
        try:
            proxy = await self._ways.choose_proxy(visit)
            if isinstance(proxy, ProxyFailed):
                return proxy
            answer = await self._knock(visit, proxy)
            self._chronicle.say(visit, "probe", _called(answer))
            failure = answer if isinstance(answer, Failure) else None
            if proxy:
                self._ways.judge_proxy(visit, proxy, failure)
            if visit.knock == "HEAD" and _refuses_method(answer):
                # Nothing is known yet: the next probe asks in the other way.
                visit.knock = "GET"
                return None
            well = _is_answered(answer)
            return failure if well is None else None
        finally:
            await self._tell_breaker(visit, leave, well)

    async def _knock(self, visit: Visit, proxy: Proxy | None) -> Page | Redirect | Failure:
        fetcher = self._ways.fetcher_named("http")
        if fetcher is None:
            return Refused("no_fetcher", "there is no fetcher 'http'", gate="fetch")
        hop = Hop(
            url=parse(f"{visit.next_url.origin}/"),
            headers=self._identities.honest(),
            timeout=fetcher.patience,
            method=visit.knock,
            proxy=proxy,
            max_bytes=self._max_robots_bytes,
            truncate=True,
        )
        return await self._switches.contact(visit.domain, fetcher.fetch(hop))

    async def _tell_breaker(self, visit: Visit, leave: Pass, well: bool | None) -> None:
        turned = await self._circuits.report(visit, leave, well=well)
        rules = self._circuits.rules_for(visit).name
        if leave.probe and well is not None:
            self._chronicle.probed(rules, well)
        if turned:
            self._chronicle.turned(visit.domain, rules, turned)

    # 8 ── fetch

    async def _fetch(self, visit: Visit, proxy: Proxy | None) -> Page | Redirect | Failure:
        name = self._ways.fetcher_for(visit)
        fetcher = self._ways.fetcher_named(name)
        if fetcher is None:
            return Refused("no_browser", f"there is no fetcher '{name}'", gate="fetch")
        patience = fetcher.patience - (0.0 if visit.errand else visit.spent)
        left = None if visit.errand else visit.time_left
        timeout = max(0.001, patience if left is None else min(patience, left))
        hop = self._hop(visit, proxy, fetcher, timeout)
        reply = await self._switches.contact(visit.domain, fetcher.fetch(hop))
        if left is not None and left < patience and _is_time_out(reply):
            return TASK_TIMEOUT
        if isinstance(reply, Page) and not visit.errand:
            self._chronicle.fetched(fetcher.name, reply)
        return reply

    def _hop(self, visit: Visit, proxy: Proxy | None, fetcher: Fetcher, timeout: float) -> Hop:
        is_errand = visit.errand is not None
        return Hop(
            url=visit.next_url,
            headers=headers_for(visit, proxy, self._identities),
            timeout=timeout,
            proxy=proxy,
            max_bytes=self._max_robots_bytes if is_errand else None,
            truncate=is_errand,
            browsing=browsing_for(visit, proxy) if fetcher.name in IN_BROWSERS else None,
        )

    def _carried(self, visit: Visit, reply: Page | Redirect | None, sent: float) -> Carried | None:
        """What an answer asked of its proxy; nothing if there was none."""
        if reply is None:
            return None
        size = 0
        if isinstance(reply, Page):
            # Of robots.txt no more is read than is wanted, whatever the site says.
            size = len(reply.body) if visit.errand else _size_on_the_way(reply)
        return Carried(self._clock.monotonic() - sent, size)

    # 9 ── blocks

    def _examine(self, visit: Visit, answer: Page | Redirect | Failure) -> Answer:
        """Whether an answer is a page: a good status, and no block whatever the status."""
        if isinstance(answer, Failure):
            return None, answer
        if isinstance(answer, Redirect):
            return answer, None
        failure = statuses.failure_of(answer, self._clock.now, self._max_retry_after)
        if not visit.errand and not isinstance(failure, RateLimited):
            failure = blocks.detect(answer) or failure
        return answer, failure


def _site_is_well(visit: Visit, failure: Failure | None) -> bool | None:
    """What the breaker is told; None if nothing was learnt about the site."""
    if failure is None:
        return True
    if isinstance(failure, Blocked):
        return False if visit.policy.blocks_count else None
    return {"well": True, "ill": False}.get(failure.site_is)


def _is_answered(answer: Page | Redirect | Failure) -> bool | None:
    """What a knock says of a site: any answer is a good one, but for errors of its own."""
    if isinstance(answer, Failure):
        return {"well": True, "ill": False}.get(answer.site_is)
    return isinstance(answer, Redirect) or answer.status < statuses.FIRST_SERVER_ERROR


def _size_on_the_way(page: Page) -> int:
    """How large a body was before it was decoded, as far as the site said so."""
    declared = page.headers.get("Content-Length", "")
    is_encoded = "Content-Encoding" in page.headers and page.fetcher == "http"
    return int(declared) if is_encoded and declared.isdecimal() else len(page.body)


def _refuses_method(answer: Page | Redirect | Failure) -> bool:
    return isinstance(answer, Page) and answer.status in statuses.NO_SUCH_METHOD


def _called(answer: Page | Redirect | Failure) -> str:
    return answer.reason if isinstance(answer, Failure) else str(answer.status)


def _is_time_out(reply: Page | Redirect | Failure) -> bool:
    return isinstance(reply, Failure) and reply.reason in ("timeout", "page_hung")
