"""Runs: how they went, what became of each target, and how to begin one or try it again."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.console.charts import Point, line_chart
from penstock.console.filters import at, look, percent
from penstock.console.monitor_forms import checked, given, problems, typed
from penstock.console.monitor_targets import source_names
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import ApiError, NotFound, invalid
from penstock.workloads.monitor.bodies import NewRun
from penstock.workloads.monitor.model import Run, RunStatus
from penstock.workloads.monitor.results import Ended
from penstock.workloads.monitor.run_routes import refuse_empty
from penstock.workloads.monitor.runs import Launch
from penstock.workloads.monitor.service import MonitorService

PART, RESULTS = 50, 50
#: Rates are drawn over so many of the newest runs.
DRAWN = 100
CHOICE = ("source", "adapter")


def add(console: Console, services: Services) -> None:
    """Show runs, and begin them."""
    _add_list(console, services.monitor)
    _add_start(console, services.monitor)
    _add_one(console, services.monitor)
    _add_retry(console, services.monitor)


async def _list(ask: Ask, monitor: MonitorService) -> tuple[list[Run], str | None]:
    """Some runs, and the place of the next."""
    status = ask.get("status")
    if status and status not in set(RunStatus):
        raise invalid("status", "is none that there is")
    runs = await monitor.runs.list(
        source_id=await monitor.source_id(ask.get("source") or None),
        adapter=ask.get("adapter") or None,
        status=RunStatus(status) if status else None,
        before=ask.get("after") or None,
        limit=DRAWN + 1,
    )
    return runs, runs[PART - 1].id if len(runs) > PART else None


def _add_list(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/runs")
    async def show(ask: Ask) -> View:
        problem, runs, place = "", list[Run](), None
        try:
            runs, place = await _list(ask, monitor)
        except ApiError as error:
            problem = str(error)
        values = {
            "title": "Runs",
            "runs": runs[:PART],
            "next": place,
            "problem": problem,
            "sources_by_id": await names_by_id(monitor),
            "wanted": {name: ask.get(name) for name in (*CHOICE, "status")},
            "statuses": [status.value for status in RunStatus],
            **charts(runs),
        }
        return View("monitor_runs.html", values | await _form(monitor, {}, {}))


async def _form(
    monitor: MonitorService, values: Mapping[str, str], wrong: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "values": values or dict.fromkeys(CHOICE, ""),
        "errors": wrong,
        "sources": await source_names(monitor),
        "adapters": monitor.shops.drafter.adapters(),
    }


async def names_by_id(monitor: MonitorService) -> dict[str, str]:
    """What sources are called."""
    return {row["id"]: row["name"] for row in await monitor.shops.all()}


def charts(runs: Sequence[Run]) -> dict[str, Any]:
    """Rates of runs that are over, the oldest first."""
    over = [run for run in reversed(runs) if run.completed_at]
    return {
        "yields": rate_chart(over, "yield_rate", "Share of pages that gave a price"),
        "failures": rate_chart(over, "failure_rate", "Share of pages that could not be read"),
    }


def rate_chart(runs: Sequence[Run], name: str, label: str) -> Any:
    """A rate over time, marked with how the run ended."""
    points = []
    for run in runs:
        rate = getattr(run, name)
        if rate is not None:
            says = f"{at(run.started_at)}: {percent(float(rate))}, {run.status.lower()}"
            points.append(Point(run.started_at, float(rate), look(run.status), says))
    if not points:
        return ""
    lowest, highest = min(point.y for point in points), max(point.y for point in points)
    ends = at(int(points[0].x)), at(int(points[-1].x))
    return line_chart(points, label, ends, (percent(lowest), percent(highest)))


def _add_start(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/runs/new")
    async def show(ask: Ask) -> View:
        values = {name: ask.get(name) for name in CHOICE}
        shown = {"title": "Start a run", **await _form(monitor, values, {})}
        return View("monitor_run_new.html", shown)

    @console.action("/monitor/runs/new")
    async def start(form: Form) -> Done | View:
        values = typed(form, *CHOICE)
        try:
            body = checked(NewRun, given(values))
            launch = await monitor.start_run(
                form.visitor.key.name, source=body.source, adapter=body.adapter
            )
            refuse_empty(launch)
        except ApiError as error:
            shown = {"title": "Start a run", **await _form(monitor, values, problems(error))}
            return View("monitor_run_new.html", shown, error.status)
        return _begun(launch, "start run", given(values))


def _begun(launch: Launch, action: str, detail: Mapping[str, Any]) -> Done:
    says = f"{launch.accepted} targets are read as soon as it is their turn."
    if launch.refused:
        says += f" {len(launch.refused)} are not: {next(iter(launch.refused.values()))}."
    if launch.left:
        says += f" {launch.left} more have to be started after these."
    only = launch.runs[0] if len(launch.runs) == 1 else None
    to = f"{ROOT}/monitor/runs/{only}" if only else f"{ROOT}/monitor/runs"
    return Done(to, says, action, ", ".join(launch.runs), detail)


def _add_one(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/runs/{id}")
    async def show(ask: Ask) -> View:
        run = await monitor.runs.get(ask.path["id"])
        if run is None:
            raise NotFound("Run not found")
        ended = ask.get("ended")
        rows = await monitor.results.of_run(
            run.id,
            Ended(ended) if ended in set(Ended) else None,
            ask.get("after") or None,
            RESULTS + 1,
        )
        values = {
            "title": "A run",
            "run": run,
            "source": (await monitor.shops.get(run.source_id))["name"],
            "rows": rows[:RESULTS],
            "next": rows[RESULTS - 1]["target_id"] if len(rows) > RESULTS else None,
            "ended": ended,
            "ends": [each.value for each in Ended],
        }
        return View("monitor_run.html", values)


def _add_retry(console: Console, monitor: MonitorService) -> None:
    @console.action("/monitor/runs/{id}/retry")
    async def retry(form: Form) -> Done:
        launch = await monitor.retry_run(form.visitor.key.name, form.path["id"])
        refuse_empty(launch)
        return _begun(launch, "retry run", {"failed in": form.path["id"]})
