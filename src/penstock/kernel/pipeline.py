"""The path of a URL, from a request to a judged record, in the order in which it is walked.

     1 request      somebody asks for a URL: `Request`
     2 admission    it is parsed, once, and may be contacted: `Visit`         entrance.py
     3 robots       its robots.txt allows it; an unknown one is got first     robots_gate.py
     4 hours        its domain is open                                        gates.py
     5 breaker      its domain is up                                          gates.py
     6 pacing       its turn has come                                         gates.py, turns.py
     7 proxy and    by which way, and as whom                                 ways.py, belongings.py
       identity
     8 fetch        one hop: a page, a redirect or a failure                  contact.py
     9 blocks       whether it is a page at all                               contact.py
    10 extract      the adapter reads it, and maybe others of its site        harvest.py
    11 judge        the record is accepted, dropped or quarantined            harvest.py

`admit` is step 2. `advance` walks on from wherever a visit stands and returns when it is over
(`Outcome`) or has to wait (`Wait`): waiting is the caller's business and costs nothing here.
Redirects, attempts and further pages of a site go through steps 3 to 9 anew. Steps 12 and 13
build on the outcome. What the steps say on the way is written down by chronicle.py.
"""

import asyncio
from dataclasses import replace

from penstock.core.clock import Clock
from penstock.core.urls import Url, parse
from penstock.kernel.chronicle import Chronicle
from penstock.kernel.circuits import Circuits
from penstock.kernel.contact import TASK_TIMEOUT, Contact
from penstock.kernel.entrance import Entrance
from penstock.kernel.explaining import Answer, admitted
from penstock.kernel.gates import Gates
from penstock.kernel.harvest import Harvest
from penstock.kernel.model import (
    Blocked,
    Broken,
    Errand,
    Failure,
    Outcome,
    Page,
    ProxyFailed,
    RateLimited,
    Redirect,
    Refused,
    Request,
    SoFar,
    UrlSpecific,
    Visit,
    Wait,
)
from penstock.kernel.policy import Pace
from penstock.kernel.ports import NotNow
from penstock.kernel.retry import Retry
from penstock.kernel.robots import Rules
from penstock.kernel.robots_gate import RobotsGate
from penstock.kernel.switches import Paused
from penstock.kernel.turns import Turns
from penstock.kernel.ways import PROXIES_REST, Ways

#: A slot is kept through the wait for the next hop only if that is short.
LONGEST_KEPT_SLOT = 60.0
#: After so many lost browsers it may be the page that does it.
MOST_CRASHES = 2
#: What it is called to give up at a gate; at any other there was no turn.
GIVEN_UP = {
    "hours": "outside_hours",
    "breaker": "circuit_open",
    "retry": "rate_limited",
    "browser": "pool_exhausted",
    "crash": "browser_crashed",
}


