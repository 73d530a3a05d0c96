"""Why a target is as it is: its last result step by step, with the last good one beside it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import and_, select

from penstock.kernel.reading import OUTPUT_NAMES
from penstock.products.tables import sources
from penstock.quality.compare import VERDICT, Difference, differences
from penstock.store.unit import Unit
from penstock.workloads.monitor.kept import EVIDENCE, record_of
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.obstacles import obstacles
from penstock.workloads.monitor.replaying import short
from penstock.workloads.monitor.tables import (
    scrape_adapter_status,
    scrape_results,
    scrape_targets,
)

#: In a reading, but not of the page.
NOT_FIELDS = frozenset(
    ["kind", "adapter", "ok", "reason", "detail", "invalid", "rival_prices", *VERDICT]
)
RESULT = ("id", "run_id", "at", "fetch_status", "verdict", "reason", "adapter_version", "body")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a field: the value, and where it stood."""

    field: str
    value: Any
    where: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """One result: how far the request came, what it found, and the page as it was (`body`)."""

    id: str
    run_id: str
    at: int
    fetch_status: str
    verdict: str | None
    reason: str | None
    adapter_version: str
    body: str | None
    detail: str
    gates: tuple[Mapping[str, Any], ...]
    page: Mapping[str, Any] | None
    failure: Mapping[str, Any] | None
    found: tuple[Found, ...]
    unchanged_since: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of a target; `good` is the last result that was accepted."""

    target: Mapping[str, Any]
    #: Why nothing is fetched for it, if that is so.
    held_up: tuple[str, ...]
    last: Looked | None
    good: Looked | None
    differences: tuple[Difference, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return {
            "target": dict(self.target),
            "held_up": list(self.held_up),
            "last": asdict(self.last) if self.last else None,
            "last_good": asdict(self.good) if self.good else None,
            "differences": [each.as_json() for each in self.differences],
        }


def explain(unit: Unit, target_id: str) -> Explanation | None:
    """Why a target is as it is; None if there is no such target."""
    row = next(unit.rows(_target_query(target_id)), None)
    if row is None:
        return None
    results = scrape_results.c
    newest = select(scrape_results).where(results.target_id == target_id)
    newest = newest.order_by(results.at.desc(), results.id.desc()).limit(1)
    last = next((looked(each) for each in unit.rows(newest)), None)
    good = None
    if (good_id := row["last_good_result_id"]) and (last is None or good_id != last.id):
        by_id = select(scrape_results).where(results.id == good_id)
        good = next((looked(each) for each in unit.rows(by_id)), None)
    changed = _compare(good, last) if good and last else ()
    names = ("id", "url", "adapter_id", "status", "last_status", "consecutive_failures")
    target = {name: row[name] for name in (*names, "last_scraped_at", "next_due_at", "run_id")}
    return Explanation(target, tuple(_held_up(row)), last, good, changed)


def _target_query(target_id: str) -> Any:
    targets, status = scrape_targets, scrape_adapter_status
    return (
        select(
            targets,
            sources.c.name.label("source_name"),
            sources.c.domain.label("source_domain"),
            sources.c.tos_approved_by,
            sources.c.robots_compliant,
            status.c.enabled.label("adapter_enabled"),
            status.c.adapter_id.label("status_id"),
            status.c.disabled_reason,
            status.c.disabled_by,
            status.c.needs_canary,
        )
        .join(sources, sources.c.id == targets.c.source_id)
        .outerjoin(
            status,
            and_(
                status.c.adapter == targets.c.adapter_id,
                status.c.source_id == targets.c.source_id,
            ),
        )
        .where(targets.c.id == target_id)
    )


def _held_up(row: Mapping[str, Any]) -> list[str]:
    """What stands in the way of the next fetch or puts it off, and what to do about it."""
    found = [obstacle.words for obstacle in obstacles(row, row["source_name"])]
    if row["adapter_enabled"] is False:
        by = f" by {row['disabled_by']}" if row["disabled_by"] else ""
        found[-1] = f"the adapter {row['status_id']} was disabled{by}: {row['disabled_reason']}"
    if row["status"] == TargetStatus.BROKEN:
        found.append("it failed five times in a row and is tried once a week")
    if row["status"] == TargetStatus.STALE:
        found.append("it waited in the queue for too long: requeue it")
    if row["needs_canary"]:
        found.append("its adapter was enabled again: the rest waits for a first, small run")
    return found


def looked(row: Mapping[str, Any]) -> Looked:
    """A row of results, step by step."""
    document = row["document"]
    failure, verdict = document.get("failure"), document.get("verdict") or {}
    return Looked(
        **{name: row[name] for name in RESULT},
        detail=(failure or verdict).get("detail") or "",
        gates=tuple(document.get("gates") or ()),
        page=document.get("page"),
        failure=failure,
        found=_found(document),
        unchanged_since=document.get("unchanged_since"),
    )


def _found(document: Mapping[str, Any]) -> tuple[Found, ...]:
    """Every field that has a value or evidence."""
    values = {
        name: value
        for name, value in record_of(document).items()
        if name not in NOT_FIELDS and value not in (None, [], {})
    }
    evidence = {
        OUTPUT_NAMES.get(name, name): found
        for name, found in (document.get(EVIDENCE) or {}).items()
    }
    return tuple(
        Found(name, values.get(name), *(evidence.get(name) or (None, None)))
        for name in dict.fromkeys([*values, *evidence])
    )


def _compare(good: Looked, last: Looked) -> tuple[Difference, ...]:
    before, after = ({each.field: each.value for each in looked.found} for looked in (good, last))
    return tuple(differences(before, after)) if after else ()


# ── for a terminal


def as_text(explanation: Explanation) -> list[str]:
    """The explanation as lines to read from top to bottom."""
    target = explanation.target
    lines = [f"{target['url']}  {target['status']}  ({target['adapter_id']})"]
    lines += [f"not fetched: {reason}" for reason in explanation.held_up]
    if explanation.last is None:
        return [*lines, "It has not been fetched yet."]
    lines += _result_lines("last result", explanation.last)
    if explanation.good:
        return [*lines, *_good_lines(explanation.good, explanation.differences)]
    if explanation.last.verdict != "accept":
        lines.append("There is no good result to compare it with.")
    return lines


def _result_lines(title: str, looked: Looked) -> list[str]:
    end = " ".join(filter(None, (looked.verdict, looked.reason)))
    lines = [f"{title}: {looked.fetch_status} {end}".rstrip()]
    if looked.detail:
        lines.append(f"  {looked.detail}")
    lines += [
        f"  {said['at']:8.2f} s  {said['gate']:<10} {said['answer']}" for said in looked.gates
    ]
    if looked.unchanged_since:
        lines.append(f"  the page has not changed since result {looked.unchanged_since}")
    lines += [_found_line(each) for each in looked.found]
    if looked.body:
        lines.append(f"  page: blob {looked.body}")
    return lines


def _found_line(found: Found) -> str:
    value = "unreadable" if found.value is None else short(found.value)
    where = f"   ← {short(found.where)}" if found.where else ""
    text = f": {short(found.text)}" if found.text and short(found.text) != value else ""
    return f"  {found.field:<14} {value}{where}{text}"


def _good_lines(good: Looked, changed: tuple[Difference, ...]) -> list[str]:
    lines = [f"last good result: {good.id} by version {good.adapter_version}"]
    if good.body:
        lines.append(f"  page: blob {good.body}")
    places = {each.field: each.where for each in good.found}
    for each in changed:
        where = f"   ← {short(places[each.field])}" if places.get(each.field) else ""
        lines += [f"  - {each.field}: {short(each.before)}{where}"]
        lines += [f"  + {each.field}: {short(each.after)}"]
    if not changed:
        lines.append("  no field of it can be compared, or all are the same")
    return lines
