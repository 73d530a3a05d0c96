"""`penstock monitor runs`: what was read when, and how it went."""

from typing import Annotated, Any

import typer

from penstock.cli.monitoring import (
    AdapterName,
    AsJson,
    Limit,
    Source,
    cell,
    say,
    show_one,
    show_rows,
    trouble,
    who,
    with_monitor,
)
from penstock.cli.output import ExitCode, complain, print_table, write_json
from penstock.web.views import view
from penstock.workloads.monitor.model import Run, RunStatus
from penstock.workloads.monitor.runs import Launch
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import RunView

app = typer.Typer(no_args_is_help=True, help="Runs: targets that are read together.")

COLUMNS = ("id", "adapter_id", "status", "started_at", "urls", "offers", "drift_rate")
SEE = "runs list"


@app.command("list")
def list_runs(
    source: Source = None,
    adapter: AdapterName = None,
    status: Annotated[RunStatus | None, typer.Option(help="Only in this status.")] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""

    async def look(monitor: MonitorService) -> list[Run]:
        source_id = await monitor.source_id(source)
        return await monitor.runs.list(
            source_id=source_id, adapter=adapter, status=status, limit=limit
        )

    rows = [view(RunView, run.as_json()) for run in with_monitor(look)]
    if not as_json:
        rows = [row | _in_words(row) for row in rows]
    show_rows(f"{len(rows)} runs", rows, COLUMNS, as_json)


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="A run, by id.")], as_json: AsJson = False
) -> None:
    """Show all counters and rates of a run."""
    found = with_monitor(lambda monitor: monitor.runs.get(run))
    if found is None:
        raise trouble(f"there is no run {run}; see `penstock monitor {SEE}`")
    show_one(view(RunView, found.as_json()), as_json)


@app.command()
def start(
    targets: Annotated[
        list[str] | None, typer.Argument(help="Targets, by id or URL; else all of --source.")
    ] = None,
    source: Source = None,
    adapter: AdapterName = None,
    as_json: AsJson = False,
) -> None:
    """Read targets now; a worker does it (`penstock up`), at the pace of their domain."""

    async def begin(monitor: MonitorService) -> Launch:
        ids = [(await monitor.targets.get(target))["id"] for target in targets or []]
        return await monitor.start_run(who(), source=source, adapter=adapter, target_ids=ids)

    _show_launch(with_monitor(begin), as_json)


@app.command()
def retry(
    run: Annotated[str, typer.Argument(help="A run, by id.")], as_json: AsJson = False
) -> None:
    """Read those targets of a run again that could not be read, and were not read since."""
    launch = with_monitor(lambda monitor: monitor.retry_run(who(), run), see=SEE)
    _show_launch(launch, as_json)


def _in_words(run: dict[str, Any]) -> dict[str, str]:
    """What a run has counted, as far as there is any."""
    offers = {name: run[f"offers_{name}"] for name in ("valid", "dropped", "quarantined")}
    failed = f", {run['urls_failed']} failed" if run["urls_failed"] else ""
    return {
        "urls": f"{run['urls_over']} of {run['urls_total']}{failed}",
        "offers": ", ".join(f"{number} {name}" for name, number in offers.items() if number),
    }


def _show_launch(launch: Launch, as_json: bool) -> None:
    if as_json:
        write_json(
            {
                "runs": launch.runs,
                "accepted": launch.accepted,
                "refused": dict(launch.refused),
                "left": launch.left,
            }
        )
    else:
        say(f"{launch.accepted} targets in {len(launch.runs)} runs: {cell(launch.runs)}")
        if launch.refused:
            print_table("Not read", ("target", "why"), list(launch.refused.items()))
        if launch.left:
            say(f"{launch.left} more are left: say the same again for the next of them")
    if not launch.runs:
        complain("no target can be read now")
        raise typer.Exit(ExitCode.TROUBLE)
