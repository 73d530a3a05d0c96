"""What the path needs from back ends; memory and Redis both keep these promises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from penstock.core.urls import Url
from penstock.kernel.model import Failure, Page, Pass, Proxy, Redirect, Ticket
from penstock.kernel.policy import Pace


class Slowed(NamedTuple):
    """A ledger whose rate is halved for so many seconds more."""

    ledger: str
    seconds: float


class Pacing(Protocol):
    """One ledger per domain over everything that contacts it."""

    async def reserve(
        self, ledger: str, pace: Pace, ticket: Ticket | None = None, circuit: str = ""
    ) -> Ticket:
        """Ask for a turn.

        A granted ticket means: now. Any other says in `at` when to come back with it. A
        granted ticket handed in again asks for one more turn in the slot it holds. A breaker's
        `circuit` that is kept in the same place is looked at on the way.
        """
        ...

    async def look(self, ledger: str, pace: Pace) -> float:
        """In how many seconds a turn would come if one was asked for now. Spends nothing."""
        ...

    async def release(self, ticket: Ticket) -> None:
        """Give back the slot, or the place in the line if the turn never came."""
        ...

    async def slow_down(self, ledger: str, seconds: float) -> None:
        """Halve the domain's rate for so long."""
        ...

    async def hold(self, ledger: str, seconds: float) -> None:
        """Grant no turn at all for so long."""
        ...

    async def slowed(self) -> Sequence[Slowed]:
        """The domains that are slowed down, as far as is known."""
        ...


class Turned(NamedTuple):
    """A circuit that has just become open, for so many seconds, or closed."""

    state: Literal["open", "closed"]
    seconds: float = 0.0


class CircuitState(NamedTuple):
    """A domain whose circuit is not closed: failures since it was, and the present back-off."""

    domain: str
    state: str
    failures: int
    backoff: float


class Breaker(Protocol):
    """Whether a domain is up, as far as recent requests tell."""

    async def look(self, domain: str) -> float | None:
        """None if a request could go; else in how many seconds to look again. Spends nothing."""
        ...

    def circuit(self, domain: str) -> str:
        """What a domain's circuit is called where turns are kept, too; empty if it is not there."""
        ...

    async def enter(self, domain: str, *, is_clean: bool = False) -> Pass | float:
        """Leave to contact the domain, or in how many seconds to ask again.

        `is_clean` says that its circuit was looked for when the turn was given: there is none.
        """
        ...

    async def report(self, leave: Pass, *, well: bool | None) -> Turned | None:
        """Tell how it went, or None if nothing was learnt; what that made of the circuit."""
        ...

    async def troubled(self) -> Sequence[CircuitState]:
        """The domains that are not up, as far as is known."""
        ...


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What asking an origin for robots.txt gave.

    `status` is `rules` (parse `text`), `allow` (there are none) or `unreachable`; `tries`
    counts the failed ones in a row.
    """

    status: str
    text: str = ""
    tries: int = 0
    detail: str = ""


class RobotsCache(Protocol):
    """Answers about robots.txt, per origin."""

    async def get(self, origin: str) -> tuple[RobotsAnswer, float] | None:
        """The answer and how many seconds it is still good; None if there is none."""
        ...

    async def put(self, origin: str, answer: RobotsAnswer, seconds: float) -> None:
        """Keep an answer for so long."""
        ...

    async def claim(self, origin: str, seconds: float) -> bool:
        """True for the one that shall ask the origin; False while another does."""
        ...

    async def unclaim(self, origin: str) -> None:
        """Let the next one ask."""
        ...


class Fetcher(Protocol):
    """Gets one hop of a visit; never follows a redirect by itself.

    `patience` is how many seconds all hops of one attempt may take together.
    """

    name: str

    @property
    def patience(self) -> float: ...

    def look(self) -> float | None:
        """None if a hop could go now; else in how many seconds to look again."""
        ...

    async def fetch(self, hop: "Hop") -> Page | Redirect | Failure:
        """Contact the site once; `NotNow` if that could not be done or was broken off by us."""
        ...


class NotNow(Exception):
    """Trouble of our own, not the site's: try again in so many seconds."""

    def __init__(self, reason: str, problem: str, seconds: float) -> None:
        super().__init__(problem)
        self.reason = reason
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Browsing:
    """What a browser shall do with a page, besides opening it.

    `own_headers` are added to those of the browser, for the URL's origin only. `pause_ms` is the
    range of the pause between two actions. `masked` asks for the looks of a common browser that
    fits the `region`. `keep` is the name under which the page stays open.
    """

    own_headers: Mapping[str, str]
    cookies: Mapping[str, str]
    pause_ms: tuple[int, int]
    wait_for: str = ""
    scroll: bool = False
    screenshot: bool = False
    block_resources: bool = False
    masked: bool = False
    region: str | None = None
    keep: str = ""


@dataclass(frozen=True, slots=True)
class Hop:
    """One request as it goes out: where, with which headers, through which proxy."""

    url: Url
    headers: Mapping[str, str]
    timeout: float
    method: str = "GET"
    proxy: Proxy | None = None
    max_bytes: int | None = None
    truncate: bool = False
    browsing: Browsing | None = None
    body: bytes | None = None
