"""What is played, how large, and what came of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.chaos.live.stand import Stand, Tempo, Watched, some_feeds
from tests.chaos.live.truth import Findings
from tests.postgres_server import PrivatePostgres

#: Fresh again so soon after a fault has ended.
LIMIT_SECONDS = 10.0
#: Megabytes a second: the first comes to a soft limit, the second past the hard one at once.
SLOW_LEAK, FAST_LEAK = 20, 200


@dataclass(frozen=True, slots=True)
class Size:
    """How many pages and calls are watched and how, how often something fails, and for how long.

    In seconds: a frozen server and a locked file, a cut of the network and the time between two,
    and the time between two kills.
    """

    pages: int
    calls: int
    tempo: Tempo
    kills: int
    cuts: int
    frozen: float
    locked: float
    cut: float
    pause: float
    breath: float


SMALL = Size(
    pages=3,
    calls=1,
    tempo=Tempo(1.0, 1.5),
    kills=1,
    cuts=2,
    frozen=8.0,
    locked=5.0,
    cut=3.0,
    pause=1.5,
    breath=1.0,
)
#: The interval is that which is shipped.
LONG = Size(
    pages=8,
    calls=2,
    tempo=Tempo(2.5, 0.75),
    kills=5,
    cuts=6,
    frozen=300.0,
    locked=60.0,
    cut=10.0,
    pause=50.0,
    breath=7.0,
)


@dataclass(slots=True)
class Result:
    """What a scenario cost: seconds until all was fresh after each fault, and what is stored."""

    scenario: str
    limit: float = LIMIT_SECONDS
    recoveries: list[float] = field(default_factory=list)
    found: Findings = field(default_factory=Findings)
    note: str = ""

    @property
    def is_well(self) -> bool:
        is_soon = 0 < max(self.recoveries, default=0.0) <= self.limit
        return is_soon and self.found.is_clean and self.found.critical > 0


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a scenario is played: a stand, its size, and the server of its store, if it has one."""

    stand: Stand
    size: Size
    postgres: PrivatePostgres | None


Play = Callable[[Ground, Result], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that is done, and what the service needs to be for it."""

    name: str
    play: Play
    needs_postgres: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    #: What is watched, how much longer something must be seen to count, how soon all is fresh.
    feeds: Literal["all", "few", "pages", "calls"] = "all"
    longer: float = 0.0
    limit: float = LIMIT_SECONDS

    def feeds_of(self, size: Size) -> list[Watched]:
        """As many feeds as the size says, of the kinds that are watched here."""
        if self.feeds == "few":
            return some_feeds(SMALL.pages, SMALL.calls, leaks=(SLOW_LEAK, FAST_LEAK))
        number = size.pages + size.calls
        pages = {"all": size.pages, "pages": number, "calls": 0}[self.feeds]
        return some_feeds(pages, number - pages)
