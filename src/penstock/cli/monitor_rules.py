"""`penstock monitor rules`: what users want to be told of."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from penstock.cli.monitor_quarantine import read_amount
from penstock.cli.monitoring import (
    AsJson,
    Limit,
    OfProduct,
    OfTarget,
    say,
    show_one,
    show_rows,
    target_id,
    who,
    with_monitor,
)
from penstock.cli.output import write_json
from penstock.workloads.monitor.rules import Rule, RuleKind
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import view_rule

app = typer.Typer(no_args_is_help=True, help="Be told of prices.")

Id = Annotated[str, typer.Argument(help="A rule, as `rules list` shows it.")]
SEE = "rules list"
COLUMNS = ("id", "kind", "threshold", "currency", "target_id", "product_id", "enabled")


@app.command("list")
def list_rules(
    target: OfTarget = None,
    product: OfProduct = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List the rules, oldest first."""

    async def look(monitor: MonitorService) -> list[Rule]:
        of_target = await target_id(monitor, target)
        return await monitor.alerts.all(target_id=of_target, product_id=product, limit=limit)

    rows = [view_rule(rule) for rule in with_monitor(look)]
    show_rows(f"{len(rows)} rules", rows, COLUMNS, as_json)


@app.command()
def show(rule: Id, as_json: AsJson = False) -> None:
    """Show all of a rule."""
    _show(lambda monitor: monitor.alerts.get(rule), as_json)


@app.command()
def add(
    kind: Annotated[RuleKind, typer.Argument(help="What to wait for.")],
    target: OfTarget = None,
    product: OfProduct = None,
    threshold: Annotated[str | None, typer.Option(help="An amount, or per cent.")] = None,
    currency: Annotated[str | None, typer.Option(help="Of an amount, such as USD.")] = None,
    notify_url: Annotated[str | None, typer.Option(help="A webhook to call.")] = None,
    as_json: AsJson = False,
) -> None:
    """Be told when a price drops, is below an amount, or a product is back in stock."""
    amount = read_amount(threshold)

    async def work(monitor: MonitorService) -> Rule:
        traits: dict[str, Any] = {
            "target_id": await target_id(monitor, target),
            "product_id": product,
            "threshold": amount,
            "currency": currency,
            "notify_url": notify_url,
        }
        return await monitor.alerts.add(kind, who(), **traits)

    show_one(view_rule(with_monitor(work)), as_json)


@app.command()
def enable(rule: Id, as_json: AsJson = False) -> None:
    """Switch a rule on."""
    _show(lambda monitor: monitor.alerts.switch(rule, enabled=True), as_json)


@app.command()
def disable(rule: Id, as_json: AsJson = False) -> None:
    """Switch a rule off."""
    _show(lambda monitor: monitor.alerts.switch(rule, enabled=False), as_json)


@app.command()
def remove(rule: Id, as_json: AsJson = False) -> None:
    """Forget a rule."""
    with_monitor(lambda monitor: monitor.alerts.remove(rule), see=SEE)
    if as_json:
        write_json({"removed": rule})
    else:
        say(f"rule {rule} is gone")


def _show(ask: Callable[[MonitorService], Awaitable[Rule]], as_json: bool) -> None:
    show_one(view_rule(with_monitor(ask, see=SEE)), as_json)
