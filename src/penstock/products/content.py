"""The content of a product's page: what of it is kept, and how it is known to be the same."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from typing import Any

from penstock.core.money import to_decimal
from penstock.extract.product.images import FoundImage
from penstock.kernel.records import Product
from penstock.store.schema import dump, storable

Row = dict[str, Any]
#: What is told of a page, but is not what it says.
ABOUT_READING = frozenset({"confidence", "parser"})
TWO_DECIMALS = Decimal("0.01")
LARGEST_COUNT = 2**31 - 1


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of plain data; neither the order of keys nor how a number is written matters."""
    return sha256(dump(_canonical(content)).encode()).hexdigest()


def _canonical(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _canonical(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [_canonical(each) for each in value]
        case Decimal():
            # Zero with an exponent is zero.
            return f"{value.normalize():f}" if value else "0"
        case Enum():
            return value.value
        case _:
            return value


def page_hash(row: Mapping[str, Any], images: Sequence[FoundImage], names: Sequence[str]) -> str:
    """The content hash of a row as it is to be kept, by the names of what counts, and images."""
    said = {name: value for name, value in row["metadata"].items() if name not in ABOUT_READING}
    shown = [[image.url, image.alt, image.kind] for image in images]
    return content_hash({name: row[name] for name in names} | {"more": said, "images": shown})


def description_of(record: Product) -> Row:
    """What only a page's last reading says of a product."""
    rating, count = record.rating, record.review_count
    return {
        "description": record.description and storable(record.description),
        "category": record.category and storable(record.category),
        "rating": None if rating is None else rating.quantize(TWO_DECIMALS),
        "review_count": count if count is None or count <= LARGEST_COUNT else None,
    }


def metadata_of(record: Product) -> Row:
    """What has no column of its own; only what is said."""
    currency = record.currency
    amounts = {
        "list_price": record.list_price_minor,
        "shipping": record.shipping_minor,
    }
    facts: Row = {
        "gtin": record.gtin,
        "mpn": record.mpn,
        "product_id": record.product_id,
        "tax_included": record.tax_included,
        "rival_prices": list(record.rival_prices),
        **{
            name: None if minor is None or currency is None else str(to_decimal(minor, currency))
            for name, minor in amounts.items()
        },
    }
    return {name: value for name, value in facts.items() if value not in (None, [])}
