"""The monitor in one screen: how many targets, what was read last, and what needs somebody."""

from penstock.console.pages import Ask, Console, View
from penstock.console.services import Services
from penstock.workloads.monitor.told import Wanted

LATEST, MOST_ALERTS, MOST_DISABLED = 10, 20, 20


def add(console: Console, services: Services) -> None:
    """Show how the monitor does."""
    monitor = services.monitor

    @console.page("/monitor")
    async def show(_ask: Ask) -> View:
        return View(
            "monitor_overview.html",
            {
                "title": "Monitor",
                "figures": await monitor.figures(),
                "runs": await monitor.runs.list(limit=LATEST),
                "alerts": await monitor.told.list(Wanted(), is_open=True, limit=MOST_ALERTS),
                "disabled": await monitor.adapters.some(enabled=False, limit=MOST_DISABLED + 1),
                "most_disabled": MOST_DISABLED,
            },
        )
