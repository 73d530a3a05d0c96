"""What a page is opened with, whoever opens it."""

import random
from dataclasses import dataclass, field

from penstock.core.clock import Clock
from penstock.kernel.identity import Identities
from penstock.kernel.settings import BrowserSettings

MOST_UNCLOSED = 10_000


class BrowserLost(Exception):
    """A browser does not start, or died or hung while a page was open in it."""


@dataclass(frozen=True, slots=True)
class Means:
    """The bounds of a page, and where time, chance and identities come from."""

    settings: BrowserSettings
    identities: Identities
    clock: Clock
    chance: random.Random
    max_bytes: int
    #: Origins whose pages do not show where they end.
    unclosed: set[str] = field(default_factory=set)

    def remember_unclosed(self, origin: str) -> None:
        """A page of an origin did not show that it was whole."""
        if len(self.unclosed) >= MOST_UNCLOSED:
            self.unclosed.clear()
        self.unclosed.add(origin)
