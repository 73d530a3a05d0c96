"""The desk of the page fetcher: where URLs are handed in, and dead letters are looked after."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

FailureType = Literal["site_wide", "url_specific"]


#: The reason of a URL for which there was no room: the only one that passes by itself.
QUEUE_FULL = "queue_full"


class Refusal(NamedTuple):
    """A URL that was not taken, where it stands among those handed in, and why."""

    place: int
    url: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of URLs that were handed in; if the queue is full, when it is worth a try."""

    accepted: int
    rejected: Sequence[Refusal] = ()
    retry_after: float | None = None


class Standing(NamedTuple):
    """How many URLs could be begun now, wait for their time, are under way, and are dead."""

    waiting: int
    parked: int
    under_way: int
    dead: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A URL that failed for good, and why; `at` is unknown of one that somebody else put there."""

    url: str
    type: FailureType
    kind: str
    reason: str
    detail: str
    status_code: int | None
    domain: str
    at: datetime | None


class DeadLetters(NamedTuple):
    """A part of the dead letters; if there may be more, where they go on."""

    letters: Sequence[DeadLetter]
    next_cursor: str | None


class Desk(Protocol):
    """Every back end of the page fetcher has one.

    Dead letters are chosen by URL, domain and reason; all of them if none is given.
    """

    async def push(self, urls: Sequence[str]) -> Pushed:
        """Hand URLs in, in order; what is taken is kept."""
        ...

    async def depth(self, most: int | None = None) -> Standing:
        """How the queue stands.

        Where counting costs something it stops after `most`: of what could be begun now, and of
        what is dead, there is one more then. All that wait are always `waiting` and `parked`.
        """
        ...

    async def dead(
        self, after: str | None = None, limit: int = 100, *, domain: str = "", reason: str = ""
    ) -> DeadLetters:
        """Dead letters, oldest first, behind a place; a part may be small though more follows."""
        ...

    async def revive(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        """Let dead letters wait again as if they were new; how many."""
        ...

    async def discard(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        """Forget dead letters for good; how many."""
        ...
