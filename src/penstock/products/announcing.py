"""What is told of the catalogue's products and of sources, for the outbox."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import select

from penstock.core.ids import new_id
from penstock.events.ports import Message
from penstock.products.corrections import owner_of
from penstock.products.sources import Visibility
from penstock.products.tables import source_products
from penstock.products.topics import PRODUCT_CHANGED, SOURCE_CHANGED
from penstock.store.unit import Unit

Row = dict[str, Any]
#: Announces messages as part of a unit of work, as the event log does.
Announce = Callable[[Unit, Sequence[Message]], None]
TOLD = ("product_id", "source_id", "domain_id", "url", "updated_at")
#: What makes one change another than the last.
CONTENT = ("id", "updated_at", "content_hash", "price", "currency", "availability", "archived_at")
ID_DIGITS = 32


def product_messages(unit: Unit, source_product_ids: Sequence[str]) -> list[Message]:
    """An event for each of some products that the catalogue has; others are passed over.

    Its id is made of the product and of what it is now: the same change is one event.
    """
    if not source_product_ids:
        return []
    column = source_products.c
    query = select(*(column[name] for name in dict.fromkeys((*CONTENT, *TOLD)))).where(
        unit.among(column.id, sorted(set(source_product_ids))), column.domain_id.is_not(None)
    )
    return [_message(row) for row in unit.rows(query.order_by(column.id))]


def _message(row: Row) -> Message:
    content = "\n".join(str(row[name]) for name in CONTENT)
    data = {
        "source_product_id": row["id"],
        **{name: row[name] for name in TOLD},
        "archived": row["archived_at"] is not None,
    }
    digest = sha256(content.encode()).hexdigest()[:ID_DIGITS]
    return Message(f"{digest}.{PRODUCT_CHANGED}", PRODUCT_CHANGED, row["id"], data)


def price_messages(unit: Unit, price_id: str) -> list[Message]:
    """An event for the product of a price that was corrected, if the catalogue has it."""
    owner = owner_of(unit, price_id)
    return product_messages(unit, [owner]) if owner else []


def source_message(source_id: str, visibility: Visibility) -> Message:
    """An event for a source whose products are shown to readers now, or are no longer."""
    data = {"source_id": source_id, "visibility_status": visibility.value}
    return Message(f"{new_id()}.{SOURCE_CHANGED}", SOURCE_CHANGED, source_id, data)
