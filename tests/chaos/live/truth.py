"""What became of a match, compared with what happened in it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self

from penstock.workloads.live.tables import Row
from tests.site.live_match import Match, critical_moments, moments_of

#: Times between clocks of one machine, and what is lost by rounding.
SLACK_SECONDS = 0.05
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Played:
    """A match that is played: where it is shown, since when, and how fast its time passes.

    `start` is in seconds since 1970, like all times here.
    """

    number: int
    minutes: float
    speed: float
    start: float

    def begins(self) -> list[float]:
        """When each moment began."""
        moments = moments_of(self.number, self.minutes)
        return [self.start + one.at / self.speed for one in moments]

    def place_of(self, payload: Mapping[str, Any]) -> int | None:
        """Which moment of the match shows this; None if none does."""
        return _places(self.number, self.minutes).get(_text(payload))

    def place_at(self, when: float) -> int:
        """Which moment is shown at a time."""
        return max(0, sum(begin <= when for begin in self.begins()) - 1)

    def critical(self) -> list[tuple[int, Span]]:
        """Moments that must not be missed, and from when to when each could be seen.

        It is seen for as long as nothing else happens that must not be missed.
        """
        moments = moments_of(self.number, self.minutes)
        found = [moments.index(one) for one in critical_moments(self.number, self.minutes)]
        begins = self.begins()
        ends = [begins[after] for after in found[1:]]
        return [
            (place, (begins[place], end))
            for place, end in zip(found, [*ends, float("inf")], strict=True)
        ]

    def match_of(self, place: int) -> Match:
        return moments_of(self.number, self.minutes)[place].match


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong must be 0.

    `critical` moments could be seen for long enough; of these some may be `lost`. `twofold`: a
    moment that is stored more than once. `disordered`: behind one that happened after it, or with
    a number that does not follow. `phantom`: never shown, or not yet shown when it was read.
    `unmarked`: changes what must not be missed, and does not say so.
    """

    updates: int = 0
    critical: int = 0
    lost: int = 0
    twofold: int = 0
    disordered: int = 0
    phantom: int = 0
    unmarked: int = 0
    details: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.lost + self.twofold + self.disordered + self.phantom + self.unmarked)

    def plus(self, other: Self) -> "Findings":
        """Both together."""
        return Findings(
            *(getattr(self, name) + getattr(other, name) for name in Findings.__slots__)
        )


def compare(
    played: Played,
    updates: Sequence[Row],
    watched: Span,
    *,
    blind: Iterable[Span] = (),
    enough: float,
    dropped: int = 0,
) -> Findings:
    """Compare what is stored with what happened while the match was watched.

    A moment counts if it could be seen for `enough` seconds on end, outside of `blind` spans.
    So many updates may be missing that were `dropped` for want of room.
    """
    places = [played.place_of(update["payload"]) for update in updates]
    known = [place for place in places if place is not None]
    # Whichever ball was seen first, nothing that must not be missed had changed since.
    seen = {_critical_of(played, place) for place in known}
    marked = [
        _critical_of(played, place)
        for update, place in zip(updates, places, strict=True)
        if update["critical"] and place is not None
    ]
    wanted = [
        place
        for place, shown in played.critical()
        if any(end - begin >= enough for begin, end in visible(shown, watched, blind))
    ]
    lost = [place for place in wanted if _critical_of(played, place) not in seen]
    numbers = [update["sequence"] for update in updates]
    gaps = sum(after - before - 1 for before, after in pairwise([0, *numbers]))
    return Findings(
        updates=len(updates),
        critical=len(wanted),
        lost=len(lost),
        twofold=len(known) - len(set(known)) + len(marked) - len(set(marked)),
        disordered=sum(after < before for before, after in pairwise(known))
        + sum(after <= before for before, after in pairwise(numbers))
        + max(0, gaps - dropped),
        phantom=sum(map(_is_phantom, [played] * len(updates), updates, places)),
        unmarked=sum(_is_unmarked(played, *pair) for pair in pairwise(updates)),
        details=[f"match {played.number}: {_critical_of(played, place)} is lost" for place in lost],
    )


def visible(shown: Span, watched: Span, blind: Iterable[Span]) -> list[Span]:
    """The parts of a span in which somebody looked."""
    spans = [(max(shown[0], watched[0]), min(shown[1], watched[1]))]
    spans = [(left, right) for left, right in spans if right > left]
    for begin, end in blind:
        parts = []
        for left, right in spans:
            parts += [(left, min(right, begin)), (max(left, end), right)]
        spans = [(left, right) for left, right in parts if right > left]
    return spans


def _critical_of(played: Played, place: int) -> tuple[Any, ...]:
    match = played.match_of(place)
    return (match.innings, *match.critical)


def _is_phantom(played: Played, update: Row, place: int | None) -> bool:
    if place is None:
        return True
    return bool(update["scraped_at"] / 1000 + SLACK_SECONDS < played.begins()[place])


def _is_unmarked(played: Played, before: Row, after: Row) -> bool:
    old, new = played.place_of(before["payload"]), played.place_of(after["payload"])
    if old is None or new is None or after["sequence"] != before["sequence"] + 1:
        return False
    is_critical = played.match_of(old).critical != played.match_of(new).critical
    return is_critical and not after["critical"]


@lru_cache(maxsize=64)
def _places(number: int, minutes: float) -> dict[str, int]:
    """Which moment shows what."""
    moments = moments_of(number, minutes)
    return {_text(one.match.as_json()): place for place, one in enumerate(moments)}


def _text(payload: Mapping[str, Any]) -> str:
    return json.dumps(payload, sort_keys=True)
