"""What a page is opened with, whoever opens it."""

import random
from dataclasses import dataclass

from penstock.core.clock import Clock
from penstock.kernel.identity import Identities
from penstock.kernel.settings import BrowserSettings


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
