"""`penstock monitor quarantine`: offers that wait for a person."""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from penstock.cli.monitoring import (
    AsJson,
    Limit,
    OfRun,
    OfTarget,
    Source,
    Why,
    show_one,
    show_rows,
    target_id,
    trouble,
    who,
    with_monitor,
)
from penstock.core.money import currencies, to_decimal
from penstock.web.views import view
from penstock.workloads.monitor.model import QuarantineStatus
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import QuarantinedView

app = typer.Typer(no_args_is_help=True, help="Offers that were not trusted.")

Id = Annotated[str, typer.Argument(help="An offer, as `quarantine list` shows it.")]
SEE = "quarantine list --all"
COLUMNS = ("id", "reason", "detail", "title", "price", "observed_at", "status")


@app.command("list")
def list_offers(
    status: Annotated[QuarantineStatus, typer.Option(help="Only these.")] = QuarantineStatus.OPEN,
    everything: Annotated[bool, typer.Option("--all", help="Those decided on, too.")] = False,
    source: Source = None,
    target: OfTarget = None,
    run: OfRun = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List quarantined offers, newest first."""

    async def look(monitor: MonitorService) -> list[dict[str, Any]]:
        return await monitor.quarantine.list(
            status=None if everything else status,
            source_id=await monitor.source_id(source),
            target_id=await target_id(monitor, target),
            run_id=run,
            limit=limit,
        )

    rows = [view(QuarantinedView, row) for row in with_monitor(look)]
    if not as_json:
        rows = [{**row, **_of_offer(row["offer"])} for row in rows]
    show_rows(f"{len(rows)} offers", rows, COLUMNS, as_json)


@app.command()
def show(offer: Id, as_json: AsJson = False) -> None:
    """Show all of an offer."""
    found = with_monitor(lambda monitor: monitor.quarantine.get(offer), see=SEE)
    show_one(view(QuarantinedView, found), as_json)


@app.command()
def release(
    offer: Id,
    why: Why,
    price: Annotated[
        str | None, typer.Option(help="What it should have said, where the page was ambiguous.")
    ] = None,
    currency: Annotated[str | None, typer.Option(help="Of the price, such as USD.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write an offer as a price after all, with the provenance it has."""
    amount = read_amount(price)
    found = with_monitor(
        lambda monitor: monitor.quarantine.release(
            offer, who=who(), why=why, price=amount, currency=currency
        ),
        see=SEE,
    )
    show_one(view(QuarantinedView, found), as_json)


@app.command()
def discard(offer: Id, why: Why, as_json: AsJson = False) -> None:
    """Never mind an offer."""
    found = with_monitor(
        lambda monitor: monitor.quarantine.discard(offer, who=who(), why=why), see=SEE
    )
    show_one(view(QuarantinedView, found), as_json)


def read_amount(text: str | None) -> Decimal | None:
    """An amount that somebody typed."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise trouble(f"'{text}' is no amount; write 19.99") from None
    if not amount.is_finite() or amount <= 0:
        raise trouble("an amount is above zero")
    return amount


def _of_offer(offer: dict[str, Any]) -> dict[str, Any]:
    """What people want to see of an offer at first."""
    minor, currency = offer.get("price_minor"), offer.get("currency")
    price = ""
    if minor is not None and currency in currencies():
        price = f"{to_decimal(minor, str(currency)):f} {currency}"
    return {"title": offer.get("name") or "", "price": price}
