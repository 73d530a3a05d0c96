"""Price rules: what users want to be told of, and when it has come true.

A rule looks at what can be bought: an offer that is sold out has no price worth telling. It speaks
once, when it comes true, and again only after it was untrue. One on a product is for users and sees
what consumers see; one on a target is for who watches that target and sees all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import delete, insert, or_, select, update

from penstock.core.errors import PenstockError, UrlError
from penstock.core.ids import new_id
from penstock.core.money import currencies
from penstock.core.urls import parse
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.kernel.records import Availability
from penstock.notify.topics import PRICE_ALERT
from penstock.products import visible
from penstock.products.model import DECIMALS, Seen
from penstock.products.tables import products
from penstock.store.unit import Unit
from penstock.workloads.monitor.changes import Change
from penstock.workloads.monitor.tables import price_rules, scrape_targets

MOST_PERCENT, MOST_PRICE = Decimal(100), Decimal(10) ** 8
BUYABLE = frozenset([Availability.IN_STOCK, Availability.BACKORDER])


class RuleKind(StrEnum):
    """What a rule waits for."""

    DROP_PERCENT = "drop_percent"
    BELOW_PRICE = "below_price"
    BACK_IN_STOCK = "back_in_stock"


class RuleRefused(PenstockError):
    """A rule cannot be kept; says why."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What somebody wants to be told of, about one target or one product."""

    id: str
    kind: RuleKind
    target_id: str | None = None
    product_id: str | None = None
    threshold: Decimal | None = None
    currency: str | None = None
    notify_url: str | None = None
    enabled: bool = True
    created_by: str | None = None
    created_at: int = 0

    def as_json(self) -> dict[str, Any]:
        """The rule as plain data."""
        names = ("id", "target_id", "product_id", "currency", "notify_url", "enabled")
        return {
            **{name: getattr(self, name) for name in names},
            "kind": self.kind.value,
            "threshold": None if self.threshold is None else str(self.threshold),
            "created_by": self.created_by,
            "created_at": self.created_at,
        }


def matches(rule: Rule, before: Seen | None, after: Seen) -> bool:
    """Whether a rule has come true just now."""
    match rule.kind:
        case RuleKind.BACK_IN_STOCK:
            return (
                before is not None
                and before.availability == Availability.OUT_OF_STOCK
                and after.availability == Availability.IN_STOCK
            )
        case RuleKind.BELOW_PRICE:
            return _is_below(rule, after) and not (before and _is_below(rule, before))
        case RuleKind.DROP_PERCENT:
            return _has_dropped(rule, before, after)


def _is_below(rule: Rule, seen: Seen) -> bool:
    if rule.threshold is None or seen.currency != rule.currency:
        return False
    return seen.availability in BUYABLE and seen.price < rule.threshold


def _has_dropped(rule: Rule, before: Seen | None, after: Seen) -> bool:
    if rule.threshold is None or before is None or before.currency != after.currency:
        return False
    if after.availability not in BUYABLE or before.price <= 0:
        return False
    # Multiplied out: a division would round.
    return (before.price - after.price) * 100 >= rule.threshold * before.price


