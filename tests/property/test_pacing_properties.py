"""Properties of pacing, for any order of arrivals, returns, releases, penalties and clocks."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.model import Ticket
from penstock.kernel.pacing import PACE_MEMORY, MemoryPacing
from penstock.kernel.policy import Pace, Rate
from tests.clocks import HandClock

LEDGER = "shop.test"
#: Adding seconds up loses a few of the last digits.
ROUNDING = 1e-6

rates = st.builds(Rate, st.integers(1, 6), st.floats(0.5, 30))
paces = st.builds(
    Pace,
    st.lists(rates, min_size=1, max_size=2).map(tuple),
    st.sampled_from([0.0, 0.3, 1.0, 5.0]),
    st.integers(1, 4),
)
pauses = st.lists(st.floats(0, 20), min_size=1, max_size=60)


async def starts_of(pacing: MemoryPacing, clock: HandClock, pace: Pace, count: int) -> list[float]:
    """Start so many requests, one after the other, each as soon as it may; return when."""
    starts: list[float] = []
    ticket: Ticket | None = None
    while len(starts) < count:
        ticket = await pacing.reserve(LEDGER, pace, ticket)
        if ticket.granted:
            starts.append(clock.monotonic())
            await pacing.release(ticket)
            ticket = None
        else:
            clock.move(ticket.at - clock.monotonic())
    return starts


def most_in_any_window(starts: list[float], window: float) -> int:
    return max(
        sum(first <= start < first + window - ROUNDING for start in starts) for first in starts
    )


# Feature: scraping-microservices, Property 22: Token bucket rate limiting per domain
@pytest.mark.property_number(22)
@settings(max_examples=200, deadline=None)
@given(tokens=st.integers(1, 8), interval=st.floats(0.5, 60), pauses=pauses)
async def test_no_window_holds_more_than_its_tokens_and_no_domain_spends_those_of_another(
    tokens: int, interval: float, pauses: list[float]
) -> None:
    clock = HandClock()
    pacing = MemoryPacing(clock)
    pace = Pace((Rate(tokens, interval),), 0.0, 1000)
    starts = []
    for pause in pauses:
        clock.move(pause)
        ticket = await pacing.reserve(LEDGER, pace)
        if ticket.granted:
            starts.append(clock.monotonic())

    assert most_in_any_window(starts, interval) <= tokens
    others = [await pacing.reserve("other.test", pace) for _ in range(tokens + 1)]
    assert [ticket.granted for ticket in others] == [True] * tokens + [False]


# Feature: scraping-microservices, Property 26: Adaptive rate reduction on 429
@pytest.mark.property_number(26)
@settings(max_examples=200, deadline=None)
@given(tokens=st.integers(1, 8), interval=st.floats(1, 60), backoff=st.floats(1, 600))
async def test_rate_is_half_for_the_backoff_and_the_old_one_after_it(
    tokens: int, interval: float, backoff: float
) -> None:
    clock = HandClock()
    pacing = MemoryPacing(clock)
    pace = Pace((Rate(tokens, interval),), 0.0, 1)
    await pacing.slow_down(LEDGER, backoff)
    restored_at = clock.monotonic() + backoff

    slowed = [
        at for at in await starts_of(pacing, clock, pace, 4 * tokens) if at < restored_at - ROUNDING
    ]
    clock.move(max(0.0, restored_at - clock.monotonic()) + 2 * interval)
    restored = await starts_of(pacing, clock, pace, 3 * tokens)

    assert most_in_any_window(slowed, 2 * interval) <= tokens
    for first, next_ in zip(slowed, slowed[tokens:], strict=False):
        assert next_ - first == pytest.approx(2 * interval)
    for first, next_ in zip(restored, restored[tokens:], strict=False):
        assert next_ - first == pytest.approx(interval)


@dataclass
class Crawl:
    """A ledger in use, and what its promises say about every start that it grants.

    `now` is the true time, which only goes on; the clock may also be set back.
    """

    paces: list[Pace]
    clock: HandClock = field(default_factory=HandClock)
    now: float = 0.0
    starts: list[float] = field(default_factory=list)
    waiting: list[tuple[Pace, Ticket]] = field(default_factory=list)
    running: list[tuple[Pace, Ticket]] = field(default_factory=list)
    asked: dict[Pace, float] = field(default_factory=dict)
    slow_until: float = 0.0
    held_until: float = 0.0

    def __post_init__(self) -> None:
        self.pacing = MemoryPacing(self.clock, lease_seconds=1e9)

    async def arrive(self, which: float) -> None:
        await self._reserve(self.paces[int(which) % len(self.paces)], None)

    async def come_back(self, which: float) -> None:
        """One that waits comes back, be it early or late."""
        if self.waiting:
            await self._reserve(*self.waiting.pop(int(which) % len(self.waiting)))

    async def come_back_on_time(self, which: float) -> None:
        if self.waiting:
            pace, ticket = self.waiting.pop(int(which) % len(self.waiting))
            await self.pass_time(max(0.0, ticket.at - self.clock.monotonic()))
            await self._reserve(pace, ticket)

    async def go_on(self, which: float) -> None:
        """One that runs asks for one more turn in the slot it holds."""
        if self.running:
            await self._reserve(*self.running.pop(int(which) % len(self.running)))

    async def finish(self, which: float) -> None:
        if self.running:
            await self.pacing.release(self.running.pop(int(which) % len(self.running))[1])

    async def leave(self, which: float) -> None:
        if self.waiting:
            await self.pacing.release(self.waiting.pop(int(which) % len(self.waiting))[1])

    async def slow_down(self, seconds: float) -> None:
        await self.pacing.slow_down(LEDGER, seconds)
        self.slow_until = max(self.slow_until, self.now + seconds)

    async def hold(self, seconds: float) -> None:
        await self.pacing.hold(LEDGER, seconds)
        self.held_until = max(self.held_until, self.now + seconds)

    async def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.clock.move(seconds)

    async def set_clock_back(self, seconds: float) -> None:
        self.clock.move(-seconds)

    async def set_date_forward(self, seconds: float) -> None:
        self.clock.set_date(self.clock.now() + timedelta(seconds=seconds))

    async def _reserve(self, pace: Pace, ticket: Ticket | None) -> None:
        had_slot = ticket is not None and ticket.slot
        self.asked[pace] = self.now
        ticket = await self.pacing.reserve(LEDGER, pace, ticket)
        (self.running if ticket.slot else self.waiting).append((pace, ticket))
        if ticket.granted:
            self.starts.append(self.now)
            for known, asked in self.asked.items():
                if self.now - asked <= PACE_MEMORY - ROUNDING:
                    self._check_promises(known, had_slot=had_slot)

    def _check_promises(self, pace: Pace, *, had_slot: bool) -> None:
        if self.now < self.slow_until - ROUNDING:
            pace = pace.halved()
        assert self.now >= self.held_until - ROUNDING
        assert had_slot or len(self.running) <= pace.concurrency
        assert self._since(1) >= pace.delay - ROUNDING
        for limit, window in pace.rates:
            assert self._since(limit) >= window - ROUNDING

    def _since(self, n: int) -> float:
        """How long before the last start the n-th one before it was."""
        return self.starts[-1] - self.starts[-1 - n] if len(self.starts) > n else float("inf")


DOINGS = (
    *("arrive", "come_back", "come_back_on_time", "pass_time") * 2,
    *("go_on", "finish", "leave", "slow_down", "hold", "set_clock_back", "set_date_forward"),
)
walks = st.lists(st.tuples(st.sampled_from(DOINGS), st.floats(0, 20)), max_size=80)


@settings(max_examples=500, deadline=None)
@given(known=st.lists(paces, min_size=1, max_size=3), walk=walks)
async def test_every_start_keeps_window_delay_concurrency_and_penalties(
    known: list[Pace], walk: list[tuple[str, float]]
) -> None:
    crawl = Crawl(known)
    for doing, value in walk:
        await getattr(crawl, doing)(value)
