"""Where live matches are played: when each began, and what is wrong with the pages about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Trouble = Literal[
    "redesign",  # other class names: fallback selectors find everything
    "lost",  # class names and data that nobody knows
    "leak",  # the script takes memory at every update
    "hang",  # the script never comes back
    "reload",  # the script loads the page anew at every update
    "refresh",  # a meta tag loads the page anew every two seconds
    "freeze",  # nothing changes any more
    "slow",  # every answer takes three seconds
    "outage",  # 503
    "vanish",  # 410, or what ?status= says
]

#: Hosts whose pages get into trouble by themselves: into each kind after another while.
TROUBLED_HOSTS: Mapping[str, tuple[Trouble, ...]] = {
    "live-redesign.test": ("redesign", "lost"),
    "live-leak.test": ("leak",),
    "live-hang.test": ("hang",),
    "live-reload.test": ("reload",),
    "live-refresh.test": ("refresh",),
    "live-freeze.test": ("freeze",),
    "live-slow.test": ("slow",),
    "live-outage.test": ("outage",),
    "live-vanish.test": ("vanish",),
}


@dataclass(frozen=True, slots=True)
class Strike:
    """A trouble, and when it began or will begin."""

    trouble: Trouble | None
    since: datetime


class Ground:
    """Steers the live pages of a running site, which asks it at every request.

    A match begins when it is first asked for, unless a test says when.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._starts: dict[tuple[str, int], datetime] = {}
        self._strikes: dict[str, Strike] = {}
        self._cut: set[str] = set()

    @property
    def now(self) -> datetime:
        return self._now()

    def begin(self, host: str, number: int, seconds_ago: float = 0.0) -> None:
        """Let a match begin, or let it have begun a while ago."""
        self._starts[host, number] = self.now - timedelta(seconds=seconds_ago)

    def start_of(self, host: str, number: int) -> datetime:
        return self._starts.setdefault((host, number), self.now)

    def set_trouble(self, host: str, trouble: Trouble) -> None:
        """Bring any live host into trouble, from now on."""
        self._strikes[host] = Strike(trouble, self.now)

    def end_trouble(self, host: str) -> None:
        """Let all be well on a host, whatever it would do by itself."""
        self._strikes[host] = Strike(None, self.now)

    def strike_on(self, host: str, start: datetime, after: float) -> Strike:
        """What is wrong on a host; by itself it gets into trouble so long after a start."""
        if said := self._strikes.get(host):
            return said
        due = [
            Strike(trouble, start + timedelta(seconds=after * place))
            for place, trouble in enumerate(TROUBLED_HOSTS.get(host, ()), 1)
        ]
        begun = [strike for strike in due if strike.since <= self.now]
        return begun[-1] if begun else Strike(None, start)

    def cut(self, *hosts: str) -> None:
        """Reset every connection to hosts, also those over which updates are pushed."""
        self._cut.update(hosts)

    def mend(self, *hosts: str) -> None:
        self._cut.difference_update(hosts)

    def is_cut(self, host: str) -> bool:
        return host in self._cut
