"""Crews for tests: a real pipeline on the site, and a clock that only the crew's alarm moves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

from penstock.app import Platform
from penstock.core.clock import Clock
from penstock.kernel.model import Outcome, Request, Wait
from penstock.queue.worker import Crew, CrewSettings
from tests.clocks import HandClock

#: A crew that has lost its way would wait for ever.
LONGEST_TEST = 20.0


class CrewClock(HandClock):
    """Jumps to the time of the next turn; what else sleeps on it, sleeps on."""

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.Event().wait()

    @property
    def passed(self) -> float:
        """Seconds since the test began."""
        return self.monotonic() - 1000.0


@dataclass
class CrewRun:
    """A crew at work, what it delivered and what was left when it ended."""

    platform: Platform
    clock: Clock
    settings: CrewSettings = field(default_factory=lambda: CrewSettings(workers=8))
    outcomes: list[Outcome] = field(default_factory=list)
    on_delivery: Callable[[Outcome], None] = lambda _: None
    far: Callable[[Request, Wait], None] | None = None

    def __post_init__(self) -> None:
        self.crew = Crew(
            self.platform.pipeline, self.clock, self._deliver, self.settings, far=self.far
        )

    def _deliver(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.on_delivery(outcome)

    async def carry(self, urls: Iterable[str]) -> list[str]:
        """Carry all URLs; return those that were left over."""
        return await self.carry_from(requests_of(urls))

    async def carry_from(self, requests: AsyncIterator[Request]) -> list[str]:
        async with asyncio.timeout(LONGEST_TEST):
            return [request.url for request in await self.crew.work(requests)]

    @property
    def delivered(self) -> list[str]:
        return [outcome.request.url for outcome in self.outcomes]

    @property
    def reasons(self) -> list[str]:
        """Why each request failed, sorted; `ok` for those that did not."""
        return sorted(
            outcome.failure.reason if outcome.failure else "ok" for outcome in self.outcomes
        )


async def requests_of(urls: Iterable[str]) -> AsyncIterator[Request]:
    for number, url in enumerate(urls):
        yield Request(url, id=str(number))
        await asyncio.sleep(0)
