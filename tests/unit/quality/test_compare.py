"""Two readings side by side: what counts as a difference, and what it means."""

from typing import Any

import pytest

from penstock.quality.compare import Change, Difference, compare_readings

GOOD = {
    "adapter": "lamps@1.0.0",
    "ok": True,
    "reason": None,
    "verdict": "accept",
    "verdict_reason": None,
    "verdict_detail": None,
    "name": "Lamp",
    "price": "19.99",
}
FAILED = {"adapter": "lamps@1.0.0", "ok": False, "reason": "PRICE_NOT_FOUND", "verdict": None}
SOLD_OUT = {**GOOD, "verdict": "drop", "verdict_reason": "OOS_NO_PRICE", "price": None}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (GOOD, GOOD, Change.SAME),
        (GOOD, {**GOOD, "price": "9.99"}, Change.CHANGED),
        (GOOD, FAILED, Change.NEWLY_FAILING),
        (GOOD, {**GOOD, "verdict": "quarantine"}, Change.NEWLY_FAILING),
        (FAILED, GOOD, Change.NEWLY_GOOD),
        (FAILED, {**FAILED, "reason": "TITLE_NOT_FOUND"}, Change.CHANGED),
        (FAILED, FAILED, Change.SAME),
        (GOOD, SOLD_OUT, Change.CHANGED),
        (FAILED, SOLD_OUT, Change.NEWLY_GOOD),
        (SOLD_OUT, FAILED, Change.NEWLY_FAILING),
    ],
)
def test_change_is_named(before: dict[str, Any], after: dict[str, Any], change: Change) -> None:
    assert compare_readings(before, after).change is change


def test_version_of_the_adapter_is_no_difference() -> None:
    comparison = compare_readings(GOOD, {**GOOD, "adapter": "lamps@2.0.0"})

    assert comparison.differences == ()


def test_every_field_that_differs_is_told_with_both_values() -> None:
    comparison = compare_readings(GOOD, {**GOOD, "price": None, "brand": "Dunholm"})

    assert comparison.differences == (
        Difference("price", "19.99", None),
        Difference("brand", None, "Dunholm"),
    )


def test_objects_are_compared_field_by_field() -> None:
    before = {**GOOD, "invalid": {"sku": "too long", "mpn": "blank"}}
    after = {**GOOD, "invalid": {"sku": "too long"}}

    assert compare_readings(before, after).differences == (
        Difference("invalid.mpn", "blank", None),
    )


def test_verdict_that_came_from_history_is_not_held_against_the_page() -> None:
    jumped = {
        **GOOD,
        "verdict": "quarantine",
        "verdict_reason": "VALIDATION_FAILED",
        "verdict_detail": "19.99 USD after 1.99 USD",
    }

    assert compare_readings(jumped, GOOD).change is Change.SAME
    assert compare_readings(jumped, {**GOOD, "price": "1.99"}).change is Change.CHANGED
    assert compare_readings(jumped, FAILED).change is Change.CHANGED


def test_zero_price_is_held_against_the_page() -> None:
    zero = {**GOOD, "verdict": "quarantine", "verdict_reason": "ZERO_PRICE_EXTRACTED"}

    assert compare_readings(zero, GOOD).change is Change.NEWLY_GOOD
