"""`penstock monitor shadow` and `alerts`: how a candidate does, and what ops were told."""

from typing import Annotated, Any

import typer

from penstock.cli.monitoring import AsJson, Limit, lines, say, show_rows, with_monitor
from penstock.cli.output import write_json
from penstock.queue.timing import read_span
from penstock.workloads.monitor.alerts import list_alerts
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.shadow import ShadowReport, report, report_lines
from penstock.workloads.monitor.views import plain

COLUMNS = ("severity", "kind", "subject", "message", "count", "first_at", "last_at", "resolved_at")


def shadow(
    adapter: Annotated[str, typer.Argument(help="The adapter in use, by name.")],
    since: Annotated[str, typer.Option(help="Pages of the last 7d, 12h ….")] = "7d",
    as_json: AsJson = False,
) -> None:
    """How candidates that read beside an adapter agreed with it on live pages.

    PENSTOCK_MONITOR__SHADOW names them, as '{"sgammo": "sgammo@1.1.0"}'.
    """
    span = read_span(since)

    async def look(monitor: MonitorService) -> list[ShadowReport]:
        begin = await monitor.replaying.now() - int(span * 1000)
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
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """What ops were told of and lasts, newest first."""

    async def look(monitor: MonitorService) -> list[dict[str, Any]]:
        return await monitor.store.read(
            lambda unit: list_alerts(unit, only_open=not everything, limit=limit)
        )

    rows = [
        {name: plain(name, row[name]) for name in ("id", *COLUMNS)} for row in with_monitor(look)
    ]
    show_rows(f"{len(rows)} alerts", rows, COLUMNS, as_json)
