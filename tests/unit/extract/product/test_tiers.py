"""Labels of quantity tiers say from how many pieces on a price holds."""

import pytest

from penstock.extract.product.tiers import least_quantity


@pytest.mark.parametrize(
    ("label", "least"),
    [
        ("1-4", 1),
        ("5 \u2013 9", 5),
        ("10+", 10),
        ("1", 1),
        ("100", 100),
        ("Qty: 1 to 9 pcs", 1),
        ("ab 10 Stück:", 10),
        ("Bis 4", 1),
        ("10 or more", 10),
        ("25 pcs +", 25),
        ("up to 9 units", 1),
    ],
)
def test_a_tier_begins_at_a_number_of_pieces(label: str, least: int) -> None:
    assert least_quantity(label) == least


@pytest.mark.parametrize(
    "label", ["", "Price", "Now only", "12 reviews", "4.5", "Model 7", "2 x 500 g"]
)
def test_other_words_are_no_tier(label: str) -> None:
    assert least_quantity(label) is None
