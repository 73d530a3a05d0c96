"""Replay: pages that were kept are read again, and compared with what was recorded of them.

It changes nothing. Pages come one at a time and go one at a time, so that a year of them needs no
more memory than a day. This is how a repaired adapter is proven before it is trusted again.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.kernel.model import Page
from penstock.kernel.reading import Reading
from penstock.quality.compare import Change, Comparison, Difference, compare_readings, is_good

#: Reads a page as the adapter under test does.
Read = Callable[[Page], Reading]
CRASHED, MOST_DETAIL = "crashed", 500


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it was, and what was made of it then; `about` says whose it is.

    There is no page where only its address was left.
    """

    key: str
    page: Page | None
    recorded: Mapping[str, Any]
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one page: how its two readings differ."""

    key: str
    url: str
    comparison: Comparison
    recorded: Mapping[str, Any]
    now: Mapping[str, Any]
    about: Mapping[str, Any]

    @property
    def change(self) -> Change:
        """What the new reading means, next to the old one."""
        return self.comparison.change

    def as_json(self) -> dict[str, Any]:
        """The two readings' differences as plain data."""
        return {"key": self.key, "url": self.url, **self.about, **self.comparison.as_json()}


@dataclass(slots=True)
class Summary:
    """How many pages were read alike, otherwise, better and worse; and which fields differ."""

    changes: Counter[Change] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    #: Pages that are not kept any more.
    lost: int = 0

    @property
    def pages(self) -> int:
        """How many pages were read."""
        return self.changes.total()

    @property
    def is_safe(self) -> bool:
        """Whether no page got worse."""
        return not self.changes[Change.NEWLY_FAILING]

    def add(self, comparison: Comparison) -> None:
        """Count one page."""
        self.changes[comparison.change] += 1
        self.fields.update(difference.field for difference in comparison.differences)

    def as_json(self) -> dict[str, Any]:
        """The summary as plain data."""
        return {
            "pages": self.pages,
            **{change.value: self.changes[change] for change in Change},
            "lost": self.lost,
            "fields": dict(self.fields.most_common()),
        }


async def replay(
    pages: AsyncIterator[KeptPage],
    read: Read,
    summary: Summary,
    progress: Callable[[Summary], None] = lambda _summary: None,
) -> AsyncIterator[Replayed]:
    """Read pages again; gives what became of each, and counts it in the summary."""
    async for kept in pages:
        if kept.page is None:
            summary.lost += 1
            progress(summary)
            continue
        replayed = read_again(kept, kept.page, read)
        summary.add(replayed.comparison)
        progress(summary)
        yield replayed


def read_again(kept: KeptPage, page: Page, read: Read) -> Replayed:
    """One page, read as the adapter under test does; if that breaks, this is what is told."""
    try:
        now: Mapping[str, Any] = read(page).as_json()
    except Exception as error:  # an adapter may be anybody's
        now = {"ok": False, "reason": CRASHED, "detail": repr(error)[:MOST_DETAIL]}
        comparison = _crash(kept.recorded, now)
    else:
        comparison = compare_readings(kept.recorded, now)
    return Replayed(kept.key, page.url, comparison, kept.recorded, now, kept.about)


def _crash(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> Comparison:
    change = Change.NEWLY_FAILING if is_good(recorded) else Change.CHANGED
    names = ("reason", "detail")
    return Comparison(
        change, tuple(Difference(name, recorded.get(name), now[name]) for name in names)
    )
