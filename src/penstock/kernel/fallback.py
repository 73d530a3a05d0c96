"""What happens while the shared server is away: every process is careful on its own.

Pacing falls to the safe pace in the local ledger, breaker and robots to local memory; after
`retry_seconds` one caller asks the shared server again. Whichever ledger takes over has not
seen what started on the other one, so it stays silent for one whole window first.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from penstock.core.clock import Clock
from penstock.core.errors import SharedStateLost
from penstock.core.log import get_logger
from penstock.kernel.model import Pass, Ticket
from penstock.kernel.policy import Pace
from penstock.kernel.ports import (
    Breaker,
    CircuitState,
    Pacing,
    RobotsAnswer,
    RobotsCache,
    Slowed,
    Turned,
)

#: Put before the id of a ticket that the local ledger gave out.
LOCAL = "local:"
#: A longer window is not waited out: a short loss must not silence a domain for a day.
LONGEST_SILENCE = 3600.0
#: While a slot of the other ledger is in use, look again after so many seconds,
BUSY = 0.25
#: but take one that was not given back for so long as lost.
SLOT_TRUST = 120.0
MAX_OWED = 10_000

P = ParamSpec("P")
T = TypeVar("T")


class Link:
    """Whether the shared server answers; while it is away, one caller at a time tries again."""

    def __init__(self, clock: Clock, retry_seconds: float) -> None:
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._away = False
        self._retry_at = 0.0
        self._lost_at: float | None = None
        self._back_at: float | None = None

    @property
    def local_since(self) -> float | None:
        """When the local side last took over, if it ever did."""
        return self._lost_at

    @property
    def shared_since(self) -> float | None:
        """From when on every process uses the shared side again, if it was ever left."""
        back_at = self._clock.monotonic() if self._away else self._back_at
        # The others find out within the time between two tries.
        return None if back_at is None else back_at + self._retry_seconds

    async def ask(
        self, call: Callable[P, Awaitable[T]], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """The shared server's answer; `SharedStateLost`, at once, while it is known to be away."""
        trying = self._away
        if trying:
            if self._clock.monotonic() < self._retry_at:
                raise SharedStateLost("the shared server is away")
            self._retry_at = self._clock.monotonic() + self._retry_seconds
        try:
            answer = await call(*arguments, **named)
        except SharedStateLost as error:
            self._note_loss(error)
            raise
        if trying:
            self._note_return()
        return answer

    def _note_loss(self, error: SharedStateLost) -> None:
        now = self._clock.monotonic()
        self._retry_at = now + self._retry_seconds
        if not self._away:
            self._away, self._lost_at = True, now
            get_logger().warning("shared state lost, going on at the safe pace", error=str(error))

    def _note_return(self) -> None:
        if self._away:
            self._away, self._back_at = False, self._clock.monotonic()
            get_logger().warning("shared state is back")


@dataclass(slots=True)
class _Owed:
    """What the shared ledger of a domain has to be told when it is back."""

    slots: list[Ticket] = field(default_factory=list)
    slow_until: float = 0.0
    hold_until: float = 0.0


