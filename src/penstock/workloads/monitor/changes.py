"""Changes: an offer that was written, beside what was known before, and how that is announced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.events.ports import Message
from penstock.products.model import Offer, Seen, Written, amount_of
from penstock.store.unit import Unit

PRICE_CHANGED, STOCK_CHANGED = "price.changed", "stock.changed"


@dataclass(frozen=True, slots=True)
class Change:
    """An offer that was written: what it is now and what it was before."""

    target_id: str
    source_product_id: str
    product_id: str
    price_id: str
    run_id: str
    url: str
    before: Seen | None
    after: Seen


#: Told of the offers that were written, as part of the unit of work.
TellChanges = Callable[[Unit, Sequence[Change]], None]


def change_of(offer: Offer, written: Written) -> Change:
    """What the writing of an offer changed."""
    record = offer.record
    after = Seen(
        price=amount_of(record.price_minor or 0, record.currency or ""),
        currency=record.currency or "",
        availability=record.availability.value,
        observed_at=offer.observed_at,
    )
    return Change(
        target_id=offer.target_id,
        source_product_id=written.source_product_id,
        product_id=written.product_id,
        price_id=written.price_id,
        run_id=offer.run_id,
        url=offer.url,
        before=written.previous,
        after=after,
    )


def messages_of(change: Change) -> list[Message]:
    """An event for a price that is another one now, and one for another availability."""
    before, after = change.before, change.after
    if before is None:
        return []
    topics = []
    if (before.price, before.currency) != (after.price, after.currency):
        topics.append(PRICE_CHANGED)
    if before.availability != after.availability:
        topics.append(STOCK_CHANGED)
    data = {
        "target_id": change.target_id,
        "source_product_id": change.source_product_id,
        "product_id": change.product_id,
        "price_id": change.price_id,
        "run_id": change.run_id,
        "url": change.url,
        "before": before.as_json(),
        "after": after.as_json(),
    }
    return [
        Message(f"{change.price_id}.{topic}", topic, change.source_product_id, data)
        for topic in topics
    ]
