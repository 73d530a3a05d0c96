"""Corrections: what is said later about a price that was wrong. The price itself stays as it is.

One correction of a price counts at a time; it hides the price or puts another amount in its
place. Every reader applies it, by `corrected` and `is_shown`.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from penstock.core.ids import new_id
from penstock.products.model import DECIMALS
from penstock.products.tables import price_corrections, prices
from penstock.store.unit import Unit, do_nothing
from penstock.web.errors import Conflict, NotFound, invalid

MOST = Decimal(10) ** 8
#: Columns by name, as `prices.c` has them.
Columns = ReadOnlyColumnCollection[str, Any]


class Action(StrEnum):
    """What a correction does."""

    HIDE = "HIDE"
    OVERRIDE = "OVERRIDE"


#: A price as it counts.
corrected_price = func.coalesce(price_corrections.c.price, prices.c.price)
is_shown: ColumnElement[bool] = or_(
    price_corrections.c.action.is_(None), price_corrections.c.action != Action.HIDE
)


def corrected(rows: FromClause = prices) -> FromClause:
    """Prices, or a join with prices, each with the correction that counts, if there is one."""
    counts = price_corrections.c.revoked_at.is_(None)
    return rows.outerjoin(
        price_corrections, and_(price_corrections.c.price_id == prices.c.id, counts)
    )


def newest_shown(choose: Callable[[Columns], Sequence[ColumnElement[bool]]]) -> Select[tuple[str]]:
    """The id of the newest price that is not hidden, of those that `choose` picks by their columns.

    To be completed as a subquery of who asks.
    """
    candidate, hiding = prices.alias(), price_corrections.alias()
    hidden = and_(
        hiding.c.price_id == candidate.c.id,
        hiding.c.revoked_at.is_(None),
        hiding.c.action == Action.HIDE,
    )
    return (
        select(candidate.c.id)
        .select_from(candidate.outerjoin(hiding, hidden))
        .where(*choose(candidate.c), hiding.c.id.is_(None))
        .order_by(candidate.c.observed_at.desc(), candidate.c.id.desc())
        .limit(1)
    )


def hide(unit: Unit, price_id: str, *, who: str, why: str) -> str:
    """Show a price to no consumer any more; the id of the correction."""
    return _correct(unit, {"price_id": price_id, "action": Action.HIDE, "price": None}, who, why)


def override(unit: Unit, price_id: str, price: Decimal, *, who: str, why: str) -> str:
    """Let another amount stand in the place of a price; the id of the correction."""
    if not price.is_finite() or not 0 < price < MOST or price != round(price, DECIMALS):
        raise invalid("price", f"must be above 0, below {MOST}, with {DECIMALS} decimals at most")
    values = {"price_id": price_id, "action": Action.OVERRIDE, "price": price}
    return _correct(unit, values, who, why)


def revoke(unit: Unit, correction_id: str, *, who: str) -> None:
    """Let a price count again as it was seen."""
    _require("who", who)
    found = unit.run(
        update(price_corrections)
        .where(price_corrections.c.id == correction_id, price_corrections.c.revoked_at.is_(None))
        .values(revoked_by=who, revoked_at=unit.now)
    )
    if not found.rowcount:
        raise NotFound("There is no such correction, or it was revoked")


def _correct(unit: Unit, values: Mapping[str, Any], who: str, why: str) -> str:
    _require("who", who)
    _require("why", why)
    price_id = values["price_id"]
    if not unit.run(select(prices.c.id).where(prices.c.id == price_id)).first():
        raise NotFound("There is no such price")
    row = {**values, "id": new_id(), "reason": why, "created_by": who, "created_at": unit.now}
    inserted = unit.run(do_nothing(unit.insert(price_corrections)).values(row))
    if not inserted.rowcount:
        raise Conflict("This price has a correction already: revoke it first")
    correction_id: str = row["id"]
    return correction_id


def _require(name: str, text: str) -> None:
    if not text.strip():
        raise invalid(name, "must be said")
