"""Two readings of one page side by side: what an adapter makes of it now, and what was made then.

Readings are compared as plain data (`Reading.as_json`), because that is how the old one was kept.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.kernel.reading import Reading
from penstock.kernel.records import DropReason, QuarantineReason

#: Verdicts that other pages and earlier prices led to: nothing of that is known of one page.
FROM_HISTORY = frozenset(
    [
        DropReason.DUPLICATE_WITHIN_RUN,
        QuarantineReason.VALIDATION_FAILED,
        QuarantineReason.DRIFT_DETECTED,
    ]
)
VERDICT = ("verdict", "verdict_reason", "verdict_detail")
#: Where an offer is sold out and shows no price, nothing can be had, and nothing is wrong.
HARMLESS = frozenset([DropReason.OOS_NO_PRICE])


class Change(StrEnum):
    """What a new reading of a page means, next to the old one."""

    SAME = "same"
    CHANGED = "changed"
    NEWLY_GOOD = "newly_good"
    NEWLY_FAILING = "newly_failing"


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that was read in two ways."""

    field: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {"field": self.field, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is different between two readings, and what that means."""

    change: Change
    differences: tuple[Difference, ...]

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "change": self.change.value,
            "differences": [difference.as_json() for difference in self.differences],
        }


def compare_readings(before: Mapping[str, Any], after: Reading | Mapping[str, Any]) -> Comparison:
    """Every field that differs; the adapter's version is left out, for it alone changes nothing."""
    now = after.as_json() if isinstance(after, Reading) else after
    then, now = _comparable(before), _comparable(now)
    if then.get("verdict_reason") in FROM_HISTORY and now.get("verdict") == "accept":
        # By itself the page was fine then, too.
        for name in VERDICT:
            then[name] = now.get(name)
    return Comparison(_change(then, now), tuple(differences(then, now)))


def is_good(reading: Mapping[str, Any]) -> bool:
    """Whether a reading is what a working adapter gives: an offer, or that there is none."""
    return reading.get("verdict") == "accept" or reading.get("verdict_reason") in HARMLESS


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], within: str = ""
) -> Iterator[Difference]:
    """Every field that differs, objects field by field; what is missing counts as null."""
    for name in dict.fromkeys([*before, *after]):
        left, right = before.get(name), after.get(name)
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            yield from differences(left, right, f"{within}{name}.")
        elif left != right:
            yield Difference(f"{within}{name}", left, right)


def _comparable(reading: Mapping[str, Any]) -> dict[str, Any]:
    adapter = str(reading.get("adapter") or "").partition("@")[0]
    return {**reading, "adapter": adapter}


def _change(then: Mapping[str, Any], now: Mapping[str, Any]) -> Change:
    if is_good(then) != is_good(now):
        return Change.NEWLY_GOOD if is_good(now) else Change.NEWLY_FAILING
    return Change.CHANGED if any(differences(then, now)) else Change.SAME
