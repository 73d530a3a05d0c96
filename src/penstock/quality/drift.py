"""Drift: whether an adapter still fits its site, judged by what became of a batch of URLs.

Runs of fewer than `SMALLEST_BATCH` URLs are pooled until together they are a batch. Two bad
batches in a row are enough to stop; one is enough to say so. Pages that are sold out and hide
their price say nothing about the adapter.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from statistics import median
from typing import Any

SMALLEST_BATCH = 20
#: A larger share of pages that could not be read is bad.
WORST_RATE = 0.5
#: So many bad batches in a row stop an adapter.
BAD_IN_A_ROW = 2
#: So many good runs make a baseline, and so much worse than it is worth a word.
RUNS_OF_BASELINE = 3
FAILURES_ABOVE = 0.25
YIELD_BELOW = 0.5
#: What is usual is kept with four digits: less than one of them is no difference.
HAIR = 0.0001
#: A field that so many records had is missed when only half of the share is left.
COMMON_FIELD = 0.5
FIELD_LEFT = 0.5


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the URLs of a run, or of several."""

    urls_attempted: int = 0
    urls_succeeded: int = 0
    urls_failed: int = 0
    offers_extracted: int = 0
    offers_valid: int = 0
    offers_dropped: int = 0
    offers_quarantined: int = 0
    zero_price_count: int = 0
    oos_no_price_count: int = 0
    unknown_availability_count: int = 0
    #: Of the failed ones, those whose page was there and could not be read.
    extraction_failures: int = 0
    #: Of the failed ones, those in which nobody could be reached.
    urls_unreachable: int = 0
    #: Of the valid offers, how many had each field.
    field_counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Counts":
        """From a row or plain data; what is not there is nought."""
        return cls(**{each.name: row[each.name] for each in fields(cls) if each.name in row})

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def plus(self, other: "Counts") -> "Counts":
        """Both together."""
        numbers = {name: getattr(self, name) + getattr(other, name) for name in NUMBERS}
        together = Counter(self.field_counts)
        together.update(other.field_counts)
        return Counts(**numbers, field_counts=dict(together))

    @property
    def failure_rate(self) -> float | None:
        """Of the attempted URLs, how many failed."""
        return _share(self.urls_failed, self.urls_attempted)

    @property
    def drop_rate(self) -> float | None:
        """Of the offers, how many were dropped."""
        offers = self.offers_valid + self.offers_dropped + self.offers_quarantined
        return _share(self.offers_dropped, offers)

    @property
    def yield_rate(self) -> float | None:
        """Of the attempted URLs, how many gave a valid offer."""
        return _share(self.offers_valid, self.urls_attempted)

    @property
    def telling(self) -> int:
        """How many URLs say something about the adapter: not the sold out without price."""
        return max(0, self.urls_attempted - self.oos_no_price_count)

    @property
    def drift_rate(self) -> float | None:
        """Of the URLs that tell, how many the adapter could not make sense of."""
        return _share(self.extraction_failures + self.unknown_availability_count, self.telling)

    @property
    def telling_failure_rate(self) -> float | None:
        """The failure rate without those that say nothing."""
        return _share(self.urls_failed, self.telling)

    @property
    def telling_yield_rate(self) -> float | None:
        """The yield rate without those that say nothing."""
        return _share(self.offers_valid, self.telling)

    @property
    def is_silent(self) -> bool:
        """Whether nothing says anything about the adapter: all sold out, or nobody there."""
        return self.telling <= self.urls_unreachable

    @property
    def is_batch(self) -> bool:
        """Whether there is enough to judge by."""
        return self.urls_attempted >= SMALLEST_BATCH

    @property
    def is_empty(self) -> bool:
        """Whether the site was there, and no page gave an offer."""
        missing = self.urls_failed - self.urls_unreachable
        # A few dead links say nothing of a shop that is sold out, or of one that is away.
        is_dead = missing > self.urls_unreachable + self.oos_no_price_count
        return self.offers_extracted == 0 and (self.extraction_failures > 0 or is_dead)

    @property
    def coverage(self) -> dict[str, float]:
        """Of the valid offers, which share had each field."""
        valid = self.offers_valid
        return {name: number / valid for name, number in self.field_counts.items()} if valid else {}


