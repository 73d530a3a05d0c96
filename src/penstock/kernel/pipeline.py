"""The path of a URL, from a request to a judged record, in the order in which it is walked.

    1 request   2 admission   3 robots   4 hours   5 breaker   6 pacing
    7 proxy and identity   8 fetch   9 blocks   10 extract   11 judge

`admit` is step 2. `advance` walks on from wherever a visit stands and returns when it is
over (`Outcome`) or has to wait (`Wait`): waiting is the caller's business and costs nothing
here. Steps 12 and 13 build on the outcome.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ParamSpec

from penstock.core.clock import Clock
from penstock.core.errors import UrlError
from penstock.core.log import get_logger
from penstock.core.metrics import Metrics
from penstock.core.trace import trace_id
from penstock.core.urls import Url, parse
from penstock.kernel import blocks, headers, hours, statuses
from penstock.kernel.admission import Admission, refusal
from penstock.kernel.identity import Identities
from penstock.kernel.model import (
    NO_HEADERS,
    Blocked,
    Broken,
    Errand,
    Failure,
    Outcome,
    Page,
    Pass,
    Proxy,
    ProxyFailed,
    RateLimited,
    Redirect,
    Refused,
    Request,
    Said,
    SoFar,
    UrlSpecific,
    Visit,
    Wait,
)
from penstock.kernel.policy import DomainPolicy, Pace, PolicyBook, Rate
from penstock.kernel.ports import Breaker, Browsing, Fetcher, Hop, NotNow, Pacing, RobotsAnswer
from penstock.kernel.proxies import ProxyPool
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading
from penstock.kernel.retry import Retry
from penstock.kernel.robots import Robots, Rules, read
from penstock.kernel.settings import HttpSettings, PacingSettings, RobotsSettings
from penstock.kernel.switches import Paused, Switches

#: While somebody else asks for the robots.txt, look again after so many seconds.
ROBOTS_PATIENCE = 0.1
#: While somebody paused us, look again after so many seconds.
PAUSE_PATIENCE = 0.5
#: Bytes of a page that are read in no time to speak of.
LONG_PAGE = 250_000
#: Pages of a site that are read to complete the record of one.
MOST_FURTHER = 3
#: A slot is kept through the wait for the next hop only if that is short.
LONGEST_KEPT_SLOT = 60.0

#: After so many lost browsers it may be the page that does it.
MOST_CRASHES = 2
TASK_TIMEOUT = Refused("task_timeout", "the time that the caller grants is over", gate="timeout")

#: What is no URL contacts nobody and need not stand in anybody's line.
NO_LINE, NO_LINE_LIMIT = "", 64
NO_PACE = Pace((Rate(1000, 1.0),), delay=0.0, concurrency=NO_LINE_LIMIT)

#: A line is only where a request waits, so a host in its plain spelling need not be parsed.
_PLAIN_HOST = re.compile(r"https?://([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?/")


P = ParamSpec("P")


class Pipeline:
    """Takes visits along the path; holds no visit itself, so any number can be under way."""

    def __init__(
        self,
        *,
        admission: Admission,
        policies: PolicyBook,
        robots: Robots,
        breaker: Breaker,
        pacing: Pacing,
        proxies: ProxyPool,
        identities: Identities,
        retry: Retry,
        reader: Reader,
        fetchers: Mapping[str, Fetcher],
        clock: Clock,
        metrics: Metrics,
        http: HttpSettings,
        pacing_settings: PacingSettings,
        robots_settings: RobotsSettings,
        switches: Switches,
    ) -> None:
        self._admission = admission
        self._policies = policies
        self._robots = robots
        self._breaker = breaker
        self._pacing = pacing
        self._proxies = proxies
        self._identities = identities
        self._retry = retry
        self._reader = reader
        self._fetchers = fetchers
        self._clock = clock
        self._metrics = metrics
        self._http = http
        self._pacing_settings = pacing_settings
        self._robots_settings = robots_settings
        self._switches = switches
        self._log = get_logger().bind()

    async def run(self, request: Request) -> Outcome:
        """Walk the whole path, waiting on the spot where it has to be waited."""
        visit = self.admit(request)
        while isinstance(visit, Visit):
            step = await self.advance(visit)
            if isinstance(step, Outcome):
                return step
            await self._clock.sleep(step.until - self._clock.monotonic())
        return visit

    async def rules_for(self, request: Request, patience: float) -> Rules | Failure:
        """What robots.txt says at a URL's origin; got politely if it is not known yet."""
        visit = self.admit(request)
        if isinstance(visit, Outcome):
            return visit.failure or Refused("not_admitted")
        try:
            while (rules := await self._robots.known(visit.url.origin)) is None:
                visit.policy = replace(visit.policy, respect_robots=True)
                step = await self._step(visit)
                pause = step.until - self._clock.monotonic() if isinstance(step, Wait) else 0.0
                if isinstance(step, Wait) and pause > patience:
                    step = await self.give_up(visit, step)
                if isinstance(step, Outcome):
                    return step.failure or Refused("not_admitted")
                if step:
                    await self._clock.sleep(pause)
        finally:
            await self.let_go(visit)
        return rules

    # 2 ── admission

    def line_of(self, request: Request) -> tuple[str, int]:
        """The line a request has to stand in, and how many of that line may go at once."""
        policy = self._policy_of(request)
        return (policy.ledger, policy.pace.concurrency) if policy else (NO_LINE, NO_LINE_LIMIT)

    def pace_of(self, request: Request) -> Pace:
        """How fast the line of a request may move, as far as is known beforehand."""
        policy = self._policy_of(request)
        return policy.pace if policy else NO_PACE

    def _policy_of(self, request: Request) -> DomainPolicy | None:
        try:
            plain = _PLAIN_HOST.match(request.url)
            host = plain[1] if plain else parse(request.url).host
        except UrlError:
            return None
        return self._policies.look_up(host, request.workload)

    def admit(self, request: Request) -> Visit | Outcome:
        """Parse the URL, once, and see whether it may be contacted at all."""
        try:
            url = parse(request.url)
        except UrlError as error:
            return self._announce(
                Outcome(request, None, refusal(error), (Said("admission", "refused", 0.0),))
            )
        policy = self._policies.look_up(url.host, request.workload)
        visit = Visit(request, url, policy, began=self._clock.monotonic())
        refused = self._admission.check(url) or _check_headers(request)
        if refused:
            self._say(visit, "admission", "refused")
            return self._close(visit, refused)
        self._say(visit, "admission", "ok")
        return visit

    # 3 to 9, as often as hops and attempts ask for it

    async def advance(self, visit: Visit) -> Outcome | Wait:
        """Walk on until the visit is over or has to wait."""
        self._look_up_policy(visit)
        try:
            while True:
                if (step := await self._step(visit)) is not None:
                    return step
        except asyncio.CancelledError:
            await self.let_go(visit)
            raise

    async def _step(self, visit: Visit) -> Outcome | Wait | None:
        """Pass the gates, contact the site once, see what it means; None means: go on."""
        leave = await self._pass_gates(visit)
        if isinstance(leave, Wait):
            return await self._step_aside(visit, leave)
        if isinstance(leave, Failure):
            if visit.so_far:
                return await self._do_without(visit, visit.so_far, leave)
            return await self._finish(visit, leave)
        try:
            reply, failure = await self._contact(visit, leave)
        except Paused:
            return await self._step_aside(visit, self._on_pause(visit))
        except NotNow as trouble:
            return await self._on_trouble(visit, trouble)
        if visit.errand:
            after = await self._mind_robots(visit, visit.errand, reply, failure)
        else:
            after = await self._mind_page(visit, reply, failure)
        return await self._step_aside(visit, after) if isinstance(after, Wait) else after

    async def give_up(self, visit: Visit, wait: Wait) -> Outcome:
        """End a visit whose caller will not wait as long as a gate asks for."""
        reasons = {
            "hours": "outside_hours",
            "breaker": "circuit_open",
            "retry": "rate_limited",
            "browser": "pool_exhausted",
            "crash": "browser_crashed",
        }
        reason = reasons.get(wait.gate, f"no_turn_{wait.gate}")
        return await self._finish(visit, Refused(reason, wait.why, gate=wait.gate))

    async def fail(self, visit: Visit, error: Exception) -> Outcome:
        """End a visit that a fault of our own got in the way of."""
        return await self._finish(visit, Broken("internal_error", repr(error)))

    async def let_go(self, visit: Visit) -> None:
        """Give back everything that a visit holds; for one that will not be walked on."""
        await self._drop_errand(visit)
        await self._leave(visit)

    async def _pass_gates(self, visit: Visit) -> Failure | Wait | Pass:
        """Steps 3 to 6; a `Pass` means that the turn is now."""
        if self._switches.is_paused(visit.domain):
            return self._on_pause(visit)
        rules = None
        if visit.policy.respect_robots and visit.errand is None:
            rules = await self._robots.known(visit.url.origin)
            if rules is None:
                if wait := await self._send_for_robots(visit):
                    return wait
            elif refused := self._ask_robots(visit, rules):
                return refused
        wait = (
            self._ask_hours(visit)
            or await self._ask_breaker(visit)
            or self._ask_proxy(visit)
            or self._ask_fetcher(visit)
        )
        return wait or await self._take_turn(visit, rules)

    def _on_pause(self, visit: Visit) -> Wait:
        until = self._clock.monotonic() + PAUSE_PATIENCE
        return Wait(until, "pause", f"contact with {visit.domain} is paused")

    # 3 ── robots

    async def _send_for_robots(self, visit: Visit) -> Wait | None:
        """The robots.txt is not known: get it first, paced and admitted like any page."""
        origin = visit.url.origin
        if not await self._robots.claim(origin):
            until = self._clock.monotonic() + ROBOTS_PATIENCE
            return Wait(until, "robots", "its robots.txt is being fetched")
        if await self._robots.known(origin):
            # Another process had it just before we claimed it.
            await self._robots.forgo(origin)
            return Wait(self._clock.monotonic(), "robots", "its robots.txt was just fetched")
        visit.errand = Errand(origin, parse(f"{origin}/robots.txt"), tries=visit.robots_tries)
        return None

    def _ask_robots(self, visit: Visit, rules: Rules) -> Refused | None:
        policy, product = visit.policy, self._identities.product
        if rules.answer.status == "unreachable":
            if policy.robots_unreachable == "allow":
                self._say(visit, "robots", "unreachable (allowed by policy)")
                return None
            self._say(visit, "robots", "unreachable")
            return Refused("robots_unreachable", rules.answer.detail, gate="robots")
        if rules.file.allows(visit.url.target, product, obey_star=policy.obey_star):
            self._say(visit, "robots", "allowed")
            return None
        decision = rules.file.decide(visit.url.target, product, obey_star=policy.obey_star)
        self._say(visit, "robots", "denied")
        return Refused("robots_denied", str(decision), gate="robots")

    async def _mind_robots(
        self, visit: Visit, errand: Errand, reply: Page | Redirect | None, failure: Failure | None
    ) -> Outcome | Wait | None:
        """Learn from what came back for robots.txt; None means: on with the visit."""
        if isinstance(reply, Redirect):
            return await self._follow_robots(visit, errand, reply)
        if isinstance(failure, Refused) and not errand.hops:
            return await self._finish(visit, failure)
        if isinstance(failure, ProxyFailed):
            # Says nothing about the site, so there is nothing to learn.
            return await self._try_again(visit, failure)
        if isinstance(failure, UrlSpecific):
            await self._learn(visit, errand, RobotsAnswer("allow"))
            return None
        if failure is None and reply is not None:
            text = read(reply.body, self._robots_settings.max_bytes)
            await self._learn(visit, errand, RobotsAnswer("rules", text))
            return None
        return await self._robots_unreachable(visit, errand, failure)

    async def _follow_robots(self, visit: Visit, errand: Errand, hop: Redirect) -> Wait | None:
        errand.hops += 1
        target = self._resolve(errand.url, hop.location)
        if errand.hops > self._robots_settings.max_redirects:
            target = Broken("too_many_redirects", "too many redirects")
        if isinstance(target, Failure):
            # Asking again would lead to the same place.
            errand.tries = self._robots_settings.tries
            return await self._robots_unreachable(visit, errand, target)
        errand.url = target
        self._look_up_policy(visit)
        return None

    async def _robots_unreachable(
        self, visit: Visit, errand: Errand, failure: Failure | None
    ) -> Wait | None:
        """Try again a few times; then the answer is that there is none, for a while."""
        errand.tries += 1
        detail = f"robots.txt cannot be had: {failure.detail if failure else 'no answer'}"
        if isinstance(failure, RateLimited):
            await self._slow_down(visit, failure)
        if errand.tries < self._robots_settings.tries:
            errand.url, errand.hops = parse(f"{errand.origin}/robots.txt"), 0
            self._look_up_policy(visit)
            pause = self._robots_settings.retry_seconds * 2 ** (errand.tries - 1)
            return Wait(self._clock.monotonic() + pause, "robots", detail)
        answer = RobotsAnswer("unreachable", tries=errand.tries, detail=detail)
        await self._learn(visit, errand, answer)
        return None

    async def _learn(self, visit: Visit, errand: Errand, answer: RobotsAnswer) -> None:
        await self._robots.learn(errand.origin, answer)
        self._say(visit, "robots.txt", answer.status)
        visit.errand, visit.robots_tries = None, 0
        self._look_up_policy(visit)

    # 4 ── hours

    def _ask_hours(self, visit: Visit) -> Wait | None:
        window = visit.policy.hours
        if window is None:
            return None
        now = self._clock.now()
        if hours.is_open(window, now):
            self._say(visit, "hours", "open")
            return None
        opening = hours.next_opening(window, now)
        until = self._clock.monotonic() + (opening - now).total_seconds()
        return Wait(until, "hours", f"{visit.domain} is closed until {opening:%H:%M} UTC")

    # 5 ── breaker

    async def _ask_breaker(self, visit: Visit) -> Wait | None:
        seconds = await self._breaker.look(visit.domain)
        if seconds is None:
            self._say(visit, "breaker", "closed")
            return None
        return self._circuit_open(visit, seconds)

    def _circuit_open(self, visit: Visit, seconds: float) -> Wait:
        until = self._clock.monotonic() + seconds
        return Wait(until, "breaker", f"{visit.domain} is down; next try in {seconds:.0f} s")

    # 6 ── pacing

    async def _take_turn(self, visit: Visit, rules: Rules | None) -> Wait | Pass:
        """Reserve the next turn; the caller comes back for it through all gates again."""
        pace = visit.policy.pace
        if rules is not None:
            star = visit.policy.obey_star
            pace = pace.apart(self._robots.delay(rules, self._identities.product, obey_star=star))
        if visit.ticket and visit.ticket.ledger != visit.ledger:
            await self._leave(visit)
        visit.ticket = await self._pacing.reserve(visit.ledger, pace, visit.ticket)
        if not visit.ticket.granted:
            return Wait(visit.ticket.at, "pacing", "waiting for its turn")
        self._say(visit, "pacing", "turn")
        leave = await self._breaker.enter(visit.domain)
        if isinstance(leave, Pass):
            return leave
        return self._circuit_open(visit, leave)

    async def _slow_down(self, visit: Visit, failure: RateLimited) -> float:
        """Half the rate for a while, and nothing at all for as long as the site asked."""
        seconds = failure.retry_after or self._retry.backoff(visit.attempt)
        await self._pacing.slow_down(visit.ledger, self._pacing_settings.backoff_seconds)
        await self._pacing.hold(visit.ledger, seconds)
        return seconds

    # 7 ── proxy and identity

    def _ask_proxy(self, visit: Visit) -> Wait | None:
        choice = visit.policy.proxy
        if choice.use == "never" or visit.proxy:
            return None
        seconds = self._proxies.look(visit.domain, choice.region)
        if seconds is None:
            return None
        return Wait(self._clock.monotonic() + seconds, "proxy", "every proxy rests for this domain")

    def _choose_proxy(self, visit: Visit) -> Proxy | ProxyFailed | None:
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

    def _headers(self, visit: Visit, proxy: Proxy | None) -> Mapping[str, str]:
        """Who we are and what the policy adds; the caller's own only for the caller's origin."""
        request = visit.request
        if visit.errand:
            return self._identities.honest()
        if visit.policy.identity == "browser":
            headers = self._identities.browser_like(proxy.region if proxy else None)
        else:
            headers = self._identities.honest()
        own = request.headers if request.headers and self._at_home(visit) else NO_HEADERS
        conditions = NO_HEADERS if visit.hops else request.conditions
        cookies = _cookie_header(self._cookies(visit))
        if not (visit.policy.headers or own or conditions or cookies):
            return headers
        return {**headers, **dict(visit.policy.headers), **own, **conditions, **cookies}

    def _cookies(self, visit: Visit) -> Mapping[str, str]:
        """The caller's cookies for the caller's origin, and what the site gave on the way."""
        own = visit.request.cookies
        given = visit.cookies.get(visit.url.origin, NO_HEADERS) if visit.cookies else NO_HEADERS
        return {**own, **given} if own and self._at_home(visit) else given

    def _at_home(self, visit: Visit) -> bool:
        """Whether the visit is at the origin that the caller named."""
        return not visit.hops or visit.url.origin == parse(visit.request.url).origin

    # 8 ── fetch

    def _fetcher_for(self, visit: Visit) -> str:
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

    def _ask_fetcher(self, visit: Visit) -> Wait | None:
        fetcher = self._fetchers.get(self._fetcher_for(visit))
        seconds = fetcher.look() if fetcher else None
        if seconds is None:
            return None
        return Wait(self._clock.monotonic() + seconds, "browser", "every browser is busy", False)

    async def _on_trouble(self, visit: Visit, trouble: NotNow) -> Outcome | Wait:
        """A fetcher of ours could not do it; that is no attempt, but it has to end sometime."""
        self._say(visit, "fetch", trouble.reason)
        if trouble.reason == "browser_crashed":
            visit.crashes += 1
            if visit.crashes > MOST_CRASHES:
                return await self._finish(visit, Broken(trouble.reason, str(trouble)))
        if visit.time_left is not None and visit.time_left <= 0:
            return await self._finish(visit, TASK_TIMEOUT)
        until = self._clock.monotonic() + trouble.seconds
        gate = "crash" if trouble.reason == "browser_crashed" else "browser"
        return await self._step_aside(visit, Wait(until, gate, str(trouble), line=False))

    async def _contact(
        self, visit: Visit, leave: Pass
    ) -> tuple[Page | Redirect | None, Failure | None]:
        """Contact the site once; whatever happens, the breaker and the proxy pool hear of it."""
        proxy = self._choose_proxy(visit)
        well: bool | None = None
        began = self._clock.monotonic()
        try:
            if isinstance(proxy, ProxyFailed):
                return None, proxy
            answer = await self._fetch(visit, proxy)
            reply, failure = self._examine(visit, answer)
            well = self._site_is_well(visit, failure)
            if proxy:
                self._judge_proxy(visit, proxy, failure)
            return reply, failure
        except NotNow:
            # The caller has lost this time, the site has not used it.
            visit.spent_before += self._clock.monotonic() - began
            began = self._clock.monotonic()
            raise
        finally:
            if not visit.errand:
                visit.spent += self._clock.monotonic() - began
            await self._breaker.report(leave, well=well)

    async def _fetch(self, visit: Visit, proxy: Proxy | None) -> Page | Redirect | Failure:
        errand = visit.errand
        name = self._fetcher_for(visit)
        fetcher = self._fetchers.get(name)
        if fetcher is None:
            return Refused("no_browser", f"there is no fetcher '{name}'", gate="fetch")
        timeout = fetcher.patience - (0.0 if errand else visit.spent)
        left = None if errand else visit.time_left
        hop = Hop(
            url=visit.next_url,
            headers=self._headers(visit, proxy),
            timeout=max(0.001, timeout if left is None else min(timeout, left)),
            proxy=proxy,
            max_bytes=self._robots_settings.max_bytes if errand else None,
            truncate=errand is not None,
            browsing=self._browsing(visit, proxy) if name == "browser" else None,
        )
        reply = await self._switches.contact(visit.domain, fetcher.fetch(hop))
        if left is not None and left < timeout and _is_time_out(reply):
            return TASK_TIMEOUT
        if isinstance(reply, Page) and not errand:
            self._metrics.fetched(fetcher.name, reply.status, reply.seconds, len(reply.body))
        return reply

    def _browsing(self, visit: Visit, proxy: Proxy | None) -> Browsing:
        """What a browser shall do with the page; the caller's own only for the caller's origin."""
        request, policy = visit.request, visit.policy
        is_home = self._at_home(visit)
        block = policy.block_resources
        if block is None:
            block = request.extract is not None and not request.screenshot
        return Browsing(
            own_headers={**dict(policy.headers), **(request.headers if is_home else NO_HEADERS)},
            cookies=self._cookies(visit),
            pause_ms=policy.action_delay_ms,
            wait_for=request.wait_for,
            scroll=request.scroll,
            screenshot=request.screenshot,
            block_resources=block,
            masked=policy.identity == "browser",
            region=proxy.region if proxy else policy.proxy.region,
        )

    def _judge_proxy(self, visit: Visit, proxy: Proxy, failure: Failure | None) -> None:
        if isinstance(failure, ProxyFailed):
            self._proxies.failed(proxy)
            visit.failed_proxies += (proxy,)
        else:
            self._proxies.succeeded(proxy)

    async def _follow(self, visit: Visit, hop: Redirect) -> Outcome | None:
        """Go on to where the site points; the new URL passes every gate anew."""
        target = self._resolve(visit.url, hop.location)
        if len(visit.hops) >= self._http.max_redirects:
            target = Broken("too_many_redirects", f"more than {self._http.max_redirects} redirects")
        if isinstance(target, Failure):
            return await self._finish(visit, target)
        self._say(visit, "redirect", str(hop.status))
        visit.keep_cookies(hop.cookies)
        visit.hops += (visit.url.href,)
        visit.url = target
        self._look_up_policy(visit)
        return None

    def _resolve(self, base: Url, location: str) -> Url | Failure:
        """Where a Location leads, admitted like any URL that somebody asks for."""
        try:
            target = parse(location.strip(" "), base)
        except UrlError as error:
            return refusal(error)
        return self._admission.check(target) or target

    # 9 ── blocks, and what the answer means

    def _examine(
        self, visit: Visit, answer: Page | Redirect | Failure
    ) -> tuple[Page | Redirect | None, Failure | None]:
        """Whether an answer is a page: a good status, and no block whatever the status."""
        if isinstance(answer, Failure):
            return None, answer
        if isinstance(answer, Redirect):
            return answer, None
        longest = self._pacing_settings.max_retry_after_seconds
        failure = statuses.failure_of(answer, self._clock.now, longest)
        if not visit.errand and not isinstance(failure, RateLimited):
            failure = blocks.detect(answer) or failure
        return answer, failure

    def _site_is_well(self, visit: Visit, failure: Failure | None) -> bool | None:
        if failure is None:
            return True
        if isinstance(failure, Blocked):
            return False if visit.policy.blocks_count else None
        return {"well": True, "ill": False}.get(failure.site_is)

    async def _mind_page(
        self, visit: Visit, reply: Page | Redirect | None, failure: Failure | None
    ) -> Outcome | Wait | None:
        """End the visit with its page, follow a redirect, try again, or end it without one."""
        if visit.so_far:
            return await self._mind_further_page(visit, visit.so_far, reply, failure)
        if isinstance(reply, Redirect):
            return await self._follow(visit, reply)
        if visit.attempt == 1:
            self._retry.attempted(visit.domain)
        self._say(visit, "fetch", str(reply.status) if reply else "nothing")
        for note in reply.notes if reply else ():
            self._say(visit, "browser", note)
        if self._needs_browser_after_all(visit, failure):
            self._say(visit, "blocks", "empty_shell")
            visit.fetcher = "browser"
            return None
        if failure is None:
            self._say(visit, "blocks", "none")
            await self.let_go(visit)
            return await self._read(visit, reply)
        self._say(visit, "blocks" if isinstance(failure, Blocked) else "result", failure.reason)
        return await self._try_again(visit, failure, reply)

    def _needs_browser_after_all(self, visit: Visit, failure: Failure | None) -> bool:
        """Whether the page is an empty shell, and its policy lets a browser fill it."""
        return (
            isinstance(failure, Blocked)
            and failure.reason == "empty_shell"
            and visit.policy.fetcher == "auto"
            and "browser" in self._fetchers
            and self._fetcher_for(visit) == "http"
            and not visit.request.fetcher
        )

    async def _try_again(
        self, visit: Visit, failure: Failure, page: Page | None = None
    ) -> Outcome | Wait:
        """Begin another attempt later, if the failure may pass and there is one left."""
        delay = self._retry.delay(visit.domain, visit.attempt, failure)
        if isinstance(failure, RateLimited):
            asked = await self._slow_down(visit, failure)
            delay = None if delay is None else asked
        if visit.time_left is not None and visit.time_left <= 0:
            return await self._finish(visit, TASK_TIMEOUT, page)
        if delay is None:
            return await self._finish(visit, failure, page)
        self._metrics.retried(failure.kind)
        await self._drop_errand(visit)
        visit.start_over(parse(visit.request.url))
        self._look_up_policy(visit)
        until = self._clock.monotonic() + delay
        return Wait(until, "retry", str(failure), line=isinstance(failure, RateLimited))

    # 10, 11 ── extract and judge

    async def _read(self, visit: Visit, page: Page | None) -> Outcome | None:
        """End the visit with its page and, if one was wanted, the record of it.

        None means: the record may be completed by other pages of the site, which come first.
        """
        wanted = visit.request.extract
        if page and _is_known(visit.request, page):
            self._say(visit, "extract", "unchanged")
            return self._close(visit, None, page, unchanged=True)
        if wanted is None or page is None or page.status == statuses.NOT_MODIFIED:
            return self._close(visit, None, page)
        if not page.is_html:
            detail = f"there is nothing to extract from {page.content_type}"
            return self._close(visit, UrlSpecific("content_type", detail, page.status), page)
        reading = await _beside(page, self._reader.read, page, wanted)
        if ahead := self._further(page, reading):
            self._say(visit, "extract", "looks further")
            visit.so_far = SoFar(page, reading, visit.hops, ahead)
            return self._go_further(visit, visit.so_far)
        return self._conclude(visit, page, reading)

    def _further(self, page: Page, reading: Reading) -> list[Url]:
        """Pages of the same origin that the adapter would like to see, too; a few at most."""
        here = parse(page.url)
        found: list[Url] = []
        for reference in self._reader.further(page, reading):
            url = self._resolve(here, reference)
            is_new = isinstance(url, Url) and url not in found and url.href != here.href
            if isinstance(url, Url) and is_new and url.origin == here.origin:
                found.append(url)
        return found[:MOST_FURTHER]

    def _go_further(self, visit: Visit, so_far: SoFar) -> Outcome | None:
        """On to the next page of the site, or to the end."""
        is_late = visit.time_left is not None and visit.time_left <= 0
        if so_far.ahead and not is_late:
            visit.look_further(so_far.ahead.pop(0))
            return None
        visit.hops = so_far.hops
        return self._conclude(visit, so_far.page, so_far.reading)

    async def _mind_further_page(
        self,
        visit: Visit,
        so_far: SoFar,
        reply: Page | Redirect | None,
        failure: Failure | None,
    ) -> Outcome | None:
        """Add what another page of the site says; one that cannot be had is done without."""
        if isinstance(reply, Redirect):
            target = self._resolve(visit.url, reply.location)
            if isinstance(target, Url) and target.origin == visit.url.origin:
                return await self._follow(visit, reply)
            failure = UrlSpecific("redirect", "it leads elsewhere", reply.status)
        if failure or not isinstance(reply, Page) or not reply.is_html:
            failure = failure or UrlSpecific("content_type", "it is no document")
            return await self._do_without(visit, so_far, failure)
        self._say(visit, "further", visit.url.target)
        await self.let_go(visit)
        so_far.reading = await _beside(reply, self._reader.fill, so_far.reading, reply)
        return self._go_further(visit, so_far)

    async def _do_without(self, visit: Visit, so_far: SoFar, failure: Failure) -> Outcome | None:
        self._say(visit, "further", failure.reason)
        if isinstance(failure, RateLimited):
            await self._slow_down(visit, failure)
        await self.let_go(visit)
        return self._go_further(visit, so_far)

    def _conclude(self, visit: Visit, page: Page, reading: Reading) -> Outcome:
        """End the visit with a record, or with why it is none."""
        extraction, verdict = reading.extraction, reading.judgment.verdict
        self._say(visit, "extract", extraction.reason or "ok")
        if verdict:
            self._say(visit, "judge", verdict.name)
            return self._close(visit, None, page, reading)
        failure = UrlSpecific(str(extraction.reason), extraction.detail, page.status)
        return self._close(visit, failure, page, reading)

    # ── ends and pauses

    async def _step_aside(self, visit: Visit, wait: Wait) -> Wait:
        """Before a wait: keep a slot or a place in line only where it is the turn we wait for."""
        seconds = wait.until - self._clock.monotonic()
        if wait.gate != "pacing" or seconds > LONGEST_KEPT_SLOT:
            await self._leave(visit)
        if visit.errand and seconds > self._robots_settings.claim_seconds / 2:
            # The claim would run out meanwhile: let another ask, but remember the tries.
            visit.robots_tries = visit.errand.tries
            await self._drop_errand(visit)
            self._look_up_policy(visit)
        said = Said(wait.gate, f"wait {seconds:.1f} s", self._clock.monotonic() - visit.began)
        if not visit.trace or visit.trace[-1][:2] != said[:2]:
            visit.trace.append(said)
        self._metrics.gate(wait.gate, "wait")
        self._metrics.waited(wait.gate, max(0.0, seconds))
        return wait

    async def _finish(
        self, visit: Visit, failure: Failure | None, page: Page | None = None
    ) -> Outcome:
        await self.let_go(visit)
        if visit.so_far:
            visit.hops = visit.so_far.hops
            return self._conclude(visit, visit.so_far.page, visit.so_far.reading)
        return self._close(visit, failure, page)

    async def _drop_errand(self, visit: Visit) -> None:
        """Let another visit ask for the robots.txt that this one set out for."""
        if visit.errand:
            await self._robots.forgo(visit.errand.origin)
            visit.errand = None

    async def _leave(self, visit: Visit) -> None:
        if visit.ticket:
            ticket, visit.ticket = visit.ticket, None
            await self._pacing.release(ticket)

    def _close(
        self,
        visit: Visit,
        failure: Failure | None,
        page: Page | None = None,
        reading: Reading | None = None,
        *,
        unchanged: bool = False,
    ) -> Outcome:
        return self._announce(
            Outcome(
                request=visit.request,
                page=page,
                failure=failure,
                trace=tuple(visit.trace),
                domain=visit.url.domain,
                attempts=visit.attempt,
                hops=visit.hops,
                proxy=visit.last_proxy,
                seconds=self._clock.monotonic() - visit.began,
                reading=reading,
                unchanged=unchanged,
            )
        )

    def _announce(self, outcome: Outcome) -> Outcome:
        """Count and log what became of a request."""
        failure = outcome.failure
        if failure is None:
            self._log.info(
                "fetched",
                request_id=outcome.request.id,
                trace_id=trace_id(outcome.request.traceparent),
                target_domain=outcome.domain,
                duration_ms=round(outcome.seconds * 1000),
                fields_extracted=outcome.reading.field_count if outcome.reading else 0,
            )
            return outcome
        self._metrics.failed(failure.kind, failure.reason)
        self._log.info(
            "failed",
            request_id=outcome.request.id,
            trace_id=trace_id(outcome.request.traceparent),
            target_url=outcome.request.url,
            proxy_used=outcome.proxy,
            error_reason=failure.reason,
            error_kind=failure.kind,
            detail=failure.detail,
        )
        return outcome

    def _look_up_policy(self, visit: Visit) -> None:
        visit.policy = self._policies.look_up(visit.next_url.host, visit.request.workload)

    def _say(self, visit: Visit, gate: str, answer: str) -> None:
        visit.trace.append(Said(gate, answer, self._clock.monotonic() - visit.began))
        self._metrics.gate(gate, answer)


