"""Steps 3 to 6 of the path: robots, hours, breaker and pacing, asked in this order.

Before all of them somebody may have paused the domain. Between breaker and pacing comes a look at
our own ways out: no turn is spent while no proxy or no browser is free for it. When the turn is
now, the breaker is entered. A visit that has waited comes through all of them again: what was true
then may not be true now.
"""

from penstock.core.clock import Clock
from penstock.kernel import hours
from penstock.kernel.chronicle import Chronicle
from penstock.kernel.circuits import Circuits
from penstock.kernel.explaining import Answer, Explainer
from penstock.kernel.model import Failure, Pass, Visit, Wait
from penstock.kernel.robots import Rules
from penstock.kernel.robots_gate import RobotsGate
from penstock.kernel.switches import Switches
from penstock.kernel.turns import Turns
from penstock.kernel.ways import Ways

#: While somebody paused us, look again after so many seconds.
PAUSE_PATIENCE = 0.5


class Gates:
    """Says whether a visit may contact its site now, later or not at all."""

    def __init__(
        self,
        *,
        switches: Switches,
        robots: RobotsGate,
        circuits: Circuits,
        ways: Ways,
        turns: Turns,
        chronicle: Chronicle,
        clock: Clock,
    ) -> None:
        self._switches = switches
        self._robots = robots
        self._circuits = circuits
        self._ways = ways
        self._turns = turns
        self._chronicle = chronicle
        self._clock = clock

    async def ask(self, visit: Visit) -> Failure | Wait | Pass:
        """Ask one gate after the other; a `Pass` means that the turn is now."""
        if self._switches.is_paused(visit.domain):
            return self.pause(visit)
        rules = None
        if visit.policy.respect_robots and visit.errand is None:
            rules = await self._robots.known(visit)
            if rules is None:
                if wait := await self._robots.send(visit):
                    return wait
            elif refused := self._robots.ask(visit, rules):
                return refused
        wait = self._ask_hours(visit) or await self._ask_breaker(visit) or self._ways.look(visit)
        return wait or await self._take_turn(visit, rules)

    async def explain(self, visit: Visit) -> list[Answer]:
        """What each gate would answer now; nobody is contacted and no turn is taken."""
        explainer = Explainer(
            switches=self._switches,
            robots=self._robots,
            circuits=self._circuits,
            ways=self._ways,
            turns=self._turns,
            clock=self._clock,
        )
        return await explainer.ask(visit)

    def pause(self, visit: Visit) -> Wait:
        """The wait of a visit whose domain somebody paused."""
        until = self._clock.monotonic() + PAUSE_PATIENCE
        return Wait(until, "pause", f"contact with {visit.domain} is paused")

    # 4 ── hours

    def _ask_hours(self, visit: Visit) -> Wait | None:
        window = visit.policy.hours
        if window is None:
            return None
        now = self._clock.now()
        if hours.is_open(window, now):
            self._chronicle.say(visit, "hours", "open")
            return None
        opening = hours.next_opening(window, now)
        until = self._clock.monotonic() + (opening - now).total_seconds()
        return Wait(until, "hours", f"{visit.domain} is closed until {opening:%H:%M} UTC")

    # 5 ── breaker

    async def _ask_breaker(self, visit: Visit) -> Wait | None:
        """A look: no turn is spent on a domain that is down."""
        seconds = await self._circuits.look(visit)
        if seconds is None:
            self._chronicle.say(visit, "breaker", "closed")
            return None
        return self._circuit_open(visit, seconds)

    def _circuit_open(self, visit: Visit, seconds: float) -> Wait:
        until = self._clock.monotonic() + seconds
        return Wait(until, "breaker", f"{visit.domain} is down; next try in {seconds:.0f} s")

    # 6 ── pacing

    async def _take_turn(self, visit: Visit, rules: Rules | None) -> Wait | Pass:
        """Reserve the next turn; when it is now, the breaker is entered."""
        pace = self._robots.pace(visit, rules) if rules else visit.policy.pace
        if wait := await self._turns.take(visit, pace, self._circuits.circuit_of(visit)):
            return wait
        self._chronicle.say(visit, "pacing", "turn")
        leave = await self._circuits.enter(visit)
        return leave if isinstance(leave, Pass) else self._circuit_open(visit, leave)
