"""The pages of the price monitor, put together."""

from penstock.console import (
    monitor_adapters,
    monitor_files,
    monitor_overview,
    monitor_prices,
    monitor_quarantine,
    monitor_results,
    monitor_runs,
    monitor_sources,
    monitor_target,
    monitor_targets,
)
from penstock.console.pages import Console
from penstock.console.services import Services


def add(console: Console, services: Services) -> None:
    """Show the monitor, and let it be run."""
    for part in (
        monitor_overview,
        monitor_targets,
        monitor_target,
        monitor_results,
        monitor_files,
        monitor_runs,
        monitor_adapters,
        monitor_quarantine,
        monitor_sources,
        monitor_prices,
    ):
        part.add(console, services)
