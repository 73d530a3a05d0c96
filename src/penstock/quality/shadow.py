"""Shadow: a candidate reads every live page beside the adapter in use, and counts for nothing.

What it read is kept next to the result, so that both can be compared over days before it is
trusted. Where results are kept is the workload's business: it gives them, newest first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from penstock.core.errors import SettingsError
from penstock.core.log import get_logger
from penstock.kernel.model import Page
from penstock.kernel.reader import Extractor, Reader
from penstock.kernel.reading import Reading
from penstock.quality.compare import Change, Comparison, Difference
from penstock.quality.replay import KeptPage, Summary, read_again
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge

#: In a result's document: what a candidate read.
SHADOW = "shadow"
AT_ONCE = 500
MOST_EXAMPLES = 20


class Adapters(Extractor, Protocol):
    """The adapters there are, by name."""

    def get(self, name: str) -> object | None:
        """The adapter with an id, or one version of it by `id@version`."""
        ...

    def names(self) -> Sequence[str]:
        """Every `id@version` there is."""
        ...


class Shadow:
    """Candidates by the id of the adapter whose pages they read, too; `setting` names them."""

    def __init__(
        self,
        candidates: Mapping[str, str],
        adapters: Adapters,
        quality: QualitySettings,
        setting: str,
    ) -> None:
        for name in (name for pair in candidates.items() for name in pair):
            if adapters.get(name) is None:
                known = ", ".join(adapters.names())
                raise SettingsError(f"{setting}: there is no adapter '{name}'; known: {known}")
        self._candidates = dict(candidates)
        self._reader = Reader(adapters, StandaloneJudge(quality))

    def compare(self, page: Page, reading: Reading) -> dict[str, Any] | None:
        """What the candidate read otherwise; None if the page's adapter has no candidate."""
        candidate = self._candidates.get(reading.extraction.adapter.partition("@")[0])
        if candidate is None:
            return None
        kept = KeptPage("", page, reading.as_json())
        replayed = read_again(kept, page, lambda page: self._reader.read(page, candidate))
        if replayed.change is not Change.SAME:
            change = replayed.change.value
            get_logger().info("shadow differs", candidate=candidate, url=page.url, change=change)
        return {"candidate": candidate, **replayed.comparison.as_json()}


@dataclass(slots=True)
class ShadowReport:
    """How a candidate agreed with the adapter in use, and the newest pages where it did not."""

    candidate: str
    summary: Summary = field(default_factory=Summary)
    examples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def agreement(self) -> float | None:
        """The share of pages that were read alike."""
        pages = self.summary.pages
        return self.summary.changes[Change.SAME] / pages if pages else None

    def add(self, shadow: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Count what the candidate made of one page; `about` says which."""
        found = tuple(Difference(**each) for each in shadow["differences"])
        comparison = Comparison(Change(shadow["change"]), found)
        self.summary.add(comparison)
        if comparison.change is not Change.SAME and len(self.examples) < MOST_EXAMPLES:
            self.examples.append({**about, **comparison.as_json()})

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "candidate": self.candidate,
            "agreement": self.agreement,
            **self.summary.as_json(),
            "examples": self.examples,
        }


class Place(NamedTuple):
    """Where a result stands among all: its time (ms) and its id."""

    at: int
    id: str


#: At most so many results before a place, or the newest of all, newest first. Each has `id`, `at`,
#: `url` and `document`; whatever else it has goes into the examples.
ReadResults = Callable[[Place | None, int], Sequence[Mapping[str, Any]]]


def fold(read: ReadResults, most: int | None) -> tuple[list[ShadowReport], int | None]:
    """One report for each candidate, of about the newest so many results.

    The time (ms) tells how far back it goes if it stopped before the end.
    """
    reports: dict[str, ShadowReport] = {}
    before: Place | None = None
    seen = 0
    while rows := read(before, AT_ONCE):
        for row in rows:
            _add(reports, row)
        before = Place(rows[-1]["at"], rows[-1]["id"])
        seen += len(rows)
        if most is not None and seen >= most and len(rows) == AT_ONCE:
            break
    else:
        before = None
    return [reports[name] for name in sorted(reports)], before.at if before else None


def _add(reports: dict[str, ShadowReport], row: Mapping[str, Any]) -> None:
    shadow = (row["document"] or {}).get(SHADOW)
    if shadow:
        report = reports.setdefault(shadow["candidate"], ShadowReport(shadow["candidate"]))
        report.add(shadow, {name: value for name, value in row.items() if name != "document"})


def report_lines(report: ShadowReport) -> list[str]:
    """A report for a terminal."""
    share = "nothing yet" if report.agreement is None else f"{report.agreement:.1%} alike"
    changes = report.summary.changes
    better, worse = changes[Change.NEWLY_GOOD], changes[Change.NEWLY_FAILING]
    lines = [
        f"{report.candidate}: {report.summary.pages} pages, {share}, "
        f"{better} newly good, {worse} newly failing, {changes[Change.CHANGED]} otherwise"
    ]
    lines += [
        f"  {example['change']}: {example['url']} "
        f"({', '.join(each['field'] for each in example['differences'])})"
        for example in report.examples
    ]
    return lines
