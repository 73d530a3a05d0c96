"""A cricket match that scores by itself: what it shows is a function of the time since its start.

Two innings with a break between them. A ball is bowled every five seconds; how many there are
depends on how long the match may take. The same number gives the same match, always.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

State = Literal["in_play", "break", "ended"]

BALL_SECONDS = 5.0
DEFAULT_MINUTES = 20.0
#: Of the time that a match takes: one innings, the break.
INNINGS, BREAK = 0.45, 0.1
OUTCOMES, WEIGHTS = (0, 1, 2, 3, 4, 6), (34, 34, 8, 1, 13, 5)
#: A ball in twenty takes a wicket, fewer where an innings is long: it should not end early.
WICKET, WICKETS_PER_INNINGS = 0.05, 6
BALLS_PER_OVER, ALL_OUT = 6, 10
STATES: Mapping[str, State] = {"live": "in_play", "innings break": "break", "ended": "ended"}
PLACES = ("Sluice", "Weir", "Penstock", "Millrace", "Spillway", "Culvert", "Lock", "Canal")
BATTERS = (
    *("Abara", "Bligh", "Chaudhry", "Dunne", "Eriksen", "Fonseka"),
    *("Gill", "Hartley", "Imran", "Joseph", "Khan"),
)


@dataclass(frozen=True, slots=True)
class Batter:
    name: str
    runs: int = 0
    balls: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """A match as it stands; `as_json` is what its data call answers."""

    number: int
    teams: tuple[str, str]
    status: str = "live"
    innings: int = 1
    runs: int = 0
    wickets: int = 0
    balls: int = 0
    target: int | None = None
    batters: tuple[Batter, ...] = ()
    result: str | None = None

    @property
    def overs(self) -> str:
        whole, balls = divmod(self.balls, BALLS_PER_OVER)
        return f"{whole}.{balls}"

    @property
    def batting(self) -> str:
        return self.teams[self.innings - 1]

    @property
    def state(self) -> State:
        return STATES[self.status]

    @property
    def critical(self) -> tuple[int, int, str, str | None]:
        """What must not be missed."""
        return self.runs, self.wickets, self.status, self.result

    def as_json(self) -> dict[str, Any]:
        return {
            "matchId": self.number,
            "teams": list(self.teams),
            "status": self.status,
            "innings": self.innings,
            "score": {
                "batting": self.batting,
                "runs": self.runs,
                "wickets": self.wickets,
                "overs": self.overs,
                "target": self.target,
            },
            "batters": [
                {"name": one.name, "runs": one.runs, "balls": one.balls} for one in self.batters
            ],
            "result": self.result,
        }


@dataclass(frozen=True, slots=True)
class Moment:
    """From so many seconds after the start on, a match stands like this."""

    at: float
    match: Match


def match_at(number: int, seconds: float, minutes: float = DEFAULT_MINUTES) -> Match:
    """How a match stands so many seconds after its start."""
    moments = moments_of(number, minutes)
    return next((one.match for one in reversed(moments) if one.at <= seconds), moments[0].match)


def critical_moments(number: int, minutes: float = DEFAULT_MINUTES) -> tuple[Moment, ...]:
    """The first moment, and each that changes something that must not be missed."""
    moments = moments_of(number, minutes)
    steps = pairwise(moments)
    changed = (new for old, new in steps if old.match.critical != new.match.critical)
    return moments[0], *changed


def ends_at(number: int, minutes: float = DEFAULT_MINUTES) -> float:
    """When the match is over, in seconds after its start."""
    return moments_of(number, minutes)[-1].at


@lru_cache(maxsize=256)
def moments_of(number: int, minutes: float = DEFAULT_MINUTES) -> tuple[Moment, ...]:
    """Everything that happens in a match, in order."""
    chance = random.Random(f"match {number}")
    home, away = chance.sample(PLACES, 2)
    start = Match(number, (f"{home} XI", f"{away} XI"), batters=_openers())
    seconds = minutes * 60
    balls = max(1, int(seconds * INNINGS / BALL_SECONDS))
    first = list(_innings(start, 0.0, balls, chance))
    pause = first[-1].match
    begins = first[-1].at + seconds * BREAK
    chase = Match(number, pause.teams, innings=2, target=pause.runs + 1, batters=_openers())
    return (Moment(0.0, start), *first, *_innings(chase, begins, balls, chance))


def _openers() -> tuple[Batter, ...]:
    return Batter(BATTERS[0]), Batter(BATTERS[1])


def _innings(match: Match, begins: float, balls: int, chance: random.Random) -> Iterator[Moment]:
    """What happens in an innings; the first of the second one is that it begins."""
    if match.innings > 1:
        yield Moment(begins, match)
    for number in range(1, balls + 1):
        is_out = chance.random() < min(WICKET, WICKETS_PER_INNINGS / balls)
        match = _out(match) if is_out else _hit(match, chance.choices(OUTCOMES, WEIGHTS)[0])
        is_over = number == balls or match.wickets == ALL_OUT
        is_won = match.target is not None and match.runs >= match.target
        at = begins + number * BALL_SECONDS
        if is_over or is_won:
            pause = replace(match, status="innings break", batters=())
            yield Moment(at, pause if match.innings == 1 else _ended(match))
            return
        yield Moment(at, match)


def _hit(match: Match, runs: int) -> Match:
    """The match after a ball that made runs; with an odd number the batters change ends."""
    striker, *others = match.batters
    faced = Batter(striker.name, striker.runs + runs, striker.balls + 1)
    batters = (*others, faced) if runs % 2 else (faced, *others)
    return replace(match, balls=match.balls + 1, runs=match.runs + runs, batters=batters)


def _out(match: Match) -> Match:
    """The match after a ball that took a wicket."""
    wickets = match.wickets + 1
    incoming = [Batter(BATTERS[wickets + 1])] if wickets < ALL_OUT else []
    batters = (*incoming, *match.batters[1:])
    return replace(match, balls=match.balls + 1, wickets=wickets, batters=batters)


def _ended(match: Match) -> Match:
    return replace(match, status="ended", batters=(), result=_result(match))


def _result(match: Match) -> str:
    first, second = match.teams
    missing = (match.target or 0) - match.runs
    if missing <= 0:
        return f"{second} won by {_counted(ALL_OUT - match.wickets, 'wicket')}"
    return f"{first} won by {_counted(missing - 1, 'run')}" if missing > 1 else "Match tied"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
