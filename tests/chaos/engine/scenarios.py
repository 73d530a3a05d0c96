"""What a scenario is, how large it is played, and what comes of it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.chaos.engine.arena import RECOVERY_SECONDS, Arena, open_arena
from tests.chaos.engine.checker import Findings
from tests.postgres_server import PrivatePostgres

Engine = Literal["sqlite", "postgresql"]


@dataclass(frozen=True, slots=True)
class Size:
    """At most so many items, and so many faults."""

    items: int
    faults: int


@dataclass(frozen=True, slots=True)
class Played:
    """How many faults there were, and how long the longest recovery took, in seconds.

    `found` where it is another lane's items that have to be looked at.
    """

    faults: int
    recovery: float
    found: Findings | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that goes wrong; `missing` says why it cannot be made to go wrong here."""

    name: str
    play: Callable[[Arena, Size], Awaitable[Played]]
    small: Size
    long: Size
    engines: tuple[Engine, ...] = ("sqlite", "postgresql")
    ground: Callable[[Path], AbstractContextManager[None]] = lambda _folder: nullcontext()
    missing: Callable[[], str] = lambda: ""


@dataclass(frozen=True, slots=True)
class Row:
    """A scenario's line in the table."""

    scenario: str
    engine: Engine
    faults: int
    recovery: float
    found: Findings

    @property
    def is_well(self) -> bool:
        return self.found.is_clean and self.recovery < RECOVERY_SECONDS


async def play(
    scenario: Scenario,
    folder: Path,
    postgres: PrivatePostgres | None,
    *,
    size: Size,
    seed: int = 0,
) -> Row:
    """Play a scenario and count what it cost."""
    async with open_arena(folder, postgres, ground=scenario.ground, seed=seed) as arena:
        played = await scenario.play(arena, size)
        engine: Engine = "postgresql" if postgres else "sqlite"
        found = played.found or await arena.findings()
        return Row(scenario.name, engine, played.faults, played.recovery, found)