class Pipeline:
    """Takes visits along the path; holds no visit itself, so any number can be under way."""

    def __init__(
        self,
        *,
        entrance: Entrance,
        robots: RobotsGate,
        gates: Gates,
        turns: Turns,
        ways: Ways,
        contact: Contact,
        circuits: Circuits,
        retry: Retry,
        harvest: Harvest,
        chronicle: Chronicle,
        clock: Clock,
        max_redirects: int,
    ) -> None:
        self._entrance = entrance
        self._robots = robots
        self._gates = gates
        self._turns = turns
        self._ways = ways
        self._contact = contact
        self._circuits = circuits
        self._retry = retry
        self._harvest = harvest
        self._chronicle = chronicle
        self._clock = clock
        self._max_redirects = max_redirects

    async def run(self, request: Request) -> Outcome:
        """Walk the whole path, waiting on the spot where it has to be waited."""
        visit = self.admit(request)
        while isinstance(visit, Visit):
            step = await self.advance(visit)
            if isinstance(step, Outcome):
                return step
            await self._clock.sleep(step.until - self._clock.monotonic())
        return visit

    # 2 ── admission

    def admit(self, request: Request) -> Visit | Outcome:
        """Parse the URL, once, and see whether it may be contacted at all."""
        visit = self._entrance.enter(request, self._clock.monotonic())
        if isinstance(visit, Refused):
            return self._chronicle.turn_away(request, visit)
        if refused := self._entrance.check(visit):
            self._chronicle.say(visit, "admission", "refused")
            return self._chronicle.close(visit, refused)
        self._chronicle.say(visit, "admission", "ok")
        return visit

    # 3 to 9, as often as hops, attempts and further pages ask for it

    async def advance(self, visit: Visit) -> Outcome | Wait:
        """Walk on until the visit is over or has to wait."""
        self._entrance.look_up_policy(visit)
        try:
            while True:
                if (step := await self._step(visit)) is not None:
                    return step
        except asyncio.CancelledError:
            await self.let_go(visit)
            raise

    async def _step(self, visit: Visit) -> Outcome | Wait | None:
        """Pass the gates, contact the site once, see what it means; None means: go on."""
        leave = await self._gates.ask(visit)
        if isinstance(leave, Wait):
            return await self._step_aside(visit, leave)
        if isinstance(leave, Failure):
            if visit.so_far:
                return await self._do_without(visit, visit.so_far, leave)
            return await self._finish(visit, leave)
        try:
            if leave.probe and await self._shall_knock(visit):
                reply, failure = None, await self._contact.knock(visit, leave)
                if failure is None:
                    return None
            else:
                reply, failure = await self._contact.make(visit, leave)
        except Paused:
            return await self._step_aside(visit, self._gates.pause(visit))
        except NotNow as trouble:
            return await self._mind_trouble(visit, trouble)
        if visit.errand:
            after = await self._mind_robots(visit, visit.errand, reply, failure)
        elif visit.so_far:
            after = await self._mind_further_page(visit, visit.so_far, reply, failure)
        else:
            after = await self._mind_page(visit, reply, failure)
        return await self._step_aside(visit, after) if isinstance(after, Wait) else after

    async def _shall_knock(self, visit: Visit) -> bool:
        """Whether a probe asks for the root of the site, which it must be allowed to ask for."""
        return self._circuits.rules_for(visit).knocks and await self._robots.allows_root(visit)

    # What came back, and what it means for the visit

    async def _mind_robots(
        self, visit: Visit, errand: Errand, reply: Page | Redirect | None, failure: Failure | None
    ) -> Outcome | Wait | None:
        """Learn from what came back for robots.txt, and go on with the visit."""
        after = await self._robots.mind(visit, errand, reply, failure)
        if isinstance(after, Failure) and visit.so_far:
            return await self._do_without(visit, visit.so_far, after)
        if isinstance(after, ProxyFailed):
            return await self._try_again(visit, after)
        if isinstance(after, Failure):
            return await self._finish(visit, after)
        return after

    async def _mind_page(
        self, visit: Visit, reply: Page | Redirect | None, failure: Failure | None
    ) -> Outcome | Wait | None:
        """End the visit with its page, follow a redirect, try again, or end it without one."""
        if isinstance(reply, Redirect):
            return await self._follow(visit, reply)
        if visit.attempt == 1:
            self._retry.attempted(visit.domain)
        self._chronicle.say(visit, "fetch", str(reply.status) if reply else "nothing")
        for note in reply.notes if reply else ():
            self._chronicle.say(visit, "browser", note)
        if self._ways.needs_browser_after_all(visit, failure):
            self._chronicle.say(visit, "blocks", "empty_shell")
            visit.fetcher = "browser"
            return None
        if failure is None:
            self._chronicle.say(visit, "blocks", "none")
            await self.let_go(visit)
            return await self._harvest.read(visit, reply)
        gate = "blocks" if isinstance(failure, Blocked) else "result"
        self._chronicle.say(visit, gate, failure.reason)
        return await self._try_again(visit, failure, reply)

    async def _mind_further_page(
        self,
        visit: Visit,
        so_far: SoFar,
        reply: Page | Redirect | None,
        failure: Failure | None,
    ) -> Outcome | None:
        """Add what another page of the site says; one that cannot be had is done without."""
        if isinstance(reply, Redirect):
            target = self._entrance.resolve(visit.url, reply.location)
            if isinstance(target, Url) and target.origin == visit.url.origin:
                return await self._follow(visit, reply)
            failure = UrlSpecific("redirect", "it leads elsewhere", reply.status)
        if failure or not isinstance(reply, Page) or not reply.is_html:
            failure = failure or UrlSpecific("content_type", "it is no document")
            return await self._do_without(visit, so_far, failure)
        self._chronicle.say(visit, "further", visit.url.target)
        await self.let_go(visit)
        return await self._harvest.add(visit, so_far, reply)

    async def _do_without(self, visit: Visit, so_far: SoFar, failure: Failure) -> Outcome | None:
        self._chronicle.say(visit, "further", failure.reason)
        if isinstance(failure, RateLimited):
            await self._turns.slow_down(visit, failure)
        await self.let_go(visit)
        return self._harvest.go_further(visit, so_far)

    async def _mind_trouble(self, visit: Visit, trouble: NotNow) -> Outcome | Wait:
        """A fetcher of ours could not do it; that is no attempt, but it has to end sometime."""
        self._chronicle.say(visit, "fetch", trouble.reason)
        gate = "proxy" if trouble.reason == PROXIES_REST else "browser"
        if trouble.reason == "browser_crashed":
            gate = "crash"
            visit.crashes += 1
            if visit.crashes > MOST_CRASHES:
                return await self._finish(visit, Broken(trouble.reason, str(trouble)))
        if visit.is_late:
            return await self._finish(visit, TASK_TIMEOUT)
        until = self._clock.monotonic() + trouble.seconds
        return await self._step_aside(visit, Wait(until, gate, str(trouble), line=False))

    async def _follow(self, visit: Visit, hop: Redirect) -> Outcome | None:
        """Go on to where the site points; the new URL passes every gate anew."""
        target = self._entrance.resolve(visit.url, hop.location)
        if len(visit.hops) >= self._max_redirects:
            target = Broken("too_many_redirects", f"more than {self._max_redirects} redirects")
        if isinstance(target, Failure):
            return await self._finish(visit, target)
        self._chronicle.say(visit, "redirect", str(hop.status))
        visit.keep_cookies(hop.cookies)
        visit.hops += (visit.url.href,)
        visit.url = target
        self._entrance.look_up_policy(visit)
        return None

    async def _try_again(
        self, visit: Visit, failure: Failure, page: Page | None = None
    ) -> Outcome | Wait:
        """Begin another attempt later, if the failure may pass and there is one left."""
        delay = self._retry.delay(visit.domain, visit.attempt, failure, visit.request.workload)
        if isinstance(failure, RateLimited):
            asked = await self._turns.slow_down(visit, failure)
            delay = None if delay is None else asked
        if visit.is_late:
            return await self._finish(visit, TASK_TIMEOUT, page)
        if delay is None:
            return await self._finish(visit, failure, page)
        self._chronicle.retried(failure)
        await self._robots.drop(visit)
        visit.start_over(parse(visit.request.url))
        self._entrance.look_up_policy(visit)
        until = self._clock.monotonic() + delay
        return Wait(until, "retry", str(failure), line=isinstance(failure, RateLimited))

    # Pauses and ends

    async def _step_aside(self, visit: Visit, wait: Wait) -> Wait:
        """Before a wait: keep a slot or a place in line only where it is the turn we wait for."""
        seconds = wait.until - self._clock.monotonic()
        if wait.gate != "pacing" or seconds > LONGEST_KEPT_SLOT:
            await self._turns.leave(visit)
        await self._robots.put_off(visit, seconds)
        self._chronicle.waits(visit, wait, seconds)
        return wait

    async def _finish(
        self, visit: Visit, failure: Failure | None, page: Page | None = None
    ) -> Outcome:
        """End a visit; one that only looked further has its record nevertheless."""
        await self.let_go(visit)
        if visit.so_far:
            return self._harvest.conclude(visit, visit.so_far)
        return self._chronicle.close(visit, failure, page)

    async def give_up(self, visit: Visit, wait: Wait) -> Outcome:
        """End a visit whose caller will not wait as long as a gate asks for."""
        reason = GIVEN_UP.get(wait.gate, f"no_turn_{wait.gate}")
        return await self._finish(visit, Refused(reason, wait.why, gate=wait.gate))

    async def fail(self, visit: Visit, error: Exception) -> Outcome:
        """End a visit that a fault of our own got in the way of."""
        return await self._finish(visit, Broken("internal_error", repr(error)))

    async def let_go(self, visit: Visit) -> None:
        """Give back everything that a visit holds; for one that will not be walked on."""
        await self._robots.drop(visit)
        await self._turns.leave(visit)

    # Questions about the path, without walking it to its end

    def line_of(self, request: Request) -> tuple[str, int]:
        """The line a request has to stand in, and how many of that line may go at once."""
        return self._entrance.line_of(request)

    def pace_of(self, request: Request) -> Pace:
        """How fast the line of a request may move, as far as is known beforehand."""
        return self._entrance.pace_of(request)

    async def explain(self, request: Request, patience: float | None = None) -> list[Answer]:
        """What every gate says to a URL now, in their order; its page is not contacted.

        With `patience` robots.txt is got, politely, if it is not known and that takes no longer.
        """
        visit = self._entrance.enter(request, self._clock.monotonic())
        if isinstance(visit, Refused):
            return [Answer("admission", "no", visit.detail)]
        if refused := self._entrance.check(visit):
            return [Answer("admission", "no", refused.detail)]
        if patience is not None and visit.policy.respect_robots:
            await self.rules_for(request, patience)
        return [admitted(visit), *await self._gates.explain(visit)]

    async def rules_for(self, request: Request, patience: float) -> Rules | Failure:
        """What robots.txt says at a URL's origin; got politely if it is not known yet."""
        visit = self.admit(request)
        if isinstance(visit, Outcome):
            return visit.failure or Refused("not_admitted")
        try:
            while (rules := await self._robots.known(visit)) is None:
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
