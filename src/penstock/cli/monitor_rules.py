"""`penstock monitor rules`: what users want to be told of."""

from typing import Annotated, Any

import typer

from penstock.cli.monitor_quarantine import read_amount
from penstock.cli.monitoring import (
    AsJson,
    Limit,
    say,
    show_one,
    show_rows,
    who,
    with_monitor,
)
from penstock.cli.output import write_json
from penstock.workloads.monitor.rules import Rule, RuleKind
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import view_rule

app = typer.Typer(no_args_is_help=True, help="Be told of prices.")

Id = Annotated[str, typer.Argument(help="A rule, as `rules list` shows it.")]
COLUMNS = ("id", "kind", "threshold", "currency", "target_id", "product_id", "enabled")


@app.command("list")
def list_rules(limit: Limit = 100, as_json: AsJson = False) -> None:
    """List the rules, oldest first."""
    found = with_monitor(lambda monitor: monitor.alerts.all(limit=limit))
    rows = [view_rule(rule) for rule in found]
    show_rows(f"{len(rows)} rules", rows, COLUMNS, as_json)


@app.command()
def add(
    kind: Annotated[RuleKind, typer.Argument(help="What to wait for.")],
    target: Annotated[str | None, typer.Option(help="A target, by id or URL.")] = None,
    product: Annotated[str | None, typer.Option(help="A product, by id.")] = None,
    threshold: Annotated[str | None, typer.Option(help="An amount, or per cent.")] = None,
    currency: Annotated[str | None, typer.Option(help="Of an amount, such as USD.")] = None,
    notify_url: Annotated[str | None, typer.Option(help="A webhook to call.")] = None,
    as_json: AsJson = False,
) -> None:
    """Be told when a price drops, is below an amount, or a product is back in stock."""
    amount = read_amount(threshold)

    async def work(monitor: MonitorService) -> Rule:
        target_id = (await monitor.targets.get(target))["id"] if target else None
        traits: dict[str, Any] = {"threshold": amount, "currency": currency}
        return await monitor.alerts.add(
            kind, who(), target_id=target_id, product_id=product, notify_url=notify_url, **traits
        )

    show_one(view_rule(with_monitor(work)), as_json)


@app.command()
def enable(rule: Id, as_json: AsJson = False) -> None:
    """Switch a rule on."""
    show_one(view_rule(with_monitor(lambda each: each.alerts.switch(rule, enabled=True))), as_json)


@app.command()
def disable(rule: Id, as_json: AsJson = False) -> None:
    """Switch a rule off."""
    show_one(view_rule(with_monitor(lambda each: each.alerts.switch(rule, enabled=False))), as_json)


@app.command()
def remove(rule: Id, as_json: AsJson = False) -> None:
    """Forget a rule."""
    with_monitor(lambda monitor: monitor.alerts.remove(rule))
    if as_json:
        write_json({"removed": rule})
    else:
        say(f"rule {rule} is gone")
