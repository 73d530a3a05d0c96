"""Cursors of search: where the next page begins, for the query that they were made for."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import astuple, replace
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from typing import Any

import orjson

from penstock.products.search.plan import LARGEST_PRICE, Plan, Position, Segment
from penstock.products.search.ports import Query
from penstock.store.schema import LARGEST, storable
from penstock.web.errors import InvalidRequest, invalid

LONGEST = 1024


def cursor_of(query: Query, position: Position) -> str:
    """The cursor for the page that begins behind a position."""
    return urlsafe_b64encode(orjson.dumps([_mark(query), *position])).decode().rstrip("=")


def position_of(query: Query, plan: Plan) -> Position | None:
    """Where the query's cursor points to; raise `InvalidRequest` if it is not one of its own."""
    if query.cursor is None:
        return None
    match _read(query.cursor):
        case [str(mark), int(segment), value, int(place)] if mark == _mark(query):
            position = Position(segment, value, place)
        case _:
            raise _not_ours()
    if not 0 <= segment < len(plan.segments) or not 0 <= place <= LARGEST:
        raise _not_ours()
    if not _fits(value, plan.segments[segment]):
        raise _not_ours()
    return position


def _read(cursor: str) -> Any:
    if len(cursor) > LONGEST:
        raise _not_ours()
    try:
        return orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError) as error:
        raise _not_ours() from error


def _fits(value: Any, segment: Segment) -> bool:
    """Whether a value is one of the column that a segment is ordered by."""
    match segment.column:
        case None:
            return value is None
        case "created_at" | "updated_at":
            return isinstance(value, int) and abs(value) <= LARGEST
        case "sort_name":
            return isinstance(value, str) and storable(value) == value
        case _:
            return isinstance(value, str) and _is_amount(value)


def _is_amount(text: str) -> bool:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and abs(number) <= LARGEST_PRICE


def _mark(query: Query) -> str:
    """What tells a query from others, wherever its page begins and however long it is."""
    same = replace(query, text=query.text.strip(), sort=query.order, cursor=None, limit=1)
    return blake2b(repr(astuple(same)).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _not_ours() -> InvalidRequest:
    return invalid("cursor", "is not one of this query: begin without a cursor")
