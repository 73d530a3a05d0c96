"""Identity keys: which product of a source a record is about, as `TYPE:value`."""

from penstock.core.urls import Url, identity
from penstock.kernel.records import Product

KEY_TYPES = ("PID", "SKU", "URL")
MAX_VALUE_LENGTH = 255
URL_HASH_LENGTH = 16


def identity_key(product: Product, url: Url) -> str:
    """The shop's product id, else its SKU, else a hash of the canonical URL.

    An id that cannot stand in a key (blank, too long, or with a `:`) is passed over, never
    changed: two ids must not become one.
    """
    for key_type, value in (("PID", product.product_id), ("SKU", product.sku)):
        if value and _problem(value) is None:
            return f"{key_type}:{value}"
    return f"URL:{identity(url)[:URL_HASH_LENGTH]}"


def parse_identity_key(text: str) -> tuple[str, str]:
    """The type and the value of a key; raise `ValueError` saying what is wrong with it."""
    key_type, _, value = text.partition(":")
    if key_type not in KEY_TYPES:
        raise ValueError(f"an identity key starts with one of {', '.join(KEY_TYPES)} and a colon")
    if problem := _problem(value):
        raise ValueError(f"the value of an identity key {problem}")
    return key_type, value


def _problem(value: str) -> str | None:
    if not value.strip():
        return "must not be empty"
    if ":" in value:
        return "must not contain a colon"
    if len(value) > MAX_VALUE_LENGTH:
        return f"must have at most {MAX_VALUE_LENGTH} characters"
    return None
