"""Cursors of products: they lead back to where they were made, and nowhere else."""

from base64 import urlsafe_b64encode
from decimal import Decimal
from typing import Any

import orjson
import pytest

from penstock.products.catalogue_reading import Sort
from penstock.web.errors import InvalidRequest
from penstock.workloads.catalog.product_cursors import cursor_of, read_cursor

ID = "0" * 32
ROW: dict[str, Any] = {
    "id": ID,
    "created_at": 1_772_625_600_000,
    "updated_at": 1_772_625_600_001,
    "price": Decimal("19.90"),
    "rating": Decimal("4.50"),
    "product_name": "Größe \N{ELECTRIC LIGHT BULB}",
}


def made(*parts: Any) -> str:
    return urlsafe_b64encode(orjson.dumps(list(parts))).decode().rstrip("=")


@pytest.mark.parametrize("sort", list(Sort))
def test_a_cursor_leads_back_to_its_row(sort: Sort) -> None:
    value, identity = read_cursor(cursor_of(ROW, sort), sort) or (None, "")
    assert value in ROW.values()
    assert identity == ID


@pytest.mark.parametrize("sort", [Sort.PRICE_ASC, Sort.PRICE_DESC, Sort.RATING])
def test_what_has_no_value_has_a_place_too(sort: Sort) -> None:
    row = {**ROW, "price": None, "rating": None}
    assert read_cursor(cursor_of(row, sort), sort) == (None, ID)


def test_no_cursor_is_the_beginning() -> None:
    assert read_cursor(None, Sort.NAME) is None


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "é",
        made(),
        made("newest", None, ID),
        made("newest", "5", ID),
        made("newest", 2**63, ID),
        made("newest", 5, "short"),
        made("newest", 5, 5),
        made("name", "a", ID),
        urlsafe_b64encode(b"{").decode(),
    ],
)
def test_what_is_no_cursor_of_this_order_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        read_cursor(cursor, Sort.NEWEST)


@pytest.mark.parametrize("value", ["NaN", "1e99", "much", 5, "999999999.99"])
def test_what_is_no_amount_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest):
        read_cursor(made("price_asc", value, ID), Sort.PRICE_ASC)