async def _beside(
    page: Page, read: Callable[P, Reading], *given: P.args, **more: P.kwargs
) -> Reading:
    """Read a page; a long one in a thread, so that everybody else goes on meanwhile."""
    if len(page.body) < LONG_PAGE:
        return read(*given, **more)
    return await asyncio.to_thread(read, *given, **more)


def _check_headers(request: Request) -> Refused | None:
    """A header or cookie that is none, or not the caller's to choose, is refused."""
    for name, value in request.headers.items():
        if problem := headers.problem_with(name, value) or headers.reserved(name):
            return Refused("bad_header", problem, gate="admission")
    for name, value in request.cookies.items():
        if headers.problem_with(name, value) or ";" in value:
            return Refused("bad_header", f"{name[:40]!r} is no valid cookie", gate="admission")
    return None


def _is_known(request: Request, page: Page) -> bool:
    """Whether a page is the one that the caller knows, by the site's word or by its content."""
    if page.status == statuses.NOT_MODIFIED:
        return bool(request.conditions)
    known = request.content_hash
    return bool(known) and hashlib.sha256(page.body).hexdigest() == known


def _asks_for_browser(request: Request) -> bool:
    """Whether only a browser can do what is asked for."""
    return bool(request.wait_for or request.scroll or request.screenshot)


def _is_time_out(reply: Page | Redirect | Failure) -> bool:
    return isinstance(reply, Failure) and reply.reason in ("timeout", "page_hung")


def _cookie_header(cookies: Mapping[str, str]) -> Mapping[str, str]:
    """The header that gives a site its own cookies back."""
    if not cookies:
        return NO_HEADERS
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
