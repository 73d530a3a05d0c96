"""Shadow: a candidate reads every live page beside the adapter in use, and counts for nothing.

What it read is kept next to the result, so that both can be compared over days before it is
trusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from penstock.core.errors import SettingsError
from penstock.core.log import get_logger
from penstock.extract.registry import Registry
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading
from penstock.quality.compare import Change, Comparison, Difference
from penstock.quality.replay import KeptPage, Summary, read_again
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge
from penstock.store.unit import Unit
from penstock.workloads.monitor.kept import SHADOW
from penstock.workloads.monitor.tables import scrape_results, scrape_targets

SETTING = "PENSTOCK_MONITOR__SHADOW"
AT_ONCE = 500
MOST_EXAMPLES = 20


class Shadow:
    """Candidates by the id of the adapter whose pages they read, too."""

    def __init__(
        self, candidates: Mapping[str, str], registry: Registry, quality: QualitySettings
    ) -> None:
        for adapter, candidate in candidates.items():
            _check(registry, adapter, candidate)
        self._candidates = dict(candidates)
        self._reader = Reader(registry, StandaloneJudge(quality))

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


def _check(registry: Registry, adapter: str, candidate: str) -> None:
    for name in (adapter, candidate):
        if registry.get(name) is None:
            known = ", ".join(registry.names())
            raise SettingsError(f"{SETTING}: there is no adapter '{name}'; known: {known}")


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

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "candidate": self.candidate,
            "agreement": self.agreement,
            **self.summary.as_json(),
            "examples": self.examples,
        }


def report(unit: Unit, adapter_id: str, since: int) -> list[ShadowReport]:
    """How the candidates beside an adapter did since a time (ms), one report each."""
    return report_of_newest(unit, adapter_id, since, None)[0]


def report_of_newest(
    unit: Unit, adapter_id: str, since: int, most: int | None
) -> tuple[list[ShadowReport], int | None]:
    """As `report`, of about the newest so many results; the time (ms) it stops at if it does."""
    reports: dict[str, ShadowReport] = {}
    before: tuple[int, str] | None = None
    seen = 0
    while rows := _page_of_results(unit, adapter_id, since, before):
        for row in rows:
            _add(reports, row)
        before = (rows[-1]["at"], rows[-1]["id"])
        seen += len(rows)
        if most is not None and seen >= most and len(rows) == AT_ONCE:
            break
    else:
        before = None
    return [reports[name] for name in sorted(reports)], before[0] if before else None


def _page_of_results(
    unit: Unit, adapter_id: str, since: int, before: tuple[int, str] | None
) -> list[dict[str, Any]]:
    results, targets = scrape_results.c, scrape_targets.c
    query = (
        select(results.id, results.at, results.target_id, results.document, targets.url)
        .join(scrape_targets, targets.id == results.target_id)
        .where(targets.adapter_id == adapter_id, results.at >= since)
        .order_by(results.at.desc(), results.id.desc())
        .limit(AT_ONCE)
    )
    if before is not None:
        at, last = before
        query = query.where((results.at < at) | ((results.at == at) & (results.id < last)))
    return list(unit.rows(query))


def _add(reports: dict[str, ShadowReport], row: Mapping[str, Any]) -> None:
    shadow = row["document"].get(SHADOW)
    if not shadow:
        return
    report = reports.setdefault(shadow["candidate"], ShadowReport(shadow["candidate"]))
    found = tuple(Difference(**each) for each in shadow["differences"])
    comparison = Comparison(Change(shadow["change"]), found)
    report.summary.add(comparison)
    if comparison.change is not Change.SAME and len(report.examples) < MOST_EXAMPLES:
        names = ("id", "target_id", "url", "at")
        report.examples.append({**{name: row[name] for name in names}, **comparison.as_json()})


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
