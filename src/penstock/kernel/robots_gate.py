"""Step 3 of the path: what robots.txt says of a visit, and how it is got where it is not known.

The visit that finds it unknown goes on an errand: it fetches robots.txt first, paced and admitted
like any page, while the others of the origin wait. Then it goes on, and is asked itself.
"""

from penstock.core.clock import Clock
from penstock.core.urls import parse
from penstock.kernel.chronicle import Chronicle
from penstock.kernel.entrance import Entrance
from penstock.kernel.model import (
    Broken,
    Errand,
    Failure,
    Page,
    ProxyFailed,
    RateLimited,
    Redirect,
    Refused,
    UrlSpecific,
    Visit,
    Wait,
)
from penstock.kernel.policy import Pace
from penstock.kernel.ports import RobotsAnswer
from penstock.kernel.robots import Decision, Robots, Rules, read
from penstock.kernel.settings import RobotsSettings
from penstock.kernel.statuses import FIRST_CLIENT_ERROR, FIRST_REDIRECT
from penstock.kernel.turns import Turns

#: While somebody else asks for the robots.txt, look again after so many seconds.
ROBOTS_PATIENCE = 0.1


class RobotsGate:
    """Asks robots.txt as our product, and sends one visit per origin to get it."""

    def __init__(
        self,
        robots: Robots,
        product: str,
        *,
        entrance: Entrance,
        turns: Turns,
        chronicle: Chronicle,
        clock: Clock,
        settings: RobotsSettings,
    ) -> None:
        self._robots = robots
        self._product = product
        self._entrance = entrance
        self._turns = turns
        self._chronicle = chronicle
        self._clock = clock
        self._settings = settings

    async def known(self, visit: Visit) -> Rules | None:
        """What robots.txt says at the origin of a visit's page, unless that has to be got first."""
        return await self._robots.known(visit.url.origin)

    def ask(self, visit: Visit, rules: Rules) -> Refused | None:
        """Why the rules keep a visit from its page, or None."""
        policy = visit.policy
        if rules.answer.status == "unreachable":
            if policy.robots_unreachable == "allow":
                self._chronicle.say(visit, "robots", "unreachable (allowed by policy)")
                return None
            self._chronicle.say(visit, "robots", "unreachable")
            return Refused("robots_unreachable", rules.answer.detail, gate="robots")
        if rules.file.allows(visit.url.target, self._product, obey_star=policy.obey_star):
            self._chronicle.say(visit, "robots", "allowed")
            return None
        decision = self.decide(visit, rules)
        self._chronicle.say(visit, "robots", "denied")
        return Refused("robots_denied", str(decision), gate="robots")

    def decide(self, visit: Visit, rules: Rules) -> Decision:
        """What the rules say of a visit's page, and the line that says so."""
        policy = visit.policy
        return rules.file.decide(visit.url.target, self._product, obey_star=policy.obey_star)

    async def allows_root(self, visit: Visit) -> bool:
        """Whether the rules, as far as they are known, leave a visit the root of its site."""
        rules, policy = await self.known(visit), visit.policy
        if rules is None or not policy.respect_robots:
            return True
        return rules.file.allows("/", self._product, obey_star=policy.obey_star)

    def pace(self, visit: Visit, rules: Rules) -> Pace:
        """The pace of a visit's policy, with the crawl delay that the rules ask for."""
        policy = visit.policy
        delay = self._robots.delay(rules, self._product, obey_star=policy.obey_star)
        return policy.pace.apart(delay)

    # The errand

    async def send(self, visit: Visit) -> Wait | None:
        """Send a visit for the robots.txt of its origin; a wait means that another has gone."""
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

    async def mind(
        self, visit: Visit, errand: Errand, reply: Page | Redirect | None, failure: Failure | None
    ) -> Failure | Wait | None:
        """Learn from what came back for robots.txt; None means: on with the visit.

        A failure that says nothing about robots.txt is handed back: it is the visit's own.
        """
        if isinstance(reply, Redirect):
            return await self._follow(visit, errand, reply)
        if isinstance(failure, Refused) and not errand.hops:
            return failure
        if isinstance(failure, ProxyFailed):
            return failure
        if isinstance(failure, UrlSpecific) and (failure.status or 0) >= FIRST_CLIENT_ERROR:
            await self._learn(visit, errand, RobotsAnswer("allow"))
            return None
        # Anything else that is not the file itself, such as a redirect to nowhere, says nothing.
        if failure is None and reply is not None and reply.status < FIRST_REDIRECT:
            text = read(reply.body, self._settings.max_bytes)
            await self._learn(visit, errand, RobotsAnswer("rules", text))
            return None
        return await self._unreachable(visit, errand, failure)

    async def put_off(self, visit: Visit, seconds: float) -> None:
        """Before a wait on an errand: one that would outlast the claim is left to others."""
        if visit.errand and seconds > self._settings.claim_seconds / 2:
            visit.robots_tries = visit.errand.tries
            await self.drop(visit)

    async def drop(self, visit: Visit) -> None:
        """Let another visit ask for the robots.txt that this one set out for."""
        if visit.errand:
            await self._robots.forgo(visit.errand.origin)
            visit.errand = None
            self._entrance.look_up_policy(visit)

    async def _follow(self, visit: Visit, errand: Errand, hop: Redirect) -> Wait | None:
        errand.hops += 1
        target = self._entrance.resolve(errand.url, hop.location)
        if errand.hops > self._settings.max_redirects:
            target = Broken("too_many_redirects", "too many redirects")
        if isinstance(target, Failure):
            # Asking again would lead to the same place.
            errand.tries = self._settings.tries
            return await self._unreachable(visit, errand, target)
        errand.url = target
        self._entrance.look_up_policy(visit)
        return None

    async def _unreachable(
        self, visit: Visit, errand: Errand, failure: Failure | None
    ) -> Wait | None:
        """Try again a few times; then the answer is that there is none, for a while."""
        errand.tries += 1
        detail = f"robots.txt cannot be had: {failure.detail if failure else 'no answer'}"
        if isinstance(failure, RateLimited):
            await self._turns.slow_down(visit, failure)
        if errand.tries < self._settings.tries:
            errand.url, errand.hops = parse(f"{errand.origin}/robots.txt"), 0
            self._entrance.look_up_policy(visit)
            pause = self._settings.retry_seconds * 2 ** (errand.tries - 1)
            return Wait(self._clock.monotonic() + pause, "robots", detail)
        answer = RobotsAnswer("unreachable", tries=errand.tries, detail=detail)
        await self._learn(visit, errand, answer)
        return None

    async def _learn(self, visit: Visit, errand: Errand, answer: RobotsAnswer) -> None:
        await self._robots.learn(errand.origin, answer)
        self._chronicle.say(visit, "robots.txt", answer.status)
        visit.errand, visit.robots_tries = None, 0
        self._entrance.look_up_policy(visit)
