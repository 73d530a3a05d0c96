"""The queue: work that survives anything, in lanes, claimed by one worker at a time.

An item waits until its time has come, is claimed with a token, and ends: done, buried as a dead
letter, or waiting again. Who names an old token has lost the item and changes nothing any more.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Protocol

from penstock.store.unit import Unit

PRIORITIES = range(10)
DEFAULT_PRIORITY = 5


class State(StrEnum):
    """Where an item stands."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"
    DEAD = "dead"
    STALE = "stale"


class Item(NamedTuple):
    """A piece of work to be put in a lane.

    Lower `priority` first, 0 to 9. `group` is the domain: groups are served fairly. A `key` is
    accepted once per lane for as long as its item is kept. `quota` is whose limit it counts in.
    `delay` and `max_age` are seconds: not before, and stale after.
    """

    id: str
    lane: str
    payload: Mapping[str, Any]
    group: str = ""
    priority: int = DEFAULT_PRIORITY
    key: str | None = None
    quota: str = ""
    delay: float = 0.0
    max_age: float | None = None
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an item that was put; a rejected one may be tried again after a while."""

    status: Literal["accepted", "duplicate", "rejected"]
    retry_after: float | None = None
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The receipt as plain data."""
        return {"status": self.status, "retry_after": self.retry_after, "reason": self.reason}


ACCEPTED, DUPLICATE = Receipt("accepted"), Receipt("duplicate")


class Claim(NamedTuple):
    """An item that is ours until we end it or fall silent.

    `lost` workers had it when they were lost; it was `tried` alone so often since.
    """

    id: str
    lane: str
    payload: Mapping[str, Any]
    group: str
    priority: int
    quota: str
    traceparent: str
    lost: int
    tried: int
    token: int
    attempts: int


@dataclass(frozen=True, slots=True)
class Done:
    """It is over."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Once more, after so many seconds; the attempt counts. `park`: its group waits, too."""

    delay: float
    failure: Mapping[str, Any]
    park: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """Given back untouched: the attempt does not count. `park` makes the whole group wait."""

    delay: float = 0.0
    park: bool = False


@dataclass(frozen=True, slots=True)
class Bury:
    """A dead letter, with what put it there."""

    failure: Mapping[str, Any]


Ending = Done | Retry | Release | Bury


@dataclass(frozen=True, slots=True)
class Depth:
    """How much a lane holds, by state.

    `oldest_due` is for how many seconds work could have been taken from the line that waits
    longest: what has to wait, and a line that was just looked at, are not overdue.
    """

    lane: str
    counts: Mapping[State, int] = field(default_factory=dict)
    oldest_due: float | None = None


@dataclass(frozen=True, slots=True)
class LaneLimit:
    """How much may be pending in a lane, in all and for one quota; and when to try again."""

    pending: int
    per_quota: int | None = None
    retry_after: float = 60.0


#: For a group: how many of its items are wanted now, and for how many seconds those will do.
Share = Callable[[str], tuple[int, float]]
#: What else is written with the endings that were accepted; gets their ids.
Record = Callable[[Unit, Collection[str]], None]


class Claims(Protocol):
    """What a station needs of a queue; all changes are durable when a call returns."""

    async def claim(
        self, worker: str, lanes: Sequence[str], limit: int, share: Share
    ) -> list[Claim]:
        """Take items whose time has come: by priority, then fairly over the groups."""
        ...

    async def note_trial(self, claims: Sequence[Claim]) -> set[str]:
        """Note that items that may have cost workers are begun; ids of those still ours."""
        ...

    async def settle(
        self, endings: Sequence[tuple[Claim, Ending]], record: Record | None = None
    ) -> set[str]:
        """End claims, with what else belongs to it, in one transaction; ids of those accepted."""
        ...


class Queue(Claims, Protocol):
    """Every back end keeps these promises; all changes are durable when a call returns."""

    async def put(self, items: Sequence[Item]) -> list[Receipt]:
        """Add items; a full lane rejects with a time, it never drops."""
        ...

    async def claim_ids(self, worker: str, ids: Sequence[str]) -> list[Claim]:
        """Take certain items, if they wait and their time has come."""
        ...

    async def rescue(self) -> int:
        """Take back what workers had claimed that are no more; how many items."""
        ...

    async def revive(self, ids: Sequence[str] | None = None, *, lane: str | None = None) -> int:
        """Let dead and stale items wait again, by id or all of a lane; how many."""
        ...

    async def depth(self) -> list[Depth]:
        """What each lane holds."""
        ...
