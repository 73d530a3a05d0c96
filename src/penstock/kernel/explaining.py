"""May this URL be fetched now? What every gate says, in words and without walking the path."""

from dataclasses import dataclass
from typing import Literal

from penstock.core.clock import Clock
from penstock.kernel import hours
from penstock.kernel.circuits import Circuits
from penstock.kernel.model import Visit
from penstock.kernel.policy import Pace
from penstock.kernel.robots import Rules
from penstock.kernel.robots_gate import RobotsGate
from penstock.kernel.switches import EVERYTHING, Switches
from penstock.kernel.turns import Turns
from penstock.kernel.ways import Ways

Verdict = Literal["yes", "wait", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a gate says, and why; `seconds` is how long it asks to wait, if that is known."""

    gate: str
    verdict: Verdict
    says: str
    seconds: float = 0.0


def admitted(visit: Visit) -> Answer:
    """The answer of admission to a URL that may be contacted."""
    says = f"{visit.url.host} may be contacted, by the policy of {visit.ledger}"
    return Answer("admission", "yes", says)


def verdict_of(answers: list[Answer]) -> Answer:
    """The answer that decides: the first refusal, else the longest wait, else the last one."""
    for verdict in ("no", "unknown"):
        for answer in answers:
            if answer.verdict == verdict:
                return answer
    waits = [answer for answer in answers if answer.verdict == "wait"]
    return max(waits, key=lambda answer: answer.seconds) if waits else answers[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explainer:
    """Asks the gates as a visit would, and spends nothing."""

    switches: Switches
    robots: RobotsGate
    circuits: Circuits
    ways: Ways
    turns: Turns
    clock: Clock

    async def ask(self, visit: Visit) -> list[Answer]:
        """The answer of every gate behind admission, in their order."""
        rules = await self.robots.known(visit) if visit.policy.respect_robots else None
        pace = self.robots.pace(visit, rules) if rules else visit.policy.pace
        return [
            self._pause(visit),
            self._robots(visit, rules),
            self._hours(visit),
            await self._breaker(visit),
            self._way(visit),
            await self._pacing(visit, pace),
        ]

    def _pause(self, visit: Visit) -> Answer:
        if not self.switches.is_paused(visit.domain):
            return Answer("pause", "yes", "nobody has paused it")
        what = "everything" if EVERYTHING in self.switches.paused else visit.domain
        return Answer("pause", "wait", f"contact with {what} is paused until somebody resumes it")

    def _robots(self, visit: Visit, rules: Rules | None) -> Answer:
        if not visit.policy.respect_robots:
            return Answer("robots", "yes", "robots.txt is not asked, by policy")
        if rules is None:
            return Answer("robots", "unknown", "robots.txt is not known yet: it is fetched first")
        if rules.answer.status == "unreachable":
            if visit.policy.robots_unreachable == "allow":
                return Answer("robots", "yes", f"{rules.answer.detail}; allowed by policy")
            return Answer("robots", "no", rules.answer.detail)
        if rules.answer.status == "allow":
            return Answer("robots", "yes", "the site has no robots.txt")
        decision = self.robots.decide(visit, rules)
        return Answer("robots", "yes" if decision.allowed else "no", str(decision))

    def _hours(self, visit: Visit) -> Answer:
        window, now = visit.policy.hours, self.clock.now()
        if window is None:
            return Answer("hours", "yes", "at any hour")
        says = f"from {window.start}:00 to {window.end}:00 UTC"
        if hours.is_open(window, now):
            return Answer("hours", "yes", says)
        opening = hours.next_opening(window, now)
        return Answer("hours", "wait", says, (opening - now).total_seconds())

    async def _breaker(self, visit: Visit) -> Answer:
        seconds = await self.circuits.look(visit)
        rules = self.circuits.rules_for(visit).name
        if seconds is None:
            return Answer("breaker", "yes", f"closed, by the rules '{rules}'")
        says = f"{visit.domain} appears to be down, by the rules '{rules}'"
        return Answer("breaker", "wait", says, seconds)

    def _way(self, visit: Visit) -> Answer:
        fetcher = self.ways.fetcher_for(visit)
        if wait := self.ways.look(visit):
            seconds = max(0.0, wait.until - self.clock.monotonic())
            return Answer(wait.gate, "wait", wait.why, seconds)
        if self.ways.fetcher_named(fetcher) is None:
            return Answer("way out", "unknown", f"this process has no fetcher '{fetcher}'")
        if lacking := self.ways.lacks(visit):
            return Answer("way out", "no", f"by policy through a proxy, but {lacking}")
        proxy = "through a proxy" if visit.policy.proxy.use == "always" else "without a proxy"
        return Answer("way out", "yes", f"by {fetcher}, {proxy}")

    async def _pacing(self, visit: Visit, pace: Pace) -> Answer:
        seconds = await self.turns.look(visit, pace)
        rates = ", ".join(f"{rate.limit} in {rate.window:g} s" for rate in pace.rates)
        says = f"{rates}, {pace.delay:g} s apart, {pace.concurrency} at once"
        if seconds <= 0:
            return Answer("pacing", "yes", says)
        return Answer("pacing", "wait", says, seconds)
