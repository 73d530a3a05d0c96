"""Pacing in Redis: the ledgers of `kernel.pacing`, one for all processes.

Starts are those that the server saw, by the server's clock. A slot is a lease; those of a process
that fell silent are free before they run out.
"""

import itertools
from collections.abc import Sequence
from functools import lru_cache

from penstock.core.clock import Clock
from penstock.kernel.model import Ticket
from penstock.kernel.pacing import FULL_HOUSE, MIN_KEPT, NO_SHOW, PACE_MEMORY
from penstock.kernel.policy import Pace
from penstock.kernel.ports import Slowed
from penstock.kernel.redis.presence import ALIVE, load_watchful
from penstock.kernel.redis.server import Server, load_script, microseconds

#: The ledgers that are slowed down, by when that ends.
SLOWED = "rate_limit_slowed"
MOST_SLOWED = 1000
#: Said to the script that reserves: tell when the turn would be, and take nothing.
LOOK = "look"


class RedisPacing:
    """Ledgers under `rate_limit:{ledger}` and beside it; times of turns are made local here."""

    def __init__(self, server: Server, clock: Clock, lease_seconds: float) -> None:
        self._server = server
        self._clock = clock
        self._numbers = itertools.count(1)
        lease = microseconds(lease_seconds)
        self._reserve = load_watchful(
            "ledger",
            "reserve",
            LEASE=lease,
            PACE_MEMORY=microseconds(PACE_MEMORY),
            FULL_HOUSE=microseconds(FULL_HOUSE),
            NO_SHOW=microseconds(NO_SHOW),
            MIN_KEPT=MIN_KEPT,
        )
        self._release = load_script("ledger", "release", LEASE=lease)
        self._penalise = load_script("ledger", "penalise", LEASE=lease)
        self._slowed = load_script("slowed", MOST=MOST_SLOWED)

    async def reserve(
        self, ledger: str, pace: Pace, ticket: Ticket | None = None, circuit: str = ""
    ) -> Ticket:
        id_ = ticket.id if ticket else f"{self._server.process}:{next(self._numbers)}"
        mark = microseconds(ticket.mark) if ticket and not ticket.granted else 0
        keys = (*_keys(ledger), circuit, ALIVE)
        reply = await self._server.run(self._reserve, keys, id_, mark, _text(pace))
        granted, wait, turn, slot, is_clean = map(int, reply.split())
        return Ticket(
            id=id_,
            ledger=ledger,
            at=self._clock.monotonic() + wait / 1e6,
            mark=turn / 1e6,
            granted=bool(granted),
            slot=bool(slot),
            is_clean=bool(circuit and is_clean),
        )

    async def look(self, ledger: str, pace: Pace) -> float:
        id_, keys = f"{self._server.process}:{next(self._numbers)}", (*_keys(ledger), "", ALIVE)
        reply = await self._server.run(self._reserve, keys, id_, 0, _text(pace), LOOK)
        return max(0.0, int(reply.split()[1]) / 1e6)

    async def release(self, ticket: Ticket) -> None:
        await self._server.run(self._release, _keys(ticket.ledger), ticket.id)

    async def slow_down(self, ledger: str, seconds: float) -> None:
        await self._punish(ledger, "slow", seconds)

    async def hold(self, ledger: str, seconds: float) -> None:
        await self._punish(ledger, "hold", seconds)

    async def slowed(self) -> Sequence[Slowed]:
        """At most `MOST_SLOWED` of them; more are a trouble of our own."""
        found = await self._server.run(self._slowed, (SLOWED,))
        return [Slowed(ledger.decode(), left / 1e6) for ledger, left in found]

    async def _punish(self, ledger: str, penalty: str, seconds: float) -> None:
        keys = (*_keys(ledger), SLOWED)
        await self._server.run(self._penalise, keys, penalty, microseconds(seconds), ledger)


@lru_cache(maxsize=1024)
def _keys(ledger: str) -> tuple[str, ...]:
    key = f"rate_limit:{ledger}"
    return key, f"{key}:starts", f"{key}:plans", f"{key}:slots"


@lru_cache(maxsize=1024)
def _text(pace: Pace) -> str:
    """A pace as the scripts read it: delay, concurrency, then limit and window of each rate."""
    rates = (number for rate in pace.rates for number in (rate.limit, microseconds(rate.window)))
    return " ".join(map(str, (microseconds(pace.delay), pace.concurrency, *rates)))
