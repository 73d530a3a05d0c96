"""Pacing: one ledger per domain that says when the next turn is.

The promise is exact and about starts: in no window of `window` seconds are there more than
`limit` of them, no two are closer than `delay`, and no more than `concurrency` run at once.
A reservation only plans; whether a turn has come is decided by the starts that really
happened, so a late starter can never crowd the next one.
"""

import itertools
from bisect import insort
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from penstock.core.clock import Clock
from penstock.kernel.model import Ticket
from penstock.kernel.policy import Pace
from penstock.kernel.ports import Slowed

#: A pace that was not asked for again this long no longer binds the others.
PACE_MEMORY = 60.0
#: When every slot is taken, nobody knows when one is free: look again after so long.
FULL_HOUSE = 0.25
#: A reserved turn that nobody took after so long is forgotten.
NO_SHOW = 30.0
#: So many starts are kept for a stricter pace that has yet to be heard of.
MIN_KEPT = 128
SWEEP_EVERY = 64


@dataclass(slots=True)
class _Ledger:
    """The starts, plans and penalties of one domain."""

    starts: deque[float] = field(default_factory=deque)
    plans: list[tuple[float, str]] = field(default_factory=list)
    holders: dict[str, float] = field(default_factory=dict)
    paces: dict[Pace, float] = field(default_factory=dict)
    slow_until: float = 0.0
    hold_until: float = 0.0

    def effective(self, pace: Pace, now: float) -> Pace:
        """The strictest of the paces in use, halved while the domain is slowed down."""
        self.paces[pace] = now
        if len(self.paces) > 1:
            for other, seen in list(self.paces.items()):
                if now - seen > PACE_MEMORY:
                    del self.paces[other]
                else:
                    pace = pace.strictest(other)
        return pace.halved() if now < self.slow_until else pace

    def earliest(self, pace: Pace, now: float) -> float:
        """When the next start may be, by what really started."""
        return max(now, self.hold_until, self._room(pace, []))

    def next_plan(self, pace: Pace) -> float:
        """When a start has room behind everything that is planned."""
        return self._room(pace, self.plans) if self.plans else 0.0

    def _room(self, pace: Pace, plans: list[tuple[float, str]]) -> float:
        count = len(self.starts) + len(plans)
        at = 0.0
        if count and pace.delay:
            at = max(at, self._from_the_end(1, plans) + pace.delay)
        for limit, window in pace.rates:
            if count >= limit:
                at = max(at, self._from_the_end(limit, plans) + window)
        return at

    def _from_the_end(self, n: int, plans: list[tuple[float, str]]) -> float:
        """The n-th last moment of all starts and plans, taking plans to lie after the starts."""
        return plans[-n][0] if n <= len(plans) else self.starts[len(plans) - n]

    def forget_plan(self, id_: str, now: float) -> float:
        """Drop a ticket's plan, and those whose owners did not come; return when its turn was."""
        if not self.plans:
            return 0.0
        turn = next((at for at, owner in self.plans if owner == id_), 0.0)
        self.plans = [plan for plan in self.plans if plan[1] != id_ and plan[0] > now - NO_SHOW]
        return turn

    def is_full(self, pace: Pace, now: float) -> bool:
        """Whether every slot is taken; one whose lease has run out is not."""
        if len(self.holders) >= pace.concurrency:
            self.holders = {id_: until for id_, until in self.holders.items() if until > now}
        return len(self.holders) >= pace.concurrency

    def start(self, pace: Pace, now: float) -> None:
        starts = self.starts
        starts.append(now)
        while len(starts) > MIN_KEPT and (
            len(starts) > pace.most or starts[0] < now - 2 * pace.reach
        ):
            starts.popleft()

    def clock_went_back(self, now: float) -> None:
        """A start in the future means that the clock was set back: count it as just now."""
        if self.starts and self.starts[-1] > now:
            self.starts = deque(min(start, now) for start in self.starts)
            self.plans.clear()

    def is_idle(self, now: float) -> bool:
        """Whether forgetting this ledger would change nothing."""
        if now < max(self.slow_until, self.hold_until, *self.holders.values()):
            return False
        if self.plans and self.plans[-1][0] > now - NO_SHOW:
            return False
        reach = max((pace.reach for pace in self.paces), default=0.0)
        return not self.starts or now - self.starts[-1] > 2 * reach