NUMBERS = tuple(each.name for each in fields(Counts) if each.name != "field_counts")


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is usual for an adapter on a source: medians of its good runs of late."""

    failure_rate: float = 0.0
    yield_rate: float = 0.0
    coverage: Mapping[str, float] = field(default_factory=dict)
    sample_size: int = 0

    @property
    def is_established(self) -> bool:
        """Whether there were runs enough to go by."""
        return self.sample_size >= RUNS_OF_BASELINE


@dataclass(frozen=True, slots=True)
class State:
    """How often in a row it went wrong, and what was too little to be judged so far."""

    failed_batches: int = 0
    empty_batches: int = 0
    zero_price_batches: int = 0
    pooled: Counts = field(default_factory=Counts)


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that people should know; `kind` is one of a fixed set of words."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Judgment:
    """What to say, whether to stop and why, and where the adapter stands now.

    `rate` is the drift rate of the batch; None while there is too little to judge by.
    """

    state: State
    alerts: tuple[Alert, ...] = ()
    disable: str | None = None
    rate: float | None = None


def baseline_of(runs: Iterable[Counts]) -> Baseline:
    """The medians of good runs; those that are too small for a batch do not count."""
    chosen = [run for run in runs if run.is_batch and run.telling]
    if not chosen:
        return Baseline()
    names = {name for run in chosen for name in run.field_counts}
    with_offers = [run.coverage for run in chosen if run.offers_valid]
    return Baseline(
        failure_rate=median(run.telling_failure_rate or 0.0 for run in chosen),
        yield_rate=median(run.telling_yield_rate or 0.0 for run in chosen),
        coverage={
            name: median(shares.get(name, 0.0) for shares in with_offers)
            for name in sorted(names if with_offers else ())
        },
        sample_size=len(chosen),
    )


def judge_batch(run: Counts, state: State, baseline: Baseline) -> Judgment:
    """Judge a run that is over, together with those before it that were too small."""
    batch = state.pooled.plus(run)
    if not batch.is_batch:
        waiting = State(state.failed_batches, state.empty_batches, state.zero_price_batches, batch)
        return Judgment(waiting, tuple(_zero_prices(run)))
    if batch.is_silent:
        # What went before still stands as the last that was said.
        return Judgment(replace(state, pooled=Counts()), tuple(_unusual(batch, baseline)))
    after = State(
        failed_batches=_in_a_row(state.failed_batches, (batch.drift_rate or 0.0) > WORST_RATE),
        empty_batches=_in_a_row(state.empty_batches, batch.is_empty),
        zero_price_batches=_in_a_row(state.zero_price_batches, batch.zero_price_count > 0),
    )
    alerts = [*_drifting(batch, after), *_zero_prices(run), *_unusual(batch, baseline)]
    return Judgment(after, tuple(alerts), _reason_to_stop(after), batch.drift_rate)


def _in_a_row(before: int, is_bad: bool) -> int:
    return before + 1 if is_bad else 0


def _reason_to_stop(state: State) -> str | None:
    reasons = (
        (state.failed_batches, f"more than {WORST_RATE:.0%} of the pages could not be read"),
        (state.empty_batches, "no page gave an offer"),
        (state.zero_price_batches, "prices of zero were found"),
    )
    for number, reason in reasons:
        if number >= BAD_IN_A_ROW:
            return f"{reason} in {number} batches in a row"
    return None


def _drifting(batch: Counts, state: State) -> list[Alert]:
    alerts = []
    if state.failed_batches:
        said = f"{batch.drift_rate or 0:.0%} of {batch.telling} pages could not be read"
        alerts.append(Alert("high_failure_rate", said))
    if state.empty_batches:
        alerts.append(Alert("no_offers", f"no offer from {batch.urls_attempted} URLs"))
    return alerts


def _zero_prices(run: Counts) -> list[Alert]:
    if not run.zero_price_count:
        return []
    said = f"{run.zero_price_count} of {run.urls_attempted} URLs showed a price of zero"
    return [Alert("zero_price", said)]


def _unusual(batch: Counts, baseline: Baseline) -> list[Alert]:
    """What is much worse than usual, even where it is not bad in itself."""
    if not baseline.is_established or not batch.telling:
        return []
    alerts = []
    failures, gain = batch.telling_failure_rate or 0.0, batch.telling_yield_rate or 0.0
    if failures > baseline.failure_rate + FAILURES_ABOVE + HAIR:
        said = f"{failures:.0%} of the URLs failed; usual are {baseline.failure_rate:.0%}"
        alerts.append(Alert("failures_above_baseline", said))
    if gain < baseline.yield_rate * YIELD_BELOW - HAIR:
        said = f"{gain:.0%} of the URLs gave an offer; usual are {baseline.yield_rate:.0%}"
        alerts.append(Alert("yield_below_baseline", said))
    if lost := lost_fields(batch, baseline):
        said = ", ".join(f"{name} ({was:.0%} before, {now:.0%} now)" for name, was, now in lost)
        alerts.append(Alert("fields_lost", f"fields are missing: {said}"))
    return alerts


def lost_fields(batch: Counts, baseline: Baseline) -> Sequence[tuple[str, float, float]]:
    """Fields that most records had and of which at most half are left: name, before, now."""
    if not batch.offers_valid:
        return []
    shares = batch.coverage
    return [
        (name, usual, shares.get(name, 0.0))
        for name, usual in sorted(baseline.coverage.items())
        if usual >= COMMON_FIELD and shares.get(name, 0.0) <= usual * FIELD_LEFT
    ]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
