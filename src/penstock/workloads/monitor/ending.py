"""Ends: targets leave their runs, runs end with the last of them, and drift is judged then.

All of it happens in the transaction that makes a target's item over: so it happens once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, select, update

from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.notify.ops import OpsAlert
from penstock.quality.drift import (
    NUMBERS,
    SMALLEST_BATCH,
    WORST_RATE,
    Alert,
    Baseline,
    Counts,
    baseline_of,
    judge_batch,
)
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import (
    DRIFT_DETECTOR,
    WAS_DISABLED,
    as_rate,
    change,
    disable,
    keep_judgment,
    known_baseline,
    state_of,
    wake,
)
from penstock.workloads.monitor.model import (
    DAY_MS,
    DisabledReason,
    Pair,
    RunStatus,
    Trigger,
    pair_of,
)
from penstock.workloads.monitor.tables import scrape_runs

FINISHED, ALERT = "run.finished", "alert.raised"
WEEK_MS = 7 * DAY_MS
#: So many runs are looked at to say what is usual.
MOST_RUNS = 700
#: After a canary that told nothing, because the site was away, the next one waits so long.
NEXT_CANARY_MS = 600_000
#: Runs of URLs that failed before: few of a shop's, and counted already.
CHOSEN_BY_FAILURE = (Trigger.RETRY.value, Trigger.RECHECK.value)


#: Tells ops of something, as part of the unit of work.
TellOps = Callable[[Unit, Sequence[OpsAlert]], None]


@dataclass(frozen=True, slots=True)
class News:
    """What a unit of work has to say, kept back until all else is done.

    Only one at a time may write to the log: who holds it must wait for nobody.
    """

    messages: list[Message] = field(default_factory=list)
    alerts: list[OpsAlert] = field(default_factory=list)

    def append(self, unit: Unit, messages: Sequence[Message]) -> None:
        """Keep messages."""
        del unit
        self.messages.extend(messages)


class Ends:
    """Counts what became of targets, and ends runs."""

    def __init__(self, log: EventLog, tell_ops: TellOps = lambda _unit, _alerts: None) -> None:
        self._log = log
        self._tell_ops = tell_ops

    def count(
        self,
        unit: Unit,
        runs: Mapping[str, dict[str, Any]],
        ends: Iterable[tuple[str, Counts, bool]],
        statuses: Mapping[Pair, dict[str, Any]],
        news: News | None = None,
    ) -> None:
        """Count ends of targets, each with its run and whether its page was unchanged.

        The runs must be locked, and so must be the statuses, by source and adapter. Last of all,
        what happened is announced together with the news so far.
        """
        news = news or News()
        totals: dict[str, Counts] = {}
        for run_id, counts, is_unchanged in ends:
            run = runs[run_id]
            totals[run_id] = (totals.get(run_id) or Counts.of(run)).plus(counts)
            run["urls_over"] += 1
            run["unchanged_count"] += int(is_unchanged)
        for run_id, counts in totals.items():
            _set(runs[run_id], counts)
        changed = set(totals)
        over = [run for run_id in sorted(changed) if _is_over(run := runs[run_id])]
        for run in over:
            self._end(unit, run, statuses.get(pair_of(run)), news)
            if run["error_code"] == WAS_DISABLED:
                changed |= _mark_others(run, runs.values())
        self._write(unit, [runs[run_id] for run_id in sorted(changed)], over, news)

    def close(
        self,
        unit: Unit,
        runs: Mapping[str, dict[str, Any]],
        statuses: Mapping[Pair, dict[str, Any]],
        why: str,
    ) -> None:
        """End runs that have no targets any more, though not all were counted; all are locked."""
        news = News()
        over = [run for run in runs.values() if run["status"] == RunStatus.RUNNING]
        for run in over:
            run["error_code"] = run["error_code"] or why
            self._end(unit, run, statuses.get(pair_of(run)), news)
            if run["error_code"] == WAS_DISABLED:
                _mark_others(run, over)
        self._write(unit, over, over, news)

    def _write(
        self,
        unit: Unit,
        changed: Sequence[dict[str, Any]],
        over: Sequence[dict[str, Any]],
        news: News,
    ) -> None:
        if changed:
            unit.run(_counting(), [_values(run) for run in changed])
        self._log.append(unit, [*news.messages, *(_finished(run) for run in over)])
        self._tell_ops(unit, news.alerts)

    def _end(
        self, unit: Unit, run: dict[str, Any], status: dict[str, Any] | None, news: News
    ) -> None:
        counts = Counts.of(run)
        run["failure_rate"] = as_rate(counts.failure_rate)
        run["yield_rate"] = as_rate(counts.yield_rate)
        run["drop_rate"] = as_rate(counts.drop_rate)
        run["drift_rate"] = as_rate(counts.drift_rate)
        run["completed_at"] = unit.now
        run["duration_ms"] = min(unit.now - run["started_at"], 2**31 - 1)
        was_disabled = run["error_code"] == WAS_DISABLED
        if status and status["enabled"] and not was_disabled and _tells(run):
            was_disabled = self._judge(unit, run, status, news)
        if was_disabled:
            run["status"] = RunStatus.QUARANTINED.value
        else:
            is_bad = _is_bad(counts) or run["error_code"] is not None
            run["status"] = (RunStatus.FAILED if is_bad else RunStatus.SUCCESS).value
        if run["is_canary"] and status and status["enabled"]:
            # Nothing waits for a canary that is over, however it ended.
            wake(unit, status["source_id"], status["adapter"], unit.now)

    def _judge(self, unit: Unit, run: dict[str, Any], status: dict[str, Any], news: News) -> bool:
        """Judge drift at the end of a run; whether the adapter was disabled."""
        counts = Counts.of(run)
        known = known_baseline(status, unit.now)
        baseline = known or _baseline(unit, run)
        judgment = judge_batch(counts, state_of(status), baseline)
        keep_judgment(unit, status, judgment, None if known else baseline)
        why = judgment.disable
        if status["needs_canary"]:
            why = why or self._judge_canary(unit, run, counts, status)
        _raise(run, status, judgment.alerts, news)
        if why is None:
            return False
        reason = DisabledReason.DRIFT_DETECTED
        disable(unit, news, status, who=DRIFT_DETECTOR, reason=reason, why=why)
        run["error_code"], run["error_message"] = WAS_DISABLED, why
        _tell(run["id"], [OpsAlert("adapter_disabled", status["adapter_id"], "P1", why)], news)
        return True

    def _judge_canary(
        self, unit: Unit, run: Mapping[str, Any], counts: Counts, status: dict[str, Any]
    ) -> str | None:
        """After a good canary the rest may go; after a bad one the adapter is disabled again."""
        if not run["is_canary"]:
            return None
        if counts.drift_rate is not None and counts.drift_rate > WORST_RATE:
            return "the first run after it was enabled again went wrong"
        if counts.offers_valid or counts.oos_no_price_count:
            change(unit, status, needs_canary=False)
        else:
            wake(unit, status["source_id"], status["adapter"], unit.now + NEXT_CANARY_MS)
        return None


def _raise(
    run: Mapping[str, Any], status: Mapping[str, Any], alerts: Sequence[Alert], news: News
) -> None:
    subject = status["adapter_id"]
    found = [OpsAlert(alert.kind, subject, "P2", alert.message) for alert in alerts]
    _tell(run["id"], found, news)


def _tell(run_id: str, alerts: Sequence[OpsAlert], news: News) -> None:
    news.alerts.extend(alerts)
    news.messages.extend(
        Message(
            f"{run_id}.{alert.kind}",
            ALERT,
            alert.subject,
            {
                "kind": alert.kind,
                "subject": alert.subject,
                "severity": alert.severity,
                "message": alert.message,
                "run_id": run_id,
            },
        )
        for alert in alerts
    )


def by_pair(statuses: Iterable[dict[str, Any]]) -> dict[Pair, dict[str, Any]]:
    """Statuses by source and adapter."""
    return {(status["source_id"], status["adapter"]): status for status in statuses}


def _mark_others(run: Mapping[str, Any], runs: Iterable[dict[str, Any]]) -> set[str]:
    """The disabling of an adapter marks all its runs that are under way; those at hand."""
    marked = set()
    for other in runs:
        if pair_of(other) == pair_of(run) and other["status"] == RunStatus.RUNNING:
            other["error_code"] = WAS_DISABLED
            marked.add(other["id"])
    return marked


def lock_runs(unit: Unit, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Runs by id, which nobody else changes until the unit is over."""
    query = select(scrape_runs).where(unit.among(scrape_runs.c.id, sorted(ids)))
    rows = unit.rows(query.order_by(scrape_runs.c.id).with_for_update())
    return {row["id"]: row for row in rows}


