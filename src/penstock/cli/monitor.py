"""`penstock monitor`: known product URLs, read on schedule; their prices, judged and kept."""

import typer

from penstock.cli import (
    monitor_adapters,
    monitor_prices,
    monitor_quarantine,
    monitor_retailers,
    monitor_rules,
    monitor_runs,
    monitor_sources,
    monitor_targets,
)
from penstock.cli.monitor_diagnosis import replay, why
from penstock.cli.monitor_reports import alerts, shadow

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Watch the prices of known product URLs.

    First a shop:  penstock monitor sources add SGAmmo sgammo.com

    Then its URLs:  penstock monitor targets add https://www.sgammo.com/product/…

    Nothing is fetched before somebody has read the shop's terms of service and says so:
    penstock monitor sources approve SGAmmo

    From then on `penstock up` reads them on schedule, and you look with
    penstock monitor prices history URL""",
)
app.add_typer(monitor_sources.app, name="sources")
app.add_typer(monitor_retailers.app, name="retailers")
app.add_typer(monitor_targets.app, name="targets")
app.add_typer(monitor_runs.app, name="runs")
app.add_typer(monitor_adapters.app, name="adapters")
app.add_typer(monitor_quarantine.app, name="quarantine")
app.add_typer(monitor_prices.app, name="prices")
app.add_typer(monitor_rules.app, name="rules")
app.command()(why)
app.command()(replay)
app.command()(shadow)
app.command()(alerts)
