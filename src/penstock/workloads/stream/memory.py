"""What seeds and links remember, as ports, and both in the memory of one process.

URLs are named by the hash of their canonical form (`core.urls.identity`), so that all spellings of
a page are one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from penstock.core.clock import Clock

#: More than this are looked through for those that have run out.
MANY = 100_000


@dataclass(frozen=True, slots=True)
class SeedState:
    """When the last round without trouble began, when the next is due, how many failed since."""

    whole_at: datetime | None
    next_at: datetime
    failures: int = 0


class SeedMemory(Protocol):
    """What a seed must not forget when the process ends; times are the back end's own."""

    async def now(self) -> datetime:
        """The time by which rounds are due and URLs are forgotten."""
        ...

    async def state(self, seed: str) -> SeedState | None:
        """How a seed stands; None if it was never begun."""
        ...

    async def keep(self, seed: str, state: SeedState) -> None:
        """Remember how a seed stands."""
        ...

    async def pushed(self, keys: Sequence[str], after: datetime) -> set[str]:
        """Those of the URLs that were pushed in a round that began after then, and is not over."""
        ...

    async def remember(self, keys: Sequence[str], begun: datetime, until: datetime) -> None:
        """These were pushed in a round that began then, and is over when the next one is due."""
        ...

    async def hold(self, who: str, seconds: float) -> bool:
        """Whether we are the one that pushes seeds, for so long from now on; 0 gives it up."""
        ...


class LinkMemory(Protocol):
    """How deep pages are, and how many links of a site were followed."""

    async def depths(self, keys: Sequence[str]) -> Mapping[str, int]:
        """How many links away from where it began each page is, as far as is known."""
        ...

    async def learn(self, keys: Sequence[str], depth: int, seconds: float) -> None:
        """Remember a depth for so long, unless a smaller one is known."""
        ...

    async def take(self, site: str, wanted: int, most: int, seconds: float) -> int:
        """How many more links of a site may be followed, of `most` in so many seconds."""
        ...


class NoLinkMemory:
    """For seeds whose links nobody follows."""

    async def depths(self, keys: Sequence[str]) -> Mapping[str, int]:
        del keys
        return {}

    async def learn(self, keys: Sequence[str], depth: int, seconds: float) -> None:
        pass

    async def take(self, site: str, wanted: int, most: int, seconds: float) -> int:
        del site, most, seconds
        return wanted


class SeedsInMemory:
    """What seeds remember, for as long as the process lives."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._states: dict[str, SeedState] = {}
        self._pushed: dict[str, tuple[datetime, datetime]] = {}
        self._holder = ""
        self._held_until = clock.now()

    async def now(self) -> datetime:
        return self._clock.now()

    async def state(self, seed: str) -> SeedState | None:
        return self._states.get(seed)

    async def keep(self, seed: str, state: SeedState) -> None:
        self._states[seed] = state

    async def pushed(self, keys: Sequence[str], after: datetime) -> set[str]:
        now = self._clock.now()
        marks = ((key, self._pushed[key]) for key in keys if key in self._pushed)
        return {key for key, (begun, until) in marks if begun > after and until > now}

    async def remember(self, keys: Sequence[str], begun: datetime, until: datetime) -> None:
        if len(self._pushed) > MANY:
            now = self._clock.now()
            self._pushed = {key: mark for key, mark in self._pushed.items() if mark[1] > now}
        self._pushed.update(dict.fromkeys(keys, (begun, until)))

    async def hold(self, who: str, seconds: float) -> bool:
        now = self._clock.now()
        if self._holder not in ("", who) and self._held_until > now:
            return False
        self._holder, self._held_until = who, now + timedelta(seconds=seconds)
        return True


class LinksInMemory:
    """What links remember, for as long as the process lives."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._depths: dict[str, tuple[int, float]] = {}
        self._counts: dict[str, tuple[int, float]] = {}

    async def depths(self, keys: Sequence[str]) -> Mapping[str, int]:
        now = self._clock.monotonic()
        entries = ((key, self._depths[key]) for key in keys if key in self._depths)
        return {key: depth for key, (depth, until) in entries if until > now}

    async def learn(self, keys: Sequence[str], depth: int, seconds: float) -> None:
        now = self._clock.monotonic()
        if len(self._depths) > MANY:
            self._depths = {key: one for key, one in self._depths.items() if one[1] > now}
        known = await self.depths(keys)
        no_nearer = (key for key in keys if known.get(key, depth) >= depth)
        self._depths.update(dict.fromkeys(no_nearer, (depth, now + seconds)))

    async def take(self, site: str, wanted: int, most: int, seconds: float) -> int:
        now = self._clock.monotonic()
        if len(self._counts) > MANY:
            self._counts = {one: count for one, count in self._counts.items() if count[1] > now}
        count, until = self._counts.get(site, (0, 0.0))
        if until <= now:
            count, until = 0, now + seconds
        granted = max(0, min(wanted, most - count))
        self._counts[site] = (count + granted, until)
        return granted
