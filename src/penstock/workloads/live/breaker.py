"""The breaker of one feed, inside that of its domain: when its scraper rests."""

from datetime import datetime
from typing import Any

from penstock.core.clock import Clock
from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.model import Pass
from penstock.workloads.live.context import iso
from penstock.workloads.live.settings import LiveSettings

CLOSED, OPEN, HALF_OPEN = "CLOSED", "OPEN", "HALF_OPEN"


class FeedBreaker:
    """A circuit and its counts; one look at a time.

    Failures to see the page trip it. Whoever cannot read the page opens and closes it by hand.
    """

    def __init__(self, match_id: str, settings: LiveSettings, clock: Clock) -> None:
        self.name = f"{match_id}_scraper"
        self.total_successes = 0
        self.total_failures = 0
        self.total_rejections = 0
        self._clock = clock
        self._breaker = MemoryBreaker(settings.as_breaker(), clock)
        self._known = CLOSED
        self._changed_at = clock.now()
        #: In a row while it is closed, and those that opened it; good ones while it is half open.
        self._failures = 0
        self._successes = 0

    @property
    def state(self) -> str:
        """`CLOSED`, `OPEN` or `HALF_OPEN`."""
        self._notice()
        return self._known

    @property
    def is_closed(self) -> bool:
        """Whether the feed is looked at as usual."""
        return self.state == CLOSED

    @property
    def total_calls(self) -> int:
        """Looks of which it is known how they went."""
        return self.total_successes + self.total_failures

    @property
    def failure_count(self) -> int:
        """Failures in a row, or those that opened it."""
        self._notice()
        return self._failures

    @property
    def success_count(self) -> int:
        """Good looks since it is half open."""
        self._notice()
        return self._successes

    @property
    def last_state_change(self) -> datetime:
        """When the state was first seen to be another."""
        self._notice()
        return self._changed_at

    async def rejects(self) -> float | None:
        """Seconds until the next look, if there may be none now; that is counted."""
        seconds = await self._breaker.look(self.name)
        self.total_rejections += seconds is not None
        return seconds

    async def enter(self) -> Pass:
        """Leave to look; whoever gets it reports how that went. Ask `rejects` first."""
        leave = await self._breaker.enter(self.name)
        if not isinstance(leave, Pass):
            raise RuntimeError(f"{self.name} is open for {leave} s: ask `rejects` first")
        self._notice()
        return leave

    async def report(self, leave: Pass, *, well: bool | None) -> None:
        """Whether the page was seen, or None if nothing was learnt."""
        if well is None:
            await self._breaker.report(leave, well=None)
            return
        self.total_successes += well
        self.total_failures += not well
        self._count(well=well)
        await self._breaker.report(leave, well=well)
        self._notice()

    def open_for(self, seconds: float) -> None:
        """Rest for so long whatever was counted, and again after each try that fails."""
        self._breaker.open_for(self.name, seconds)
        self._turn(OPEN)

    def close(self) -> None:
        """Look as usual whatever was counted."""
        self._breaker.close(self.name)
        self._notice()
        self._failures = self._successes = 0

    def to_dict(self) -> dict[str, Any]:
        """The circuit as the health of the service shows it."""
        return {
            "name": self.name,
            "state": self.state,
            "failure_count": self.failure_count,
            "success_count": self.success_count,
            "total_calls": self.total_calls,
            "total_successes": self.total_successes,
            "total_failures": self.total_failures,
            "total_rejections": self.total_rejections,
            "last_state_change": iso(self.last_state_change),
        }

    def _count(self, *, well: bool) -> None:
        match self.state:
            case "CLOSED":
                self._failures = 0 if well else self._failures + 1
            case "HALF_OPEN":
                self._successes += well
                self._failures += not well

    def _notice(self) -> None:
        """Take over a state that has changed, by a result or because time has passed."""
        state = self._breaker.state_of(self.name).upper()
        if state != self._known:
            self._turn(state)

    def _turn(self, state: str) -> None:
        self._known, self._changed_at = state, self._clock.now()
        self._successes = 0
        if state != OPEN:
            self._failures = 0