def _set(run: dict[str, Any], counts: Counts) -> None:
    run.update({name: getattr(counts, name) for name in NUMBERS})
    run["field_counts"] = dict(counts.field_counts)


def _is_over(run: Mapping[str, Any]) -> bool:
    return bool(run["status"] == RunStatus.RUNNING and run["urls_over"] >= run["urls_total"])


def _tells(run: Mapping[str, Any]) -> bool:
    """Whether a run says something about its adapter: one of URLs that failed before does not."""
    return bool(run["trigger"] not in CHOSEN_BY_FAILURE or run["is_canary"])


def _is_bad(counts: Counts) -> bool:
    rates = (counts.failure_rate or 0.0, counts.drift_rate or 0.0)
    # If no URL was tried, and not because robots said no, then nothing went well.
    return max(rates) > WORST_RATE or not (counts.urls_attempted or counts.offers_dropped)


def _baseline(unit: Unit, run: Mapping[str, Any]) -> Baseline:
    """What was usual in the week before, by the good runs of the same adapter and source.

    Where they are very many, some of each day stand for all.
    """
    week = range(unit.now + 1 - WEEK_MS, unit.now + 1)
    found = _good_runs(unit, run, week, MOST_RUNS + 1)
    if len(found) > MOST_RUNS:
        days = week[::DAY_MS]
        found = [
            each
            for day in days
            for each in _good_runs(unit, run, range(day, day + DAY_MS), MOST_RUNS // len(days))
        ]
    return baseline_of(found)


def _good_runs(unit: Unit, run: Mapping[str, Any], span: range, most: int) -> list[Counts]:
    """The newest good runs of a run's adapter and source that were begun in a time."""
    runs = scrape_runs.c
    query = select(*(runs[name] for name in (*NUMBERS, "field_counts"))).where(
        runs.source_id == run["source_id"],
        runs.adapter_id == run["adapter_id"],
        runs.started_at >= span.start,
        runs.started_at < span.stop,
        runs.status == RunStatus.SUCCESS.value,
        runs.urls_attempted >= SMALLEST_BATCH,
        # Those that look at what failed before say nothing of what is usual.
        runs.trigger.not_in(CHOSEN_BY_FAILURE),
    )
    newest = query.order_by(runs.started_at.desc()).limit(most)
    return [Counts.of(row) for row in unit.rows(newest)]


#: What the end of targets changes in their run.
CHANGING = (
    *NUMBERS,
    "field_counts",
    "urls_over",
    "unchanged_count",
    "failure_rate",
    "yield_rate",
    "drop_rate",
    "drift_rate",
    "status",
    "completed_at",
    "duration_ms",
    "error_code",
    "error_message",
)


def _counting() -> Any:
    columns = scrape_runs.c
    values = {name: bindparam(f"a_{name}", type_=columns[name].type) for name in CHANGING}
    return update(scrape_runs).where(columns.id == bindparam("an_id")).values(values)


def _values(run: Mapping[str, Any]) -> dict[str, Any]:
    return {"an_id": run["id"], **{f"a_{name}": run[name] for name in CHANGING}}


def _finished(run: Mapping[str, Any]) -> Message:
    names = (
        "id",
        "adapter_id",
        "source_id",
        "trigger",
        "status",
        "urls_total",
        *NUMBERS,
        "error_code",
    )
    data = {name: run[name] for name in names}
    return Message(f"{run['id']}.finished", FINISHED, run["source_id"], data)
