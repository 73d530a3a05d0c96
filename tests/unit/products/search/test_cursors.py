"""Cursors of search: what comes back is what went out, and nothing else is taken."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.products.search.cursors import cursor_of, position_of
from penstock.products.search.plan import Position, plan_of
from penstock.products.search.ports import Filters, Query, Sort
from penstock.web.errors import InvalidRequest

LAMPS = Query("lamp")


@pytest.mark.parametrize(
    ("query", "position"),
    [
        (LAMPS, Position(1, None, 77)),
        (Query(), Position(0, 1_700_000_000_000, 2**63 - 1)),
        (Query(sort=Sort.PRICE_ASC), Position(0, "12.30", 0)),
        (Query(sort=Sort.PRICE_ASC), Position(1, None, 5)),
        (Query(sort=Sort.NAME), Position(0, "étagère", 5)),
        (Query("x", Filters(brand=("a", "b"), price_min=Decimal(3))), Position(0, None, 1)),
    ],
)
def test_a_cursor_leads_back_to_its_position(query: Query, position: Position) -> None:
    cursor = cursor_of(query, position)

    assert position_of(replace(query, cursor=cursor), plan_of(query)) == position


def written(*parts: Any) -> str:
    return urlsafe_b64encode(orjson.dumps(parts)).decode()


#: What tells the query from others.
MARK = orjson.loads(urlsafe_b64decode(f"{cursor_of(LAMPS, Position(0, None, 1))}=="))[0]


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "x", "!!!", "é", "a" * 2_000, "bnVsbA", "\x00"),
        written(),
        written("other", 0, None, 1),
        written(MARK, 9, None, 1),
        written(MARK, -1, None, 1),
        written(MARK, 0, None, -1),
        written(MARK, 0, None, 2**63),
        written(MARK, 0, "x", 1),
        written(MARK, 0, None, "1"),
        written(MARK, 0, None),
        written(MARK, 0, None, 1, 1),
    ],
)
def test_what_is_no_cursor_of_the_query_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest, match=r"^cursor:"):
        position_of(replace(LAMPS, cursor=cursor), plan_of(LAMPS))


@pytest.mark.parametrize(
    ("sort", "value"),
    [
        (Sort.NEWEST, "x"),
        (Sort.NEWEST, 2**63),
        (Sort.NEWEST, None),
        (Sort.PRICE_ASC, "NaN"),
        (Sort.PRICE_ASC, "1e30"),
        (Sort.PRICE_ASC, 3),
        (Sort.RATING, "abc"),
        (Sort.NAME, 3),
        (Sort.NAME, "\x00"),
    ],
)
def test_a_value_that_its_column_cannot_have_is_refused(sort: Sort, value: Any) -> None:
    query = Query(sort=sort)
    cursor = cursor_of(query, Position(0, value, 1))

    with pytest.raises(InvalidRequest, match=r"^cursor:"):
        position_of(replace(query, cursor=cursor), plan_of(query))


@given(st.text(max_size=60))
def test_no_text_is_taken_for_a_cursor(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"^cursor:"):
        position_of(replace(LAMPS, cursor=text), plan_of(LAMPS))