class MemoryPacing:
    """Ledgers in this process; those that no longer matter are swept away as others come."""

    def __init__(self, clock: Clock, lease_seconds: float = 120.0) -> None:
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._ledgers: dict[str, _Ledger] = {}
        self._ids = itertools.count(1)
        self._since_sweep = 0

    def __len__(self) -> int:
        return len(self._ledgers)

    async def reserve(
        self, ledger: str, pace: Pace, ticket: Ticket | None = None, circuit: str = ""
    ) -> Ticket:
        del circuit
        now = self._clock.monotonic()
        book = self._open(ledger, now)
        book.clock_went_back(now)
        pace = book.effective(pace, now)
        id_ = ticket.id if ticket else str(next(self._ids))
        turn = book.forget_plan(id_, now)
        has_slot = book.holders.get(id_, now) > now
        if not has_slot and book.is_full(pace, now):
            at = max(now + max(FULL_HOUSE, pace.delay), book.hold_until)
            return Ticket(id_, ledger, at)
        # One that has a place in the line is measured by real starts alone.
        its_turn = ticket is not None and not ticket.granted and 0 < ticket.mark <= now
        at = max(book.earliest(pace, now), turn)
        if not turn and not its_turn:
            at = max(at, book.next_plan(pace))
        if has_slot or at <= now:
            book.holders[id_] = at + self._lease_seconds
        if at > now:
            insort(book.plans, (at, id_))
            return Ticket(id_, ledger, at, mark=at, slot=has_slot)
        book.start(pace, now)
        return Ticket(id_, ledger, now, mark=now, granted=True, slot=True)

    async def look(self, ledger: str, pace: Pace) -> float:
        now = self._clock.monotonic()
        book = deepcopy(self._ledgers.get(ledger, _Ledger()))
        book.clock_went_back(now)
        pace = book.effective(pace, now)
        book.forget_plan("", now)
        if book.is_full(pace, now):
            return max(FULL_HOUSE, pace.delay, book.hold_until - now)
        return max(book.earliest(pace, now), book.next_plan(pace)) - now

    async def release(self, ticket: Ticket) -> None:
        if book := self._ledgers.get(ticket.ledger):
            book.holders.pop(ticket.id, None)
            book.forget_plan(ticket.id, self._clock.monotonic())

    async def slow_down(self, ledger: str, seconds: float) -> None:
        now = self._clock.monotonic()
        book = self._open(ledger, now)
        book.slow_until = max(book.slow_until, now + seconds)

    async def hold(self, ledger: str, seconds: float) -> None:
        now = self._clock.monotonic()
        book = self._open(ledger, now)
        book.hold_until = max(book.hold_until, now + seconds)

    async def slowed(self) -> Sequence[Slowed]:
        now = self._clock.monotonic()
        return [
            Slowed(name, book.slow_until - now)
            for name, book in self._ledgers.items()
            if book.slow_until > now
        ]

    def _open(self, ledger: str, now: float) -> _Ledger:
        book = self._ledgers.get(ledger)
        if book is None:
            self._since_sweep += 1
            if self._since_sweep >= SWEEP_EVERY:
                self._sweep(now)
            book = self._ledgers[ledger] = _Ledger()
        return book

    def _sweep(self, now: float) -> None:
        """Look at the ledgers opened longest ago, twice as many as came since the last sweep."""
        oldest = list(itertools.islice(self._ledgers, 2 * self._since_sweep))
        self._since_sweep = 0
        for name in oldest:
            book = self._ledgers.pop(name)
            if not book.is_idle(now):
                self._ledgers[name] = book