class PriceAlerts:
    """Tells of rules that have come true, as part of the unit of work that writes the prices."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def tell(self, unit: Unit, changes: Sequence[Change]) -> None:
        """Append an event for every rule that offers made true."""
        told = [change for change in changes if _has_changed(change)]
        if not told:
            return
        rules = _rules_for(unit, told)
        true = [
            (rule, change)
            for change in told
            for subject in (change.target_id, change.product_id)
            for rule in rules.get(subject, ())
            if matches(rule, change.before, change.after)
        ]
        self._log.append(unit, [_message(*each) for each in _those_shown(unit, true)])


def _has_changed(change: Change) -> bool:
    before, after = change.before, change.after
    if before is None:
        return True
    now = (after.price, after.currency, after.availability)
    return (before.price, before.currency, before.availability) != now


def _rules_for(unit: Unit, changes: Sequence[Change]) -> dict[str, list[Rule]]:
    """The rules that look at offers, by the id of their target or product."""
    columns = price_rules.c
    targets = unit.among(columns.target_id, sorted({change.target_id for change in changes}))
    their = unit.among(columns.product_id, sorted({change.product_id for change in changes}))
    query = select(price_rules).where(columns.enabled, or_(targets, their)).order_by(columns.id)
    found: dict[str, list[Rule]] = {}
    for rule in map(_as_rule, unit.rows(query)):
        found.setdefault(rule.target_id or rule.product_id or "", []).append(rule)
    return found


def _those_shown(unit: Unit, true: Sequence[tuple[Rule, Change]]) -> list[tuple[Rule, Change]]:
    """Rules that came true, without those on products by prices that consumers may not see."""
    asked = sorted({change.price_id for rule, change in true if rule.product_id is not None})
    shown = visible.shown_of(unit, asked) if asked else set()
    return [
        (rule, change)
        for rule, change in true
        if rule.product_id is None or change.price_id in shown
    ]


def _message(rule: Rule, change: Change) -> Message:
    data = {
        "rule_id": rule.id,
        "rule": rule.kind.value,
        "threshold": None if rule.threshold is None else str(rule.threshold),
        "target_id": change.target_id,
        "product_id": change.product_id,
        "price_id": change.price_id,
        "url": change.url,
        "message": _in_words(rule, change),
        "before": change.before.as_json() if change.before else None,
        "after": change.after.as_json(),
        "callback_url": rule.notify_url,
    }
    return Message(f"{change.price_id}.{rule.id}", PRICE_ALERT, change.source_product_id, data)


def _in_words(rule: Rule, change: Change) -> str:
    after = f"{change.after.price} {change.after.currency}"
    if rule.kind is RuleKind.BACK_IN_STOCK:
        return f"in stock again, for {after}"
    before = f"{change.before.price} {change.before.currency}" if change.before else "unknown"
    return f"{after} now, {before} before"


# ── rules in the store


def add_rule(
    unit: Unit,
    kind: RuleKind,
    who: str,
    *,
    target_id: str | None = None,
    product_id: str | None = None,
    threshold: Decimal | None = None,
    currency: str | None = None,
    notify_url: str | None = None,
) -> Rule:
    """Keep a rule; raise `RuleRefused` for one that could never come true."""
    rule = Rule(
        id=new_id(),
        kind=kind,
        target_id=target_id,
        product_id=product_id,
        threshold=threshold,
        currency=currency,
        notify_url=notify_url,
        created_by=who,
        created_at=unit.now,
    )
    _check(rule)
    _check_subject(unit, rule)
    names = ("id", "target_id", "product_id", "threshold", "currency", "notify_url", "enabled")
    row = {name: getattr(rule, name) for name in (*names, "created_by", "created_at")}
    unit.run(insert(price_rules).values(**row, kind=kind.value))
    return rule


def find_rule(unit: Unit, rule_id: str) -> Rule | None:
    """One rule."""
    query = select(price_rules).where(price_rules.c.id == rule_id)
    return next((_as_rule(row) for row in unit.rows(query)), None)


def list_rules(
    unit: Unit,
    *,
    target_id: str | None = None,
    product_id: str | None = None,
    after: str = "",
    limit: int = 100,
) -> list[Rule]:
    """Rules, oldest first, of a target or a product if one is named; `after` is the last id."""
    columns = price_rules.c
    wanted = {columns.target_id: target_id, columns.product_id: product_id}
    chosen = [column == value for column, value in wanted.items() if value is not None]
    query = select(price_rules).where(columns.id > after, *chosen).order_by(columns.id)
    return [_as_rule(row) for row in unit.rows(query.limit(limit))]


def switch_rule(unit: Unit, rule_id: str, *, enabled: bool) -> bool:
    """Switch a rule on or off; whether there is one."""
    statement = update(price_rules).where(price_rules.c.id == rule_id)
    return unit.run(statement.values(enabled=enabled)).rowcount > 0


def remove_rule(unit: Unit, rule_id: str) -> bool:
    """Forget a rule; whether there was one."""
    return unit.run(delete(price_rules).where(price_rules.c.id == rule_id)).rowcount > 0


def _check(rule: Rule) -> None:
    if (rule.target_id is None) == (rule.product_id is None):
        raise RuleRefused("a rule is about one target or one product")
    if rule.kind is RuleKind.BACK_IN_STOCK:
        if rule.threshold is not None or rule.currency is not None:
            raise RuleRefused("a rule that waits for stock has no threshold and no currency")
    elif rule.threshold is None or not rule.threshold.is_finite() or rule.threshold <= 0:
        raise RuleRefused("a rule on a price needs a threshold above zero")
    elif rule.threshold != round(rule.threshold, DECIMALS):
        raise RuleRefused(f"a threshold has at most {DECIMALS} decimals")
    elif rule.kind is RuleKind.DROP_PERCENT and rule.threshold > MOST_PERCENT:
        raise RuleRefused("a price drops by at most 100 per cent")
    elif rule.kind is RuleKind.BELOW_PRICE:
        _check_amount(rule.threshold, rule.currency)
    if rule.notify_url:
        try:
            parse(rule.notify_url)
        except UrlError as error:
            raise RuleRefused(f"the URL to notify cannot be used: {error}") from error


def _check_amount(threshold: Decimal, currency: str | None) -> None:
    if currency not in currencies():
        raise RuleRefused("a rule on an amount needs its currency, such as USD")
    if threshold >= MOST_PRICE:
        raise RuleRefused(f"an amount is below {MOST_PRICE:,}")


def _check_subject(unit: Unit, rule: Rule) -> None:
    if rule.target_id is not None:
        query = select(scrape_targets.c.id).where(scrape_targets.c.id == rule.target_id)
    else:
        query = select(products.c.id).where(products.c.id == rule.product_id)
    if unit.run(query).first() is None:
        raise RuleRefused("there is no such target or product")


def _as_rule(row: Mapping[str, Any]) -> Rule:
    return Rule(**{**row, "kind": RuleKind(row["kind"])})
