"""Cursors of lists of products: where the next part begins, in the order that it was made for."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from penstock.products.catalogue_reading import Place, Sort, place_of
from penstock.store.schema import LARGEST, storable
from penstock.web.errors import InvalidRequest, invalid

LONGEST = 4096
LARGEST_AMOUNT = Decimal("99999999.99")
ID_DIGITS = 32
TIMES = (Sort.NEWEST, Sort.UPDATED)


def cursor_of(row: Mapping[str, Any], sort: Sort) -> str:
    """The cursor for what is behind a product."""
    value, each = place_of(row, sort)
    said = f"{value:f}" if isinstance(value, Decimal) else value
    return urlsafe_b64encode(orjson.dumps([sort.value, said, each])).decode().rstrip("=")


def read_cursor(cursor: str | None, sort: Sort) -> Place | None:
    """Where a cursor points to; raise `InvalidRequest` if it is not one of this order."""
    if cursor is None:
        return None
    match _open(cursor):
        case [str(order), said, str(each)] if order == sort.value and len(each) == ID_DIGITS:
            return _value(said, sort), storable(each)
    raise _not_ours()


def _open(cursor: str) -> Any:
    try:
        return orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError) as error:
        raise _not_ours() from error


def _value(said: Any, sort: Sort) -> Any:
    """A value of the column that is sorted by."""
    match said:
        case int() if sort in TIMES and abs(said) <= LARGEST:
            return said
        case str() if sort is Sort.NAME:
            return storable(said)
        case str() if sort not in TIMES:
            return _amount(said)
        case None if sort not in (*TIMES, Sort.NAME):
            return None
    raise _not_ours()


def _amount(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise _not_ours() from error
    if not number.is_finite() or abs(number) > LARGEST_AMOUNT:
        raise _not_ours()
    return number


def _not_ours() -> InvalidRequest:
    return invalid("cursor", "is not one of this list: begin without a cursor")
