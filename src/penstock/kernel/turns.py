"""Step 6 of the path: the turn that a visit waits for, takes and gives back."""

from penstock.kernel.model import RateLimited, Visit, Wait
from penstock.kernel.policy import Pace
from penstock.kernel.ports import Pacing
from penstock.kernel.retry import Retry


class Turns:
    """Keeps a visit's place in the ledger of the domain that it contacts next."""

    def __init__(self, pacing: Pacing, retry: Retry, backoff_seconds: float) -> None:
        self._pacing = pacing
        self._retry = retry
        self._backoff_seconds = backoff_seconds

    async def take(self, visit: Visit, pace: Pace, circuit: str = "") -> Wait | None:
        """Reserve the next turn; None means that it is now."""
        if visit.ticket and visit.ticket.ledger != visit.ledger:
            await self.leave(visit)
        visit.ticket = await self._pacing.reserve(visit.ledger, pace, visit.ticket, circuit)
        if visit.ticket.granted:
            return None
        return Wait(visit.ticket.at, "pacing", "waiting for its turn")

    async def look(self, visit: Visit, pace: Pace) -> float:
        """In how many seconds the turn would come; nothing is reserved."""
        return await self._pacing.look(visit.ledger, pace)

    async def leave(self, visit: Visit) -> None:
        """Give back the slot, or the place in the line."""
        if visit.ticket:
            ticket, visit.ticket = visit.ticket, None
            await self._pacing.release(ticket)

    async def slow_down(self, visit: Visit, failure: RateLimited) -> float:
        """Half the rate for a while, and nothing at all for as long as the site asked."""
        seconds = failure.retry_after or self._retry.backoff(visit.attempt, visit.request.workload)
        await self._pacing.slow_down(visit.ledger, self._backoff_seconds)
        await self._pacing.hold(visit.ledger, seconds)
        return seconds
