"""Corrections: what is said later about a price that was wrong. The price itself stays as it is.

One correction of a price counts at a time; it hides the price or puts another amount in its
place. Every reader applies it, by `corrected` and `is_shown`. What the catalogue shows as the
price of a product is a copy, which `refresh_current` keeps true.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from penstock.core.ids import new_id
from penstock.core.money import to_decimal, to_minor
from penstock.kernel.records import MAX_MINOR_UNITS, Availability
from penstock.products.resolving import take_turn
from penstock.products.tables import price_corrections, prices, source_products
from penstock.store.unit import Unit, do_nothing
from penstock.web.errors import Conflict, NotFound, invalid

#: Columns by name, as `prices.c` has them.
Columns = ReadOnlyColumnCollection[str, Any]


class Action(StrEnum):
    """What a correction does."""

    HIDE = "HIDE"
    OVERRIDE = "OVERRIDE"


#: A price as it counts.
corrected_price = func.coalesce(price_corrections.c.price, prices.c.price)
#: With another price, what one round costs is not known.
corrected_cost_per_round = case((price_corrections.c.price.is_(None), prices.c.cost_per_round))
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
    _check_amount(price, _currency_of(unit, price_id))
    values = {"price_id": price_id, "action": Action.OVERRIDE, "price": price}
    return _correct(unit, values, who, why)


def _check_amount(price: Decimal, currency: str) -> None:
    """What stands for a price must be one: as many units as others have, and no finer."""
    minor = to_minor(price, currency)
    if minor is None or not 1 <= minor <= MAX_MINOR_UNITS:
        least, most = (to_decimal(each, currency) for each in (1, MAX_MINOR_UNITS))
        raise invalid("price", f"must be between {least} and {most} {currency}, and no finer")


def revoke(unit: Unit, correction_id: str, *, who: str) -> str:
    """Let a price count again as it was seen; the id of the price."""
    _require("who", who)
    found = unit.run(
        update(price_corrections)
        .where(price_corrections.c.id == correction_id, price_corrections.c.revoked_at.is_(None))
        .values(revoked_by=who, revoked_at=unit.now)
    )
    if not found.rowcount:
        raise NotFound("There is no such correction, or it was revoked")
    query = select(price_corrections.c.price_id).where(price_corrections.c.id == correction_id)
    price_id: str = unit.run(query).scalar_one()
    _refresh_owner(unit, price_id)
    return price_id


def owner_of(unit: Unit, price_id: str) -> str | None:
    """The source product that a price is of."""
    query = select(prices.c.source_product_id).where(prices.c.id == price_id)
    owner: str | None = unit.run(query).scalar()
    return owner


def _correct(unit: Unit, values: Mapping[str, Any], who: str, why: str) -> str:
    _require("who", who)
    _require("why", why)
    _currency_of(unit, values["price_id"])
    row = {**values, "id": new_id(), "reason": why, "created_by": who, "created_at": unit.now}
    inserted = unit.run(do_nothing(unit.insert(price_corrections)).values(row))
    if not inserted.rowcount:
        raise Conflict("This price has a correction already: revoke it first")
    _refresh_owner(unit, values["price_id"])
    correction_id: str = row["id"]
    return correction_id


def _refresh_owner(unit: Unit, price_id: str) -> None:
    if owner := owner_of(unit, price_id):
        refresh_current(unit, [owner])


def _currency_of(unit: Unit, price_id: str) -> str:
    query = select(prices.c.currency).where(prices.c.id == price_id)
    currency: str | None = unit.run(query).scalar()
    if currency is None:
        raise NotFound("There is no such price")
    return currency


def _require(name: str, text: str) -> None:
    if not text.strip():
        raise invalid(name, "must be said")


# ── what the catalogue shows


def refresh_current(unit: Unit, source_product_ids: Sequence[str]) -> set[str]:
    """Let the catalogue show what counts as price of its products now; whose was another.

    To be called wherever a price is written, corrected, or counts again.
    """
    if not source_product_ids:
        return set()
    # All who write source products take turns: so none shows a price that another has outdated.
    take_turn(unit)
    wrong = find_untrue(unit, source_product_ids)
    if not wrong:
        return set()
    column = source_products.c
    names = ("price", "currency", "availability")
    statement = (
        update(source_products)
        .where(column.id == bindparam("which"))
        .values({name: bindparam(f"new_{name}", type_=column[name].type) for name in names})
        .values(updated_at=time_of_change(unit))
    )
    rows = [{"which": row["id"]} | {f"new_{name}": row[name] for name in names} for row in wrong]
    unit.run(statement, rows)
    return {row["id"] for row in wrong}


def time_of_change(unit: Unit) -> ColumnElement[int]:
    """When a source product is changed: now, but later than it ever was before."""
    last = source_products.c.updated_at
    return case((last < unit.now, unit.now), else_=last + 1)


def find_untrue(unit: Unit, source_product_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Products of the catalogue that show another price than what counts, with what does.

    That is the newest one that is not hidden; none if a page showed none since.
    """
    return list(unit.rows(_untrue().where(unit.among(source_products.c.id, source_product_ids))))


@cache
def _untrue() -> Select[Any]:
    """All such products; made once, for that takes longer than to look at a few."""
    shown = source_products.c
    query = newest_shown(lambda its: [its.source_product_id == shown.id])
    newest = query.correlate(source_products).scalar_subquery()
    not_since = or_(prices.c.id.is_(None), prices.c.observed_at <= shown.last_seen_at)
    is_without = and_(shown.stock_without_price.is_not(None), not_since)
    stock = func.nullif(shown.stock_without_price, Availability.UNKNOWN.value)
    counts = {
        "price": case((~is_without, corrected_price)),
        "currency": case((~is_without, prices.c.currency)),
        "availability": case((is_without, stock), else_=prices.c.availability),
    }
    differs = [shown[name].is_distinct_from(value) for name, value in counts.items()]
    found = (
        select(shown.id, *(value.label(name) for name, value in counts.items()))
        .select_from(corrected(source_products.outerjoin(prices, prices.c.id == newest)))
        .where(shown.domain_id.is_not(None), or_(*differs))
    )
    return found.order_by(shown.id)