class FallbackPacing:
    """The shared ledgers, or the local ones at no more than the safe pace."""

    def __init__(self, shared: Pacing, local: Pacing, safe: Pace, link: Link, clock: Clock) -> None:
        self._shared = shared
        self._local = local
        self._safe = safe
        self._link = link
        self._clock = clock
        self._shared_slots: dict[str, Ticket] = {}
        self._local_slots: dict[str, Ticket] = {}
        self._owed: dict[str, _Owed] = {}

    async def reserve(
        self, ledger: str, pace: Pace, ticket: Ticket | None = None, circuit: str = ""
    ) -> Ticket:
        is_local = ticket is not None and ticket.id.startswith(LOCAL)
        try:
            turn = await self._link.ask(
                self._reserve_shared, ledger, pace, None if is_local else ticket, circuit
            )
        except SharedStateLost:
            return await self._reserve_local(ledger, pace.strictest(self._safe), ticket)
        if ticket and is_local:
            await self.release(ticket)
        return turn

    async def look(self, ledger: str, pace: Pace) -> float:
        link, silence = self._link, self._silence
        try:
            seconds = await link.ask(self._shared.look, ledger, pace)
            silent = silence(ledger, pace, link.shared_since, self._local_slots)
        except SharedStateLost:
            pace = pace.strictest(self._safe)
            seconds = await self._local.look(ledger, pace)
            silent = silence(ledger, pace, link.local_since, self._shared_slots)
        return max(seconds, silent)

    async def release(self, ticket: Ticket) -> None:
        if ticket.id.startswith(LOCAL):
            self._local_slots.pop(ticket.id, None)
            return await self._local.release(_without_mark(ticket))
        self._shared_slots.pop(ticket.id, None)
        try:
            await self._link.ask(self._shared.release, ticket)
        except SharedStateLost:
            self._owe(ticket.ledger).slots.append(ticket)

    async def slow_down(self, ledger: str, seconds: float) -> None:
        await self._local.slow_down(ledger, seconds)
        try:
            await self._link.ask(self._shared.slow_down, ledger, seconds)
        except SharedStateLost:
            owed, until = self._owe(ledger), self._clock.monotonic() + seconds
            owed.slow_until = max(owed.slow_until, until)

    async def hold(self, ledger: str, seconds: float) -> None:
        await self._local.hold(ledger, seconds)
        try:
            await self._link.ask(self._shared.hold, ledger, seconds)
        except SharedStateLost:
            owed, until = self._owe(ledger), self._clock.monotonic() + seconds
            owed.hold_until = max(owed.hold_until, until)

    async def slowed(self) -> Sequence[Slowed]:
        try:
            return await self._link.ask(self._shared.slowed)
        except SharedStateLost:
            return await self._local.slowed()

    async def _reserve_shared(
        self, ledger: str, pace: Pace, ticket: Ticket | None, circuit: str
    ) -> Ticket:
        if ledger in self._owed:
            await self._settle(ledger)
        silence = self._silence(ledger, pace, self._link.shared_since, self._local_slots)
        if silence > 0:
            await self._shared.hold(ledger, silence)
        turn = await self._shared.reserve(ledger, pace, ticket, circuit)
        if turn.granted:
            self._shared_slots[turn.id] = turn
        return turn

    async def _reserve_local(self, ledger: str, pace: Pace, ticket: Ticket | None) -> Ticket:
        if ticket and not ticket.id.startswith(LOCAL):
            await self.release(ticket)
            ticket = None
        silence = self._silence(ledger, pace, self._link.local_since, self._shared_slots)
        if silence > 0:
            await self._local.hold(ledger, silence)
        turn = await self._local.reserve(ledger, pace, ticket and _without_mark(ticket))
        turn = replace(turn, id=LOCAL + turn.id)
        if turn.granted:
            self._local_slots[turn.id] = turn
        return turn

    def _silence(
        self, ledger: str, pace: Pace, since: float | None, slots: dict[str, Ticket]
    ) -> float:
        """How long the side in charge stays silent for what the other one let through."""
        now = self._clock.monotonic()
        until = 0.0
        if since is not None:
            until = since + min(pace.reach, LONGEST_SILENCE)
        for slot in list(slots.values()):
            if now - slot.at > SLOT_TRUST:
                del slots[slot.id]
            elif slot.ledger == ledger:
                until = max(until, now + BUSY)
        return until - now

    async def _settle(self, ledger: str) -> None:
        """Tell the shared ledger what it has missed; twice does no harm."""
        owed, now = self._owed[ledger], self._clock.monotonic()
        for ticket in owed.slots:
            await self._shared.release(ticket)
        if owed.slow_until > now:
            await self._shared.slow_down(ledger, owed.slow_until - now)
        if owed.hold_until > now:
            await self._shared.hold(ledger, owed.hold_until - now)
        self._owed.pop(ledger, None)

    def _owe(self, ledger: str) -> _Owed:
        if ledger not in self._owed and len(self._owed) >= MAX_OWED:
            del self._owed[next(iter(self._owed))]
        return self._owed.setdefault(ledger, _Owed())


def _without_mark(ticket: Ticket) -> Ticket:
    """A local ticket as the local ledger knows it."""
    return replace(ticket, id=ticket.id.removeprefix(LOCAL))


class FallbackBreaker:
    """The shared circuits, or local ones.

    Their epochs differ: a pass from one side counts on the other only where none knew trouble.
    """

    def __init__(self, shared: Breaker, local: Breaker, link: Link) -> None:
        self._shared = shared
        self._local = local
        self._link = link

    async def look(self, domain: str) -> float | None:
        try:
            return await self._link.ask(self._shared.look, domain)
        except SharedStateLost:
            return await self._local.look(domain)

    def circuit(self, domain: str) -> str:
        return self._shared.circuit(domain)

    async def enter(self, domain: str, *, is_clean: bool = False) -> Pass | float:
        try:
            return await self._link.ask(self._shared.enter, domain, is_clean=is_clean)
        except SharedStateLost:
            return await self._local.enter(domain)

    async def report(self, leave: Pass, *, well: bool | None) -> Turned | None:
        try:
            return await self._link.ask(self._shared.report, leave, well=well)
        except SharedStateLost:
            return await self._local.report(leave, well=well)

    async def troubled(self) -> Sequence[CircuitState]:
        try:
            return await self._link.ask(self._shared.troubled)
        except SharedStateLost:
            return await self._local.troubled()


class FallbackRobotsCache:
    """The shared answers, or those that were got while the shared server was away."""

    def __init__(self, shared: RobotsCache, local: RobotsCache, link: Link) -> None:
        self._shared = shared
        self._local = local
        self._link = link
        self._unclaimed: set[str] = set()

    async def get(self, origin: str) -> tuple[RobotsAnswer, float] | None:
        try:
            answer = await self._link.ask(self._shared.get, origin)
        except SharedStateLost:
            answer = None
        return answer or await self._local.get(origin)

    async def put(self, origin: str, answer: RobotsAnswer, seconds: float) -> None:
        try:
            await self._link.ask(self._shared.put, origin, answer, seconds)
        except SharedStateLost:
            await self._local.put(origin, answer, seconds)

    async def claim(self, origin: str, seconds: float) -> bool:
        try:
            if origin in self._unclaimed:
                await self._link.ask(self._shared.unclaim, origin)
                self._unclaimed.discard(origin)
            return await self._link.ask(self._shared.claim, origin, seconds)
        except SharedStateLost:
            return await self._local.claim(origin, seconds)

    async def unclaim(self, origin: str) -> None:
        await self._local.unclaim(origin)
        try:
            await self._link.ask(self._shared.unclaim, origin)
        except SharedStateLost:
            if len(self._unclaimed) < MAX_OWED:
                self._unclaimed.add(origin)
