"""`penstock monitor shadow` and `alerts`: how a candidate does, and what ops were told."""

from typing import Annotated

import typer

from penstock.cli.monitoring import (
    AsJson,
    Limit,
    PagesSince,
    lines,
    say,
    show_rows,
    time_of,
    trouble,
    with_monitor,
)
from penstock.cli.output import write_json
from penstock.quality.shadow import ShadowReport, report_lines
from penstock.web.views import view
from penstock.workloads.monitor.report_views import AlertView
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.shadow import report
from penstock.workloads.monitor.told import Severity, Wanted

COLUMNS = ("severity", "kind", "subject", "message", "count", "first_at", "last_at", "resolved_at")


def shadow(
    adapter: Annotated[str, typer.Argument(help="The adapter in use, by name.")],
    since: PagesSince = "7d",
    as_json: AsJson = False,
) -> None:
    """How candidates that read beside an adapter agreed with it on live pages.

    PENSTOCK_MONITOR__SHADOW names them, as '{"sgammo": "sgammo@1.1.0"}'.
    """

    async def look(monitor: MonitorService) -> list[ShadowReport]:
        begin = await time_of(monitor, since)
        return await monitor.store.read(lambda unit: report(unit, adapter, begin))

    found = with_monitor(look)
    for each in found:
        if as_json:
            write_json(each.as_json())
        else:
            lines(report_lines(each))
    if not found and not as_json:
        say(f"Nothing read pages beside {adapter} since then.")


def alerts(
    everything: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
    over: Annotated[bool, typer.Option("--over", help="Only those that are over.")] = False,
    kind: Annotated[
        str | None, typer.Option(help="Only of this kind, such as adapter_disabled.")
    ] = None,
    severity: Annotated[
        Severity | None, typer.Option(help="Only so urgent; P1 is the most.", case_sensitive=False)
    ] = None,
    subject: Annotated[
        str | None, typer.Option(help="Only about this, as `adapters list` shows it.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """What ops were told of and lasts, newest first."""
    if everything and over:
        raise trouble("say either --all or --over")
    wanted = Wanted(kind, subject, severity)
    is_open = None if everything else not over
    found = with_monitor(lambda monitor: monitor.told.list(wanted, is_open=is_open, limit=limit))
    rows = [view(AlertView, row) for row in found]
    show_rows(f"{len(rows)} alerts", rows, COLUMNS, as_json)
