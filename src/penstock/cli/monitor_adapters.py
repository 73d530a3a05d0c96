"""`penstock monitor adapters`: how adapters fare on sources, and whether they may read."""

from typing import Annotated

import typer

from penstock.cli.monitoring import AsJson, say, show_one, show_rows, who, with_monitor
from penstock.web.views import view
from penstock.workloads.monitor.model import DisabledReason
from penstock.workloads.monitor.views import AdapterStatusView

app = typer.Typer(no_args_is_help=True, help="How adapters fare on sources.")

Id = Annotated[str, typer.Argument(help="As `adapters list` shows it: sgammo, or product@shop.")]
COLUMNS = (
    "adapter_id",
    "enabled",
    "disabled_reason",
    "disabled_by",
    "disabled_at",
    "last_batch_failure_rate",
    "consecutive_failed_batches",
    "baseline_yield_rate",
)


@app.command("list")
def list_adapters(as_json: AsJson = False) -> None:
    """List adapters that have read something, for each source that they read."""
    found = with_monitor(lambda monitor: monitor.adapters.all())
    rows = [view(AdapterStatusView, each.as_json()) for each in found]
    show_rows(f"{len(rows)} adapters on sources", rows, COLUMNS, as_json)


@app.command()
def enable(adapter: Id, as_json: AsJson = False) -> None:
    """Let an adapter read again. Its next run is a canary of a few targets.

    Prove a repaired one first: penstock monitor replay --adapter NAME@VERSION --since 7d
    """
    found = with_monitor(lambda monitor: monitor.enable_adapter(adapter, who()))
    show_one(view(AdapterStatusView, found.as_json()), as_json)
    if not as_json and found.needs_canary:
        say("The first run has a few targets; the rest waits for its good end.")


@app.command()
def disable(
    adapter: Id,
    reason: Annotated[DisabledReason, typer.Option(help="Why.")] = DisabledReason.MANUAL,
    as_json: AsJson = False,
) -> None:
    """Stop an adapter on a source; offers of runs under way are quarantined."""
    found = with_monitor(lambda monitor: monitor.disable_adapter(adapter, who(), reason))
    show_one(view(AdapterStatusView, found.as_json()), as_json)
